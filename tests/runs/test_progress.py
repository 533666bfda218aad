"""Durations, rates, times that are left, and a display that is silent where there is no terminal."""

import io

import pytest
from rich.console import Console, RenderableType

from tengen.runs.progress import Eta, LiveDisplay, Timings, duration, new_bar, rate_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min"), (3540, "59 min"), (3900, "1 h 05 min"), (180000, "2 days 2 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_rates() -> None:
    assert [rate_text(speed) for speed in (0.123, 4.56, 42.4, 12345.6)] == ["0.12", "4.6", "42", "12,346"]


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("step 1,234, loss 3.031, top-1 30.4%, 12,345 positions/s", 120),
        ("123,456 games, 123,000 kept, 12,345/s", 80),
    ],
)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_narrow_window_cuts_the_description(
    width: int, text: str, fits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    bar, file = new_bar(), io.StringIO()
    bar.add_task(text, total=1.0, completed=0.448)
    Console(width=width, file=file).print(bar.get_renderable())
    (line,) = file.getvalue().splitlines()
    assert line.rstrip().endswith(" 44.8% 0:00:00 left -:--:--")
    assert (text in line) == (width >= fits) and line.startswith(text[: {60: 15, 80: 36, 120: 0}[width]])


def test_a_bar_is_no_part_of_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    with new_bar() as bar:
        bar.add_task("work", total=1)
        print("result")
    captured = capsys.readouterr()
    assert captured.out == "result\n" and captured.err.startswith("work")


def test_the_time_left_follows_the_pace_of_this_process() -> None:
    time = [0.0]
    eta = Eta(100, done=40, now=lambda: time[0])
    assert eta.seconds(40) is None
    time[0] = 10.0
    assert eta.seconds(60) == pytest.approx(20.0)
    assert eta.seconds(120) == 0.0


def test_the_time_left_counts_what_runs_at_once_as_half_done() -> None:
    time = [0.0]
    eta = Eta(90, at_once=64, now=lambda: time[0])
    assert eta.seconds(0) is None
    time[0] = 100.0
    assert eta.seconds(1) == pytest.approx(100 / 32.5 * 57.5)  # 1 of 90 is done, 63 half
    assert eta.seconds(86) == pytest.approx(100 / 88 * 2)
    assert eta.seconds(90) == 0.0


def test_timings_add_up() -> None:
    time = [0.0]
    timings = Timings(now=lambda: time[0])
    for after, name in ((2.0, "play"), (5.0, "learn"), (6.5, "play")):
        time[0] = after
        timings.add(name)
    assert timings.seconds == {"play": 3.5, "learn": 3.0}
    assert timings.total == 6.5


class Shown(LiveDisplay):
    def panel(self) -> RenderableType:
        return "PANEL"


@pytest.mark.parametrize("terminal", [False, True])
def test_a_panel_needs_a_terminal(terminal: bool) -> None:
    text = io.StringIO()
    with Shown(Console(file=text, force_terminal=terminal, width=80)) as display:
        display.print("a line [that] stays")
    assert ("PANEL" in text.getvalue()) == terminal
    assert "a line [that] stays" in text.getvalue()
