"""The engine's results, and the limits that end its searches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scripted import ScriptedEvaluator, engine_on, result_of

from tengen.engine import Limits, SearchParams, SearchResult, TimeControl, task
from tengen.engine.search import MoveRestriction
from tengen.evaluators import UniformEvaluator
from tengen.evaluators.evaluation import Floats
from tengen.game import BLACK, WHITE, Game


@pytest.mark.parametrize("visits", [1, 2, 7, 64])
def test_visits_are_neither_more_nor_fewer_than_asked_for(visits: int) -> None:
    result = result_of(Game(9), visits=visits)
    assert result.visits == visits and 1 <= result.evaluations <= visits
    assert sum(c.visits for c in result.candidates) == visits - 1


def test_visits_are_exact_where_a_batch_takes_less_than_a_tick_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The monotonic clock of Windows ticks every 15.6 ms: a batch took no time, as if none had been searched."""
    monkeypatch.setattr(task, "time", SimpleNamespace(monotonic=lambda: 5.0))
    assert result_of(Game(9), visits=50).visits == 50


def test_the_result_is_for_the_side_to_move() -> None:
    ownership = np.full((9, 9), 0.25, np.float32)
    game = Game(9).play("E5")
    result = result_of(game, ScriptedEvaluator({0: 50}, 0.5, 3.0, ownership), visits=1)
    assert (result.to_play, result.winrate, result.score) == (WHITE, pytest.approx(0.75), pytest.approx(3.0))
    assert result.ownership.shape == (9, 9) and result.ownership[0, 0] == pytest.approx(0.25)
    assert result.move == result.candidates[0].point == 0
    assert len(result.candidates) == 81, "every legal move and pass"


def test_candidates_come_best_first_with_their_lines() -> None:
    result = result_of(Game(9), ScriptedEvaluator({40: 30, 41: 10}), visits=200)
    first, second, *rest = result.candidates
    assert (first.point, second.point) == (40, 41)
    assert [c.visits for c in rest] == sorted((c.visits for c in rest), reverse=True)
    assert first.pv[0] == 40 and len(first.pv) > 1 and all(c.pv == () for c in rest if not c.visits)


def test_an_interactive_session_shows_a_line_for_each_object() -> None:
    """A result was shown with all of its candidates, 36 kB on 19x19, and an engine as an address."""
    game = Game(9).play("E5")
    engine = engine_on(game)
    result = engine.think(Limits(visits=20))
    assert repr(game) == "<Game 9x9, chinese, komi 7.5, 1 move, White to play>"
    assert repr(UniformEvaluator()) == "<UniformEvaluator uniform>"
    assert repr(engine).startswith("<Engine <UniformEvaluator uniform>, puct, Limits(visits=400, ")
    assert f"move={result.move}, " in repr(result) and "visits=20, " in repr(result)
    assert all(len(repr(shown)) < 300 for shown in (engine, result, engine.count(game)))


def test_limits_in_visits_are_the_plan_of_the_search() -> None:
    """Sequential halving of 16 visits among 4 moves: 2 for each, then 4 more for the better two."""
    params = SearchParams(selection="gumbel", gumbel_moves=4)
    engine = engine_on(Game(9), params=params, batch=1)
    for limits in (Limits(visits=17), Limits(visits=17, seconds=60)):
        engine.set_position(Game(9, komi=limits.seconds or 7.5))
        result = engine.think(limits)
        visits = sorted((c.visits for c in result.candidates), reverse=True)
        assert visits[:5] == [6, 6, 2, 2, 0] and result.candidates[0].visits == 6
    before = {c.point: c.visits for c in result.candidates}
    after = {c.point: c.visits for c in engine.think(Limits(playouts=8)).candidates}
    assert sorted((after[p] - before[p] for p in after), reverse=True)[:5] == [3, 3, 1, 1, 0]


def test_one_visit_plays_the_networks_first_choice() -> None:
    assert result_of(Game(9), ScriptedEvaluator({33: 5}), visits=1).move == 33


def test_playouts_count_anew_where_visits_count_the_kept_tree() -> None:
    engine = engine_on(Game(9))
    engine.think(Limits(visits=100))
    assert engine.think(Limits(playouts=20)).visits == 120
    again = engine.think(Limits(visits=60))
    assert again.visits <= 121 and again.evaluations <= 1


def slow(now: list[float], position: float = 0.0) -> ScriptedEvaluator:
    """Every batch takes 0.02 seconds, or `position` seconds for each position."""

    def evaluate(planes: Floats) -> Floats:
        now[0] += position * len(planes) or 0.02
        return np.zeros(len(planes), np.float32)

    return ScriptedEvaluator(value=evaluate)


