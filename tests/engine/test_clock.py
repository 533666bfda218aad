"""Clocks against whole games in simulated time: no move may overstep, and the time is there to be used."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.engine.clock import (
    MARGIN,
    Clock,
    Overtime,
    TimeControl,
    expected_moves_left,
    parse_seconds,
    show_seconds,
)
from tengen.errors import RecipeError

seconds = st.floats(0, 7200)
controls = st.one_of(
    st.builds(TimeControl.absolute, st.floats(1, 7200)),
    st.builds(TimeControl.byoyomi, seconds, st.floats(0.5, 120), st.integers(1, 10)),
    st.builds(TimeControl.canadian, seconds, st.floats(20, 600), st.integers(1, 30)),
    st.builds(TimeControl.fischer, st.floats(1, 7200), st.floats(0, 60)),
    st.builds(lambda main, gain: TimeControl.fischer(main, gain, main), st.floats(1, 7200), st.floats(0, 60)),
)


def play_out(
    control: TimeControl, size: int, moves: int, overhead: float, lag_buffer: float = MARGIN
) -> list[tuple[Clock, float]]:
    """The clock before each of one side's moves with the seconds it got, where each move costs its overhead besides."""
    clock, log = control.start(), []
    for number in range(moves):
        allotted = clock.allot(size, 2 * number, lag_buffer)
        log.append((clock, allotted))
        clock = clock.spend(allotted + overhead)
        assert not clock.flagged, f"flagged at move {number}: {log[-1]} -> {clock}"
    return log


