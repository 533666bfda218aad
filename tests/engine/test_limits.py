"""Limits: whichever bound comes first ends a search."""

from __future__ import annotations

import math

import pytest

from tengen.engine.clock import MARGIN, TimeControl
from tengen.engine.limits import Limits
from tengen.errors import RecipeError


def test_nothing_bounds_an_open_search() -> None:
    assert Limits().budget(19, 0).left(10**9, 10**9, 10**9, 1.0) == math.inf


def test_visits_count_the_kept_tree_and_playouts_do_not() -> None:
    assert Limits(visits=100).budget(19, 0).left(visits=90, playouts=5, elapsed=0, step=0) == 10
    assert Limits(playouts=100).budget(19, 0).left(visits=90, playouts=5, elapsed=0, step=0) == 95
    assert Limits(visits=1).budget(19, 0).left(visits=0, playouts=0, elapsed=0, step=0) == 1
    assert Limits(visits=100, playouts=3).budget(19, 0).left(90, 5, 0, 0) == 0


def test_a_batch_that_would_end_too_late_is_not_begun() -> None:
    budget = Limits(seconds=1.0).budget(19, 0)
    assert budget.left(1, 1, elapsed=0.8, step=0.1) == math.inf
    assert budget.left(1, 1, elapsed=0.95, step=0.1) == 0


def test_the_first_batch_always_runs() -> None:
    budget = Limits(seconds=0).budget(19, 0)
    assert budget.left(0, 0, elapsed=0.1, step=None) > 0
    assert budget.left(50, 0, elapsed=0.1, step=None) > 0
    assert budget.left(0, 0, elapsed=0.1, step=0.1) > 0, "a root without visits waits for further evaluations"


def test_time_ends_a_search_whose_root_gets_no_further_visits() -> None:
    """As one that has as many as a root can have."""
    assert Limits(seconds=1.0).budget(9, 0).left(2**31, 0, elapsed=1.0, step=0.1) == 0


def test_a_batch_has_the_positions_that_fit_the_time() -> None:
    budget = Limits(seconds=1.0).budget(9, 0)
    assert budget.fitting(elapsed=0.25, step=0.25, rows=1) == 3
    assert budget.fitting(elapsed=0.5, step=0.25, rows=4) == 8
    assert budget.fitting(elapsed=0.9, step=0.25, rows=1) == 1
    assert budget.fitting(elapsed=0.5, step=0.0, rows=4) == math.inf, "a clock may be too coarse"
    assert Limits(visits=9).budget(9, 0).fitting(elapsed=0.5, step=0.25, rows=1) == math.inf


def test_the_shorter_of_seconds_and_clock_counts() -> None:
    clock = TimeControl.byoyomi(0, 10, 1).start()
    assert Limits(seconds=3, clock=clock).budget(19, 0).seconds == 3
    assert Limits(seconds=30, clock=clock).budget(19, 0).seconds == clock.allot(19, 0)
    assert Limits(clock=clock, lag_buffer=1.5).budget(19, 0).seconds == 8.5
    # Late in a game on 9x9 an even share is one of 0.12 x 81 / 2 + 2 moves.
    late = Limits(clock=TimeControl.absolute(MARGIN + 3 * 6.86).start())
    assert late.budget(9, 100).seconds == pytest.approx(3)


def test_an_early_stop_needs_a_lead_that_cannot_be_made_up() -> None:
    budget = Limits(visits=100, early_stop=True).budget(9, 0)
    assert budget.decided(lead=31, left=30, playouts=70, elapsed=1)
    assert not budget.decided(lead=30, left=30, playouts=70, elapsed=1)
    assert not budget.decided(lead=31, left=30, playouts=0, elapsed=0), "the visits are those of a kept tree alone"
    assert not Limits(visits=100).budget(9, 0).decided(lead=31, left=30, playouts=70, elapsed=1)


def test_under_a_clock_the_speed_so_far_says_what_is_left() -> None:
    budget = Limits(seconds=10, clock=TimeControl.absolute(100_000).start()).budget(9, 0)
    assert budget.decided(lead=101, left=math.inf, playouts=100, elapsed=5)
    assert budget.decided(lead=31, left=30, playouts=100, elapsed=5), "visits may leave less than the time does"
    assert not Limits(seconds=10).budget(9, 0).decided(lead=101, left=math.inf, playouts=100, elapsed=5)
    assert not budget.decided(lead=99, left=math.inf, playouts=100, elapsed=5)


def test_time_that_the_clock_gives_back_is_used() -> None:
    """A move that ends early saves it for later moves, but not in byo-yomi and below a cap."""
    for clock, free in ((TimeControl.byoyomi(0, 30, 3), 29), (TimeControl.fischer(60, 5, main_cap=60), 4.9)):
        for limits in (Limits(clock=clock.start()), Limits(visits=900, clock=clock.start()).for_move()):
            assert not limits.budget(9, 0).decided(lead=1000, left=100, playouts=1000, elapsed=free)
    assert limits.budget(9, 0).decided(lead=1000, left=100, playouts=1000, elapsed=5.1)
    asked = Limits(clock=TimeControl.byoyomi(0, 30, 3).start(), early_stop=True)
    assert asked.budget(9, 0).decided(lead=1000, left=100, playouts=1000, elapsed=1)


@pytest.mark.parametrize(
    "bad",
    [
        {"visits": 0},
        {"playouts": -1},
        {"seconds": -0.1},
        {"seconds": math.nan},
        {"seconds": math.inf},
        {"lag_buffer": -1},
    ],
)
def test_impossible_limits_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(RecipeError, match=next(iter(bad))):
        Limits(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, math.inf, math.nan])
def test_visits_are_whole_numbers(wrong: float) -> None:
    with pytest.raises(RecipeError, match=f"visits must be a whole number, 1 or more, not {wrong}"):
        Limits(visits=wrong)  # type: ignore[arg-type]
