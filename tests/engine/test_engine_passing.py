"""When the engine passes, and what it answers after the end of a game."""

from __future__ import annotations

import numpy as np
import pytest
from known_positions import SETTLED
from scripted import ScriptedEvaluator, engine_on, result_of

from tengen.data.planes import plane_set
from tengen.engine import Engine, Limits, SearchParams, TimeControl
from tengen.engine.search import TreeSearch
from tengen.evaluators.evaluation import Floats
from tengen.game import BLACK, WHITE, Game

PASS = 81


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_a_finished_game_is_passed(color: int) -> None:
    game = Game.from_diagram(SETTLED, to_play=color)
    assert result_of(game, visits=100).move == PASS
    game = Game.from_diagram(SETTLED, to_play=1 - color).play("pass")
    assert result_of(game, visits=100).move == PASS


@pytest.mark.parametrize(("glad", "passes"), [(0.0, True), (0.9, False)])
def test_a_pass_that_the_search_finds_costly_is_not_played(glad: float, passes: bool) -> None:
    def value(planes: np.ndarray) -> np.ndarray:
        """White stands well once G7 is defended, and badly before; D9 is White's all the time."""
        names = plane_set("tengen").planes
        own, theirs = (planes[:, names.index(f"{who}_stones")].reshape(-1, 81) for who in ("own", "opponent"))
        defended = own[:, 24] + theirs[:, 24] > 0
        return np.float32(glad) * np.where(own[:, 3] > 0, 1, -1) * np.where(defended, 1, -1)

    evaluator = ScriptedEvaluator({24: 100}, value)
    game = Game.from_diagram(SETTLED, to_play=WHITE)
    engine = engine_on(game, evaluator)
    result = engine.think(Limits(visits=100))
    assert result.candidates[0].point != PASS and (result.move == PASS) is passes
    assert engine.think(Limits(playouts=10)).visits >= 110, "the tree outlives the question"


@pytest.mark.parametrize(("position", "passes"), [(0.05, False), (0.85, True)])
def test_the_search_of_a_pass_costs_no_byoyomi_period(now: list[float], position: float, passes: bool) -> None:
    """One evaluation more would end after the period: the pass that the count advises is played without it."""

    def value(planes: Floats) -> Floats:
        now[0] += position * len(planes)
        names = plane_set("tengen").planes
        own, theirs = (planes[:, names.index(f"{who}_stones")].reshape(-1, 81) for who in ("own", "opponent"))
        return np.float32(0.9) * np.where(own[:, 3] > 0, 1, -1) * np.where(own[:, 24] + theirs[:, 24] > 0, 1, -1)

    engine = engine_on(Game.from_diagram(SETTLED, to_play=WHITE), ScriptedEvaluator({24: 100}, value))
    before = now[0]
    result = engine.think(Limits(clock=TimeControl.byoyomi(0, 2.0, 5).start()))
    assert result.candidates[0].point == 24 and (result.move == PASS) is passes
    assert now[0] - before <= 2.0


def test_a_pass_outside_a_short_list_of_candidates_can_be_asked_about() -> None:
    game = Game.from_diagram(SETTLED, to_play=WHITE)
    engine = engine_on(game, ScriptedEvaluator({24: 100}), params=SearchParams(candidate_max=1))
    assert [c.point for c in engine.think(Limits(visits=50)).candidates] == [24]
    assert engine.think(Limits(visits=50)).move == PASS
    assert [c.point for c in engine.think(Limits(playouts=10)).candidates] == [24], "the list is as it was"