@settings(max_examples=200)
@given(controls, st.sampled_from([5, 9, 13, 19]))
def test_no_move_oversteps(control: TimeControl, size: int) -> None:
    play_out(control, size, moves=3 * size * size // 2, overhead=0.0)


@pytest.mark.parametrize("size", [9, 19])
@pytest.mark.parametrize("lag_buffer", [0, MARGIN, 0.5])
@pytest.mark.parametrize(
    "control",
    [
        TimeControl.byoyomi(60, 5, 3),
        TimeControl.byoyomi(0, 1, 1),
        TimeControl.canadian(30, 60, 25),
        TimeControl.fischer(20, 2),
    ],
    ids=lambda control: control.overtime.value,
)
def test_the_overhead_of_a_move_fits_in_the_margin(control: TimeControl, lag_buffer: float, size: int) -> None:
    play_out(control, size, moves=200, overhead=0.9 * max(lag_buffer, MARGIN), lag_buffer=lag_buffer)


@pytest.mark.parametrize(
    ("control", "lag_buffer", "expected"),
    [
        (TimeControl.byoyomi(0, 30, 3), 1, 29),
        (TimeControl.byoyomi(0, 1.5, 3), 1, 0.75),
        (TimeControl.byoyomi(0, 0.4, 3), 1, 0.4 - MARGIN),
        (TimeControl.byoyomi(0, 0.2, 3), 1, 0),
        (TimeControl.byoyomi(0, 30, 3), 0, 30 - MARGIN),
        (TimeControl.canadian(0, 100, 10), 1, 9),
        (TimeControl.fischer(5, 10), 1, 4),
        (TimeControl.fischer(50, 10, move_cap=1.5), 1, 0.75),
    ],
)
def test_a_lag_takes_half_of_a_short_time_at_most(control: TimeControl, lag_buffer: float, expected: float) -> None:
    """As in KataGo; and the engine needs its margin with a smaller lag too."""
    assert control.start().allot(19, 0, lag_buffer) == pytest.approx(expected)


@pytest.mark.parametrize("size", [9, 13, 19])
def test_absolute_time_is_spread_over_the_game(size: int) -> None:
    usual = round(0.72 * size * size / 2)
    log = play_out(TimeControl.absolute(600), size, usual, overhead=0.05)
    spent = sum(allotted for _, allotted in log)
    assert 0.6 * 600 < spent < 600
    assert log[-1][1] > 0.5, "the last moves of an ordinary game still get time"
    assert max(allotted for _, allotted in log) < 0.2 * 600


def test_byoyomi_uses_each_period_and_keeps_them_all() -> None:
    log = play_out(TimeControl.byoyomi(10, 30, 5), 19, 100, overhead=0.1)
    clock, allotted = log[-1]
    assert clock.in_overtime and clock.count == 5
    assert allotted == pytest.approx(30 - MARGIN)


def test_byoyomi_loses_a_period_for_each_one_that_runs_out() -> None:
    clock = TimeControl.byoyomi(0, 30, 3).start()
    assert clock.spend(30).count == 3
    assert clock.spend(30.1).count == 2
    assert clock.spend(60.1).count == 1
    assert clock.spend(90.1).flagged
    assert clock.spend(0).count == 3
    # As GTP's time_left tells it: 4 s of the last but one period.
    clock = Clock(TimeControl.byoyomi(0, 30, 3), 0, 4, 2)
    assert (clock.spend(3).period, clock.spend(3).count, clock.spend(5).count) == (30, 2, 1)


def test_the_move_that_ends_main_time_goes_on_in_overtime() -> None:
    clock = TimeControl.byoyomi(10, 30, 3).start().spend(35)
    assert (clock.main, clock.count, clock.flagged) == (0, 3, False)
    clock = TimeControl.canadian(10, 100, 10).start().spend(35)
    assert (clock.main, clock.period, clock.count) == (0, 75, 9)


def test_overtime_is_untouched_while_main_time_is_left() -> None:
    for control in (TimeControl.byoyomi(10, 30, 3), TimeControl.canadian(10, 100, 10)):
        clock = control.start().spend(4)
        assert (clock.main, clock.period, clock.count, clock.in_overtime) == (6, control.period, control.count, False)
    assert not Clock(TimeControl.absolute(10), 0.0).in_overtime


def test_canadian_blocks_start_again_after_their_last_stone() -> None:
    clock = TimeControl.canadian(0, 100, 3).start()
    for _ in range(3):
        clock = clock.spend(30)
    assert (clock.period, clock.count) == (100, 3)
    assert clock.spend(100.5).flagged


def test_fischer_caps() -> None:
    """The main time never grows beyond its cap, and no move takes longer than its own."""
    clock = TimeControl.fischer(10, 8, main_cap=12, move_cap=3).start()
    assert clock.spend(1).main == 12 and clock.spend(7).main == 11
    assert clock.max_seconds == 3 and clock.allot(19, 0) <= 3
    assert TimeControl.fischer(10, 8, main_cap=10, move_cap=0).start().max_seconds == 0
    with pytest.raises(RecipeError, match="cap of 9 s"):
        TimeControl.fischer(10, 8, main_cap=9)
    with pytest.raises(RecipeError, match="of -1 s a move"):
        TimeControl.fischer(10, 8, move_cap=-1)


@pytest.mark.parametrize(
    ("clock", "elapsed", "saves"),
    [
        (TimeControl.absolute(60).start(), 5, True),
        (TimeControl.fischer(60, 5).start(), 5, True),
        (TimeControl.fischer(60, 5, main_cap=60).start(), 4, False),
        (TimeControl.fischer(60, 5, main_cap=60).start(), 6, True),
        (TimeControl.fischer(60, 5, main_cap=62).start(), 2, False),
        (TimeControl.fischer(60, 5, main_cap=62).start(), 4, True),
        (TimeControl.byoyomi(60, 30, 3).start(), 5, True),
        (TimeControl.byoyomi(4, 30, 3).start(), 5, False),
        (Clock(TimeControl.byoyomi(60, 30, 3), 0, 12, 3), 5, False),
        (TimeControl.canadian(60, 30, 1).start(), 5, True),
        (TimeControl.canadian(4, 30, 1).start(), 5, False),
        (Clock(TimeControl.canadian(60, 30, 5), 0, 12, 2), 5, True),
        (Clock(TimeControl.canadian(60, 30, 5), 0, 12, 1), 5, False),
    ],
)
def test_a_shorter_move_saves_time_unless_the_clock_gives_it_back(clock: Clock, elapsed: float, saves: bool) -> None:
    assert clock.saves(elapsed) == saves == (clock.spend(elapsed) != clock.spend(elapsed + 0.5))


def test_the_time_that_a_cap_would_cut_off_is_used() -> None:
    assert TimeControl.fischer(12, 6, main_cap=12).start().allot(19, 0) == pytest.approx(6 - MARGIN)
    assert Clock(TimeControl.fischer(12, 6, main_cap=12), 8).allot(19, 0) < 5.5


def test_fischer_adds_after_the_move_and_not_to_a_lost_game() -> None:
    clock = TimeControl.fischer(10, 5).start()
    assert clock.spend(8).main == 7
    assert clock.spend(10.5).flagged


# The moves that `expected_moves_left` plans for on 19x19: 0.72 x 361 / 2 + 2.
PLANNED = 131.96


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (TimeControl.absolute(MARGIN + 4 * PLANNED), 4),
        (TimeControl.fischer(MARGIN + 4 * PLANNED, 10), 4 + 9),
        (TimeControl.fischer(5, 10), 5 - MARGIN),
        (TimeControl.byoyomi(MARGIN + 4 * PLANNED, 30, 3), 30 - MARGIN),
        (TimeControl.byoyomi(MARGIN + 40 * PLANNED, 30, 3), 40),
        (TimeControl.byoyomi(0, 30, 3), 30 - MARGIN),
        (TimeControl.byoyomi(0, MARGIN / 2, 3), 0),
        (TimeControl.canadian(MARGIN + 4 * PLANNED, 100, 10), 10 - MARGIN),
        (TimeControl.canadian(MARGIN + 40 * PLANNED, 100, 10), 40),
    ],
)
def test_the_first_move_gets_its_share(control: TimeControl, expected: float) -> None:
    """An even share of the main time, a period or an even part of a block if that is longer, 90% of an increment."""
    assert control.start().allot(19, 0) == pytest.approx(expected)


