"""What a person sees on a terminal, and in a file where there is none."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from tengen.selfplay.diagnose import RunWarning
from tengen.selfplay.progress import Display, RunClock, cycle_line

EVENT: dict[str, Any] = {
    "cycle": 11,
    "seconds": {"generate": 20.0, "learn": 10.0},
    "evaluations": 262_000,
    "losses": {"policy": 2.313},
    "agreement": 0.612,
    "statistics": {"games": 200, "length": {"mean": 38.2}, "black_share": 0.52},
}
WARNING = RunWarning("overfit", "It knows its games by heart.", "Play more.")


def display(terminal: bool) -> tuple[Display, RunClock, io.StringIO]:
    out = io.StringIO()
    clock = RunClock(80, 200, (), [EVENT] * 11, now=lambda: 0.0)
    clock.begin(11, "generate")
    return Display("zero-7x7", clock, Console(file=out, force_terminal=terminal, width=100)), clock, out


def test_a_cycle_in_one_line() -> None:
    assert cycle_line(EVENT, 80) == (
        "cycle 12 of 80: 200 games, 20 s of playing, 38 moves, Black 52%, policy loss 2.31, agreement 61%"
    )
    assert cycle_line({"cycle": 0}, 3) == "cycle 1 of 3: "


def test_without_a_terminal_there_is_a_line_a_cycle_and_each_warning_once() -> None:
    shown, clock, out = display(False)
    with shown:
        clock.end(EVENT)
        shown.cycle(EVENT)
        shown.rated("+120 Elo")
        shown.warn([WARNING])
        shown.warn([WARNING])
    lines = out.getvalue()
    assert lines.count("cycle 12 of 80: 200 games") == 1
    assert lines.count("It knows its games by heart. Play more.") == 1
    assert "rating: +120 Elo" in lines
    assert "\x1b" not in lines


def test_a_warning_that_comes_back_is_told_again() -> None:
    shown, _, out = display(False)
    for held in ([WARNING], [], [WARNING]):
        shown.warn(held)
    assert out.getvalue().count("by heart") == 2


def test_the_panel_says_how_far_it_is_when_it_ends_and_what_ails_it() -> None:
    shown, clock, out = display(True)
    shown.rated("+120 Elo")
    shown.warn([WARNING])
    clock.playing(50, 60_000, 40)
    with shown:
        pass
    console = Console(file=io.StringIO(), width=110)
    console.print(shown.panel())
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    for part in ("zero-7x7", "playing: 50 of 200 games", "cycle 12 of 80", clock.words(), "+120 Elo", "by heart"):
        assert part in text
    assert "zero-7x7" in out.getvalue()  # a terminal saw it live
