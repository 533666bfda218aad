"""The example of games to label: whole games, legal, of raw policies and of searches, the same for the same seed."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.data.importer import ImportOptions, import_games
from tengen.data.record import GameRecord
from tengen.data.rows import Filters, RowOptions
from tengen.data.store import Store
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator

EXAMPLE = Path(__file__).parents[2] / "examples" / "games_to_label.py"


def games_of(out: Path, monkeypatch: pytest.MonkeyPatch, **options: int) -> list[GameRecord]:
    """The games of a run of the example on 7x7, as they come from an import."""
    path = out.with_suffix(".sgf")
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    monkeypatch.setattr(sys, "argv", ["games_to_label.py", "zero-7x7", "--size=7", f"--out={path}", *words])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    # On some processors two passes end a game at once, which an import would leave out.
    report = import_games([path], out, ImportOptions(RowOptions(Filters(min_moves=1))))
    assert (report.games, report.kept) == (options["games"], options["games"])
    store = Store.open(out)
    return [store.row(row) for row in range(len(store))]


def test_a_file_that_was_there_stays_where_the_games_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Scoreless(UniformEvaluator):
        has_score = False

        def infer(self, batch: InputBatch) -> Evaluation:
            found = super().infer(batch)
            return Evaluation(found.policy, found.value)

    monkeypatch.setattr("tengen.evaluators.load.load_evaluator", lambda *_, **__: Scoreless())
    there = tmp_path / "games.sgf"
    there.write_bytes(b"(;SZ[9])")
    for out, told in (
        (there, "error: uniform gives no score"),
        (there / "games.sgf", "error: "),
        (tmp_path, "2"),  # the status of argparse
    ):
        monkeypatch.setattr(sys, "argv", ["games_to_label.py", "zero-7x7", "--size=7", f"--out={out}"])
        with pytest.raises(SystemExit, match=told):
            runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert list(tmp_path.iterdir()) == [there] and there.read_bytes() == b"(;SZ[9])"


@pytest.mark.slow
@pytest.mark.parametrize("visits", [1, 8])
def test_games_for_a_teacher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], visits: int
) -> None:
    options = {"games": 40 if visits == 1 else 12, "komi": 9, "at_once": 12, "visits": visits}
    records = games_of(tmp_path / "first", monkeypatch, seed=3, **options)
    assert f" {sum(len(record.moves) for record in records):,} moves" in capsys.readouterr().out
    if visits == 1:  # games end by two passes or at the limit of moves
        assert all(len(r.moves) == 98 or r.points[-2:].tolist() == [49, 49] for r in records)
        # Some are won from the start: by a handicap, or as one side passes one to four times of its first six.
        assert 0 < sum(len(record.black_stones) > 0 for record in records) < 10
        early = [sum(record.points[:12].tolist()[side::2].count(49) for side in (0, 1)) for record in records]
        assert 0 < sum(passes > 0 for passes in early) < 10 and max(early) <= 4
    # Some games have a komi near the given one, the others that of one of their positions.
    assert 0.2 < np.mean([abs(record.komi - 9) <= 2 for record in records if record.komi is not None]) < 0.95
    # The same for the same seed, other games for another one.
    for seed, games, same in ((3, options["games"], True), (4, 6, False)):
        again = games_of(tmp_path / f"seed-{seed}", monkeypatch, seed=seed, **{**options, "games": games})
        assert ({(r.hash, r.komi) for r in again} <= {(r.hash, r.komi) for r in records}) == same