def test_an_empty_clock_answers_at_once() -> None:
    assert Clock(TimeControl.absolute(10), 0.0).allot(19, 0) == 0
    assert TimeControl.absolute(0.1).start().allot(19, 0) == 0
    assert TimeControl.byoyomi(0, 30, 3).start().running(100).allot(19, 0) == 0, "the time is up"


def test_the_plan_shrinks_and_stays_above_zero() -> None:
    plan = [expected_moves_left(19, n) for n in range(0, 1000, 10)]
    assert plan == sorted(plan, reverse=True)
    assert plan[0] > 100 and plan[-1] > 20


@pytest.mark.parametrize(
    ("overtime", "period", "count"), [(Overtime.BYOYOMI, 0, 3), (Overtime.BYOYOMI, 30, 0), (Overtime.CANADIAN, -1, 3)]
)
def test_impossible_overtime_is_refused(overtime: Overtime, period: float, count: int) -> None:
    with pytest.raises(RecipeError):
        TimeControl(10, overtime, period, count)


@pytest.mark.parametrize("main", [-1, float("nan"), float("inf")])
def test_impossible_main_time_is_refused(main: float) -> None:
    with pytest.raises(RecipeError, match="main"):
        TimeControl.absolute(main)


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("10m+5x30s", TimeControl.byoyomi(600, 30, 5)),
        ("10m+25/5m", TimeControl.canadian(600, 300, 25)),
        ("5m+3s", TimeControl.fischer(300, 3)),
        ("5m+0", TimeControl.absolute(300)),
        ("0+1x2.5s", TimeControl.byoyomi(0, 2.5, 1)),
        ("1h30m+0", TimeControl.absolute(5400)),
        ("90s+1m", TimeControl.fischer(90, 60)),
    ],
)
def test_times_in_words(text: str, control: TimeControl) -> None:
    assert TimeControl.parse(text) == control
    assert TimeControl.parse(str(control)) == control


@given(st.integers(0, 10**7))
def test_what_is_shown_is_read_back(milliseconds: int) -> None:
    assert parse_seconds(show_seconds(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "5m",
        "10m+",
        "+3s",
        "10m+5x",
        "10m+0x30s",
        "10m+5x0",
        "10+3",
        "m+0",
        "0+0",
        "5m+3s+3s",
        "-1s+0",
        f"0+{'9' * 5000}x9s",
    ],
)
def test_words_that_are_no_time_control(text: str) -> None:
    with pytest.raises(RecipeError):
        TimeControl.parse(text)


@settings(max_examples=200)
@given(controls, st.lists(st.floats(0, 100), max_size=20))
def test_a_move_may_take_all_that_is_left_and_no_more(control: TimeControl, spent: list[float]) -> None:
    clock = control.start()
    for seconds_ in spent:
        later = clock.spend(seconds_)
        if later.flagged:
            break
        clock = later
    most = clock.max_seconds
    assert not clock.spend(max(most - 1e-6, 0)).flagged
    assert clock.spend(most + 1e-3).flagged


@given(controls, st.floats(0, 10_000), st.floats(0, 10_000))
def test_a_running_clock_has_what_the_move_has_left(control: TimeControl, before: float, so_far: float) -> None:
    clock = control.start().spend(min(before, control.start().max_seconds * 0.9))
    running = clock.running(so_far)
    left = clock.max_seconds - so_far
    assert max(running.max_seconds, 0.0) == pytest.approx(max(left, 0.0), abs=1e-6 * max(1.0, so_far))
    if left > 1:
        assert not running.flagged and not clock.spend(so_far).flagged


@pytest.mark.parametrize(
    ("control", "so_far", "left"),
    [
        (TimeControl.byoyomi(10, 30, 3), 4, (6, 30, 3)),
        (TimeControl.byoyomi(10, 30, 3), 25, (0, 15, 3)),
        (TimeControl.byoyomi(10, 30, 3), 55, (0, 15, 2)),
        (TimeControl.byoyomi(10, 30, 3), 75, (0, 25, 1)),
        (TimeControl.byoyomi(10, 30, 3), 145, (0, 15, 0)),
        (TimeControl.canadian(10, 100, 10), 4, (6, 100, 10)),
        (TimeControl.canadian(10, 100, 10), 30, (0, 80, 10)),
        (TimeControl.canadian(10, 100, 10), 111, (0, 0, 0)),
        (TimeControl.fischer(10, 5), 12, (-2, 0, 0)),
    ],
)
def test_what_a_running_clock_shows(control: TimeControl, so_far: float, left: tuple[float, float, int]) -> None:
    clock = control.start().running(so_far)
    assert (clock.main, clock.period, clock.count) == left
    assert clock.flagged == (so_far > control.start().max_seconds)
