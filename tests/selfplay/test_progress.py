"""The display of a run, on a terminal and elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from tengen.selfplay.progress import TerminalObserver, cycle_line
from tengen.selfplay.run_clock import RunClock

EVENT: dict[str, Any] = {
    "cycle": 11,
    "seconds": {"generate": 20.0, "learn": 10.0},
    "evaluations": 262_000,
    "losses": {"policy": 2.313},
    "agreement": 0.612,
    "statistics": {"games": 200, "length": {"mean": 38.2}, "black_share": 0.52},
}
WARNING = {"kind": "overfit", "text": "New games are predicted worse.", "remedy": "Play more."}


def observer(terminal: bool, now: Callable[[], float] = lambda: 0.0) -> tuple[TerminalObserver, io.StringIO]:
    out = io.StringIO()
    clock = RunClock(80, 200, (), [EVENT] * 11, now=now)
    clock.begin(11, "generate")
    return TerminalObserver("zero-7x7", clock, 40, Console(file=out, force_terminal=terminal, width=150)), out


def test_a_cycle_in_one_line() -> None:
    assert cycle_line(EVENT, 80) == (
        "cycle 12 of 80: 200 games, 20 s of playing, 38 moves, Black 52%, policy loss 2.31, agreement 61%"
    )
    assert cycle_line({"cycle": 0}, 3) == "cycle 1 of 3: "


@pytest.mark.parametrize(
    ("done", "words"), [(11, "of 80"), (80, "nothing is left to play")], ids=["in the middle", "at the end"]
)
def test_a_resumed_run_says_where_it_goes_on(done: int, words: str) -> None:
    shown, out = observer(False)
    with shown:
        shown.resumed(done, 80)
    assert out.getvalue().startswith(f"resumed after cycle {done}") and words in out.getvalue()


def test_without_a_terminal_each_cycle_and_each_new_warning_is_one_line() -> None:
    shown, out = observer(False)
    with shown:
        for cycle, warnings in enumerate(([WARNING], [WARNING], [], [WARNING]), 11):
            shown.cycle_done({**EVENT, "cycle": cycle, "warnings": warnings})
        shown.rated("+120 Elo")
    lines = out.getvalue().splitlines()
    assert sum(line.startswith("cycle 12 of 80: 200 games") for line in lines) == 1
    assert [i for i, line in enumerate(lines) if line == "warning: New games are predicted worse. Play more."] == [1, 5]
    assert lines[-1] == "rating: +120 Elo"
    assert "\x1b" not in out.getvalue()


def test_the_panel_shows_progress_estimates_and_warnings() -> None:
    shown, out = observer(True)
    shown.rated("+120 Elo")
    shown.cycle_done({**EVENT, "warnings": [WARNING]})
    shown.playing(12, 0, 200, 0)
    shown.playing(12, 50, 200, 60_000)
    with shown:
        pass
    console = Console(file=io.StringIO(), width=150)
    console.print(shown.panel())
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    for part in ("zero-7x7", "playing: 50 of 200 games", "cycle 13 of 80", shown.clock.words(), "+120 Elo", "worse"):
        assert part in text
    assert "zero-7x7" in out.getvalue()  # a terminal saw it live


def test_training_gets_on_by_the_time_that_it_took_before() -> None:
    now = [0.0]
    shown, _ = observer(False, lambda: now[0])
    shown.learning(11)
    said = []
    for now[0] in (0.0, 5.0, 10.0, 12.0):
        said.append((shown.clock.cycle_ends().seconds, shown.clock.share))
    assert said == [(10.0, 0.0), (5.0, 0.5), (0.0, 1.0), (0.0, 1.0)]
    shown.rating(11)  # nothing tells how long it takes
    now[0] = 14.0
    assert (shown.clock.cycle_ends().seconds, shown.clock.share) == (0.0, 0.0)
