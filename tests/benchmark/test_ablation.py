"""The ablations: a run stops once its network has the score of the gate, and every variant is a valid recipe."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.check import check
from tengen.selfplay.rating_book import AnchorResult, RatingBook, RatingEvent

PROGRAM = "long/ablation.py"


def event(number: int, wins: int) -> RatingEvent:
    sides = {"black": (wins, 0, 50 - wins), "white": (wins, 0, 50 - wins)}
    pairing = AnchorResult(player="n", anchor="a", word="a", own=False, distinct=100, **sides)
    return RatingEvent(number=number, games=number, hours=0, player="n", size=7, komi=9, pairings=(pairing,))


def test_a_run_stops_at_the_gate(program: ModuleType, tmp_path: Path) -> None:
    stop = ShutdownFlag()
    observer = program.UntilTheGate(tmp_path, stop)
    book = RatingBook()
    for number, wins in ((1000, 5), (2000, 15)):  # scores of 10% and 30%
        book = book.with_event(event(number, wins))
        book.write(tmp_path)
        observer.playing(0, 1, 2, 3)
        observer.cycle_done({})
        assert bool(stop) == (number == 2000)
    assert program.games_to_gate(program.ratings(tmp_path)) == 1500


def test_every_variant_is_a_valid_recipe(program: ModuleType) -> None:
    for variant in program.VARIANTS:
        check(program.config_of(variant, 1))