def test_seconds_end_a_search_in_time(now: list[float]) -> None:
    result = engine_on(Game(19), slow(now)).think(Limits(seconds=0.3))
    assert 0.25 < result.seconds == pytest.approx(now[0] - 1000) and result.seconds < 0.325


def test_an_empty_clock_still_gives_a_move() -> None:
    engine = engine_on(Game(9), ScriptedEvaluator({40: 9}))
    result = engine.think(Limits(clock=TimeControl.absolute(0.01).start()))
    assert result.move == 40 and result.visits <= 8


def test_a_byoyomi_period_is_used_and_not_overstepped(now: list[float]) -> None:
    engine = engine_on(Game(9), slow(now))
    clock = TimeControl.byoyomi(0, 0.75, 1).start()
    engine.think(Limits(clock=clock, early_stop=False))
    spent = now[0] - 1000
    assert spent > 0.3 and not clock.spend(spent).flagged


@pytest.mark.parametrize("position", [0.13, 0.3, 0.47, 0.85])
@pytest.mark.parametrize("kept", [0, 40])
def test_a_batch_is_no_larger_than_a_byoyomi_period_allows(now: list[float], position: float, kept: int) -> None:
    """After the root alone, or in a tree that was kept, 8 positions went out whatever they cost."""
    engine = engine_on(Game(9), slow(now, position))
    if kept:
        engine.think(Limits(visits=kept))
    before = now[0]
    result = engine.think(Limits(clock=TimeControl.byoyomi(0, 2.0, 5).start(), early_stop=False))
    assert 0.8 < now[0] - before <= 1.75 and result.evaluations > 1


def test_a_search_ends_early_once_the_best_move_cannot_be_overtaken() -> None:
    evaluator = ScriptedEvaluator({40: 100_000})
    params = SearchParams(lcb=False)
    full = result_of(Game(9), evaluator, visits=400, params=params)
    early = engine_on(Game(9), evaluator, params=params).think(Limits(visits=400, early_stop=True))
    assert early.move == full.move == 40
    assert 190 < early.visits < 260 and full.visits == 400


def test_a_single_move_ends_the_search_at_once() -> None:
    engine = engine_on(Game(9), ScriptedEvaluator({40: 100_000}), params=SearchParams(lcb=False))
    engine.set_position(Game(9), restrictions=[MoveRestriction(BLACK, [40], allow=True)])
    assert engine.think(Limits(visits=400, early_stop=True)).visits <= 16


@pytest.mark.parametrize("settings", [{}, {"selection": "gumbel"}, {"selection": "puct-katago"}, {"diversity": 0.5}])
def test_visits_alone_are_all_made_where_they_do_not_choose_the_move(settings: dict[str, Any]) -> None:
    """A bound chooses it, or the visits of a plan that a kept tree had before do not count."""
    engine = engine_on(Game(9), ScriptedEvaluator({40: 100_000}), params=SearchParams(**settings))
    assert engine.think(Limits(visits=400, early_stop=True)).visits == 400


@pytest.mark.parametrize(
    ("settings", "control", "early"),
    [
        ({}, TimeControl.absolute(100_000), True),
        ({}, TimeControl.byoyomi(0, 1000, 1), False),
        ({"selection": "gumbel"}, TimeControl.absolute(100_000), False),
    ],
)
def test_under_a_clock_the_lead_in_visits_is_enough(
    settings: dict[str, Any], control: TimeControl, early: bool
) -> None:
    """Time that is saved is used later; of seconds for one move and in byo-yomi it would be lost."""
    engine = engine_on(Game(9), ScriptedEvaluator({40: 100_000}), params=SearchParams(**settings))
    found = engine.think(Limits(visits=400, clock=control.start()))
    assert (found.visits < 260) == early and found.visits <= 400
    engine.forget()
    assert engine.think(Limits(visits=400, seconds=1000)).visits == 400


def test_progress_is_told_in_the_rhythm_that_was_asked_for(now: list[float]) -> None:
    engine, seen = engine_on(Game(9), slow(now)), []
    engine.think(Limits(seconds=0.5), seen.append, every=0.11)
    assert [round(r.seconds, 2) for r in seen] == [0.12, 0.24, 0.36, 0.48]
    assert [r.visits for r in seen] == sorted(r.visits for r in seen)
    assert all(isinstance(r, SearchResult) and not r.resign for r in seen)