@pytest.mark.parametrize("most", [0, 1])
def test_a_pass_is_searched_before_it_is_judged_even_where_there_is_no_time(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("tengen.engine.engine._PASS_SECONDS", 0.0)
    game = Game.from_diagram(SETTLED, to_play=WHITE)
    engine = Engine(ScriptedEvaluator({4: 99.0}), SearchParams(candidate_max=most))
    engine.set_position(game)
    assert engine.think(Limits(visits=20, seconds=600.0)).move == PASS


@pytest.mark.parametrize(
    ("limits", "visits"),
    [
        (Limits(visits=20), [64]),
        (Limits(playouts=20), [64]),
        (Limits(visits=20, seconds=600.0), [1]),
        (Limits(visits=20, clock=TimeControl.absolute(900.0).start()), [1]),
    ],
    ids=["visits", "playouts", "seconds", "clock"],
)
def test_only_a_search_by_time_ends_the_search_of_a_pass_by_time(
    monkeypatch: pytest.MonkeyPatch, limits: Limits, visits: list[int]
) -> None:
    """At given visits a move depends on the seed alone, also on a machine that is slow or busy."""
    monkeypatch.setattr("tengen.engine.engine._PASS_SECONDS", 0.0)
    made: list[TreeSearch] = []
    engine = Engine(ScriptedEvaluator({4: 99.0}), batch=1)
    engine.set_position(Game.from_diagram(SETTLED, to_play=WHITE))

    def new_search(*given: object) -> TreeSearch:
        made.append(TreeSearch(*given))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr("tengen.engine.engine._new_search", new_search)
    assert engine.think(limits).move == PASS
    assert [search.visits for search in made] == visits


def test_the_search_of_a_pass_ends_when_the_engine_is_stopped() -> None:
    engine = engine_on(Game.from_diagram(SETTLED, to_play=WHITE))
    assert 0 <= engine._pass_winrate(None, lambda: True) <= 1
    asked: list[int] = []
    engine._pass_winrate(None, lambda: len(asked) == 2 or bool(asked.append(0)))
    assert len(asked) == 2, "asked before each batch"


def test_the_search_of_a_pass_leaves_the_next_answer_alone() -> None:
    game = Game.from_diagram(SETTLED, to_play=WHITE)
    engine = Engine(ScriptedEvaluator({4: 99.0}))
    engine.set_position(game)
    first = engine.think(Limits(visits=20))
    assert first.move == PASS, "so that the pass was searched"
    again = engine.think(Limits(visits=20))
    assert again.visits <= first.visits + 1
    assert [c.point for c in again.candidates] == [c.point for c in first.candidates]
    assert again.winrate == pytest.approx(first.winrate, abs=0.01)


def test_an_advantage_stays_with_its_side_when_a_pass_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_on(Game(9), params=SearchParams(playout_doubling_advantage=1.5))
    made = []

    def new_search(evaluator: object, params: SearchParams, *rest: object) -> TreeSearch:
        made.append(params.playout_doubling_advantage)
        return TreeSearch(evaluator, params, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("tengen.engine.engine._new_search", new_search)
    engine._pass_winrate(None, lambda: False)
    assert made == [-1.5], "the other side is to move after the pass"


def test_a_game_that_is_over_can_still_be_asked_about() -> None:
    game = Game.from_diagram(SETTLED).play("pass").play("pass")
    assert result_of(game, visits=20).move == PASS
    assert result_of(Game(9).play("pass").play("pass"), ScriptedEvaluator({40: 9}), visits=5).move == 40


@pytest.mark.parametrize("end", ["resignation", "passes"])
def test_after_the_end_of_a_game_its_superko_still_binds(end: str) -> None:
    game = Game.from_diagram(". X O . .\nX . X O .\n. X O . .\n. . . . .\n. . . . .".replace(" ", ""), "tromp-taylor")
    game.play("E1").play("B4")  # White takes the ko at C4
    if end == "resignation":
        game.resign()
    else:
        game.play("pass").play("pass")
    ko = game.point("C4")
    assert game.is_over
    assert not game.is_legal(ko)
    result = result_of(game, ScriptedEvaluator({ko: 99.0}), visits=20)
    assert game.is_legal(result.move)
    assert ko not in [candidate.point for candidate in result.candidates]
