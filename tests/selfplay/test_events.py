"""Figures read from events that may lack them."""

from __future__ import annotations

from tengen.selfplay.events import at, number, played_here, series, timed_games, window_ages


def event(cycle: int, games: int, window: int | None) -> dict[str, object]:
    return {"cycle": cycle, "statistics": {"games": games, "length": {"mean": None}}, "window_games": window}


def test_missing_figures_are_none_or_the_default() -> None:
    one = event(0, 5, None)
    assert at(one, "statistics", "games") == 5
    assert at(one, "statistics", "length", "mean") is at(one, "nothing", "here") is at(one, "cycle", "deep") is None
    assert number(one, 0.5, "window_games") == 0.5
    assert series([one, {"cycle": 1}, event(2, 7, 1)], "statistics", "games") == ([1, 3], [5.0, 7.0])


def test_the_age_of_the_window_in_cycles() -> None:
    events = [event(0, 10, 10), event(1, 10, 20), event(2, 20, 25), event(3, 20, 20), event(4, 20, 90), {"cycle": 5}]
    assert window_ages(events) == ([1, 2, 3, 4, 5], [1.0, 2.0, 1.5, 1.0, 5.0])


def test_logs_that_do_not_say_who_played_a_cycle_are_those_of_one_process() -> None:
    assert played_here({"evaluations": 7}, 20) == timed_games({"evaluations": 7}, 20) == 20
    assert played_here({"evaluations": 0}, 20) == timed_games({"evaluations": 0}, 20) == 0
    event = {"evaluations": 7, "played_here": 5, "played_before": 12}
    assert (played_here(event, 20), timed_games(event, 20)) == (5, 8)
