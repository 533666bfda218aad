"""The engine against evaluators with known answers: limits, reuse of the tree, stopping, chance, resigning, passing."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checksum import Checksum
from known_positions import SETTLED
from scripted import ScriptedEvaluator

from tengen.data.planes import plane_set
from tengen.engine import Engine, Limits, SearchParams, SearchResult, Style, TimeControl, load_engine, task
from tengen.engine.limits import Budget
from tengen.engine.params import playout_params, set_params
from tengen.engine.search import MoveRestriction, TreeSearch
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.evaluation import Floats
from tengen.game import BLACK, WHITE, Game

PASS = 81


def engine_on(game: Game, evaluator: object | None = None, **settings: object) -> Engine:
    engine = Engine(evaluator or UniformEvaluator(), **settings)  # type: ignore[arg-type]
    engine.set_position(game)
    return engine


def result_of(game: Game, evaluator: object | None = None, visits: int = 50, **settings: object) -> SearchResult:
    return engine_on(game, evaluator, **settings).think(Limits(visits=visits))


# Results and limits.


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


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that the engine sees."""
    seconds = [1000.0]
    monkeypatch.setattr(task, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    return seconds


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


@pytest.mark.parametrize(("settings", "early"), [({}, True), ({"selection": "gumbel"}, False)])
def test_under_a_clock_the_lead_in_visits_is_enough(settings: dict[str, Any], early: bool) -> None:
    """Time that is saved is used later; of seconds for one move it would be lost."""
    engine = engine_on(Game(9), ScriptedEvaluator({40: 100_000}), params=SearchParams(**settings))
    found = engine.think(Limits(visits=400, clock=TimeControl.absolute(100_000).start()))
    assert (found.visits < 260) == early and found.visits <= 400
    engine.forget()
    assert engine.think(Limits(visits=400, seconds=1000)).visits == 400


def test_progress_is_told_in_the_rhythm_that_was_asked_for(now: list[float]) -> None:
    engine, seen = engine_on(Game(9), slow(now)), []
    engine.think(Limits(seconds=0.5), seen.append, every=0.11)
    assert [round(r.seconds, 2) for r in seen] == [0.12, 0.24, 0.36, 0.48]
    assert [r.visits for r in seen] == sorted(r.visits for r in seen)
    assert all(isinstance(r, SearchResult) and not r.resign for r in seen)


# The tree is kept while the game goes on.


def test_the_tree_is_kept_when_the_game_goes_on() -> None:
    game = Game(9)
    engine = engine_on(game, ScriptedEvaluator({40: 50, 41: 50}))
    before = engine.think(Limits(visits=200))
    game.play(before.move)
    kept = next(c.visits for c in before.candidates if c.point == before.move)
    engine.set_position(game)
    after = engine.think(Limits(playouts=1))
    assert kept > 50 and kept <= after.visits <= kept + 1


def test_the_tree_is_dropped_for_another_game() -> None:
    engine = engine_on(Game(9))
    engine.think(Limits(visits=100))
    for other in (Game(9, komi=0.5), Game(9, "japanese"), Game(9).play("A1").play("B2"), Game(13)):
        engine.set_position(other)
        assert engine.think(Limits(playouts=5)).visits <= 6


def test_a_tree_that_is_forgotten_is_searched_anew_and_the_losses_seen_are_remembered() -> None:
    game = Game(9).play("E5")
    engine = engine_on(game)
    engine.think(Limits(visits=100))
    engine.forget()
    assert engine.think(Limits(playouts=5)).visits <= 6, "the position stays"
    engine.forget()
    engine.set_position(game.play("D5"))
    assert engine.think(Limits(playouts=5)).visits <= 6
    assert play_hopeless_game(Style(), forgetful=True) == play_hopeless_game(Style())


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_warming_up_asks_for_every_size_of_batch_and_leaves_the_search_alone(selection: str) -> None:
    evaluator = ScriptedEvaluator({40: 50, 41: 50})
    engine = engine_on(Game(9), evaluator, params=SearchParams(selection=selection))
    before = engine.think(Limits(visits=50))
    asked: list[tuple[int, int]] = []
    plain = evaluator.infer

    def infer(batch: InputBatch) -> Evaluation:
        asked.append((len(batch), int(batch.mask[0].sum())))
        return plain(batch)

    evaluator.infer = infer  # type: ignore[method-assign]
    engine.warm_up(7)
    assert {1, 2, 4, 8} <= {rows for rows, _ in asked} and {points for _, points in asked} == {49}
    after = engine.think(Limits(visits=50))
    assert after.visits == before.visits + 1, "one batch more of the tree that was kept"


def test_the_engines_game_is_its_own() -> None:
    game = Game(9)
    engine = engine_on(game)
    game.play("E5")
    assert engine.think(Limits(visits=5)).to_play == BLACK


# Stopping.


def test_stop_ends_a_search_at_once_from_another_thread() -> None:
    evaluator = ScriptedEvaluator()
    engine = engine_on(Game(9), evaluator)
    thread = threading.Thread(target=engine.think, args=(Limits(),))
    thread.start()
    while evaluator.calls < 10:
        time.sleep(0.001)
    engine.stop()
    calls = evaluator.calls
    thread.join()
    assert evaluator.calls <= calls + 2, "the batches that were on their way"


def test_a_stop_before_the_first_batch_is_no_stop_of_the_search_before() -> None:
    """As from another thread just after `think` was called, which may have to wait for the end of pondering."""

    class Stopping(Limits):
        def budget(self, size: int, move_number: int) -> Budget:
            engine.stop()
            return super().budget(size, move_number)

    engine = engine_on(Game(9), batch=4)
    engine.ponder()
    engine.stop()
    assert engine.think(Limits(playouts=20)).visits >= 20, "an earlier stop is over"
    visits = engine_on(Game(9, komi=5)).think(Limits(visits=1)).visits
    engine.set_position(Game(9, komi=5))
    assert engine.think(Stopping(visits=200)).visits <= visits + 4, "at least one batch is searched"


def test_until_is_asked_after_each_batch() -> None:
    asked = []
    engine = engine_on(Game(9), batch=4)
    result = engine.think(Limits(), until=lambda: len(asked) == 3 or asked.append(1) is not None)
    assert len(asked) == 3 and result.visits <= 17


def ponders() -> bool:
    return "ponder" in {thread.name for thread in threading.enumerate()}


def test_pondering_grows_the_tree_until_the_game_goes_on() -> None:
    game = Game(9)
    engine = engine_on(game)
    seen: list[SearchResult] = []
    engine.ponder(seen.append, every=0.02)
    deadline = time.monotonic() + 120
    while (len(seen) < 3 or seen[-1].visits < 50) and time.monotonic() < deadline:
        time.sleep(0.01)
    game.play(seen[-1].candidates[0].point)
    engine.set_position(game)
    assert not ponders(), "the search ends before the game goes on"
    assert len(seen) >= 3 and engine.think(Limits(playouts=1)).visits > 2


def test_close_ends_pondering() -> None:
    engine = engine_on(Game(9), ScriptedEvaluator())
    engine.ponder()
    assert ponders()
    engine.close()
    assert not ponders()


def test_thinking_needs_a_position() -> None:
    with pytest.raises(RuntimeError, match="set_position"):
        Engine(UniformEvaluator()).think()


# Chance.


def moves_of(seed: int, style: Style, count: int = 12) -> list[int]:
    game = Game(9)
    engine = Engine(ScriptedEvaluator({40: 5, 30: 5, 50: 5}), seed=seed, style=style)
    for _ in range(count):
        engine.set_position(game)
        game.play(engine.think(Limits(visits=30)).move)
    return [point for _, point in game.moves]


@pytest.mark.parametrize("style", [Style(), Style(temperature=1.0, opening=0.5), Style(policy_temperature=1.0)])
def test_the_same_seed_gives_the_same_game(style: Style) -> None:
    assert moves_of(1, style) == moves_of(1, style)


def test_without_temperature_the_seed_does_not_matter() -> None:
    assert moves_of(1, Style()) == moves_of(2, Style())


def test_temperature_varies_the_opening_alone() -> None:
    style = Style(temperature=1.0, opening=2 / 81)
    games = [moves_of(seed, style, 4) for seed in range(8)]
    assert len({tuple(game[:2]) for game in games}) > 2
    same_start = {}
    for game in games:
        assert same_start.setdefault(tuple(game[:2]), game) == game


def test_a_position_that_was_set_up_is_no_opening() -> None:
    """As after a move out of turn, which leaves the stones without the moves."""
    game = Game(9).setup([0, 2, 4], [18, 20, 22])
    style = Style(temperature=1.0, opening=6 / 81)
    assert len({result_of(game, seed=seed, style=style).move for seed in range(8)}) == 1
    earlier = replace(style, opening=7 / 81)
    assert len({result_of(game, seed=seed, style=earlier).move for seed in range(8)}) > 2


def test_weaker_play_draws_from_the_policy() -> None:
    evaluator = ScriptedEvaluator({40: 82.0})
    first = [result_of(Game(9), evaluator, 1, seed=s, style=Style(policy_temperature=1.0)).move for s in range(60)]
    assert 15 < first.count(40) < 45, "half of the policy's mass lies on one move"
    cold = [result_of(Game(9), evaluator, 1, seed=s, style=Style(policy_temperature=0.1)).move for s in range(20)]
    assert set(cold) == {40}


# Restrictions and settings.


def test_moves_may_be_allowed_and_avoided() -> None:
    engine = Engine(ScriptedEvaluator({40: 100, 41: 50}))
    engine.set_position(Game(9), restrictions=[MoveRestriction(BLACK, [40])])
    assert engine.think(Limits(visits=30)).move == 41
    engine.set_position(Game(9), restrictions=[MoveRestriction(BLACK, [3, 4], allow=True)])
    assert {c.point for c in engine.think(Limits(visits=30)).candidates} == {3, 4}


@pytest.mark.parametrize(
    "style",
    [Style(policy_temperature=1.0, policy_floor=0.0), Style(mean_loss=9.0), Style(temperature=1.0)],
    ids=["policy", "loss", "temperature"],
)
@pytest.mark.parametrize("allow", [False, True])
def test_the_style_draws_among_the_moves_that_may_be_played(style: Style, allow: bool) -> None:
    evaluator = ScriptedEvaluator({40: 1000.0, 41: 300.0, 42: 300.0})
    restriction = MoveRestriction(BLACK, [41, 42] if allow else [40], allow=allow)
    drawn = set()
    for seed in range(12):
        engine = Engine(evaluator, seed=seed, style=style)
        engine.set_position(Game(9), restrictions=[restriction])
        drawn.add(engine.think(Limits(visits=30)).move)
    assert {41, 42} <= drawn and 40 not in drawn
    assert not allow or drawn == {41, 42}


@pytest.mark.parametrize(
    ("restriction", "passes"),
    [
        (MoveRestriction(WHITE, [4]), True),
        (MoveRestriction(WHITE, [PASS]), False),
        (MoveRestriction(WHITE, [4, 24], allow=True), False),
        (MoveRestriction(BLACK, [PASS]), True),
    ],
)
def test_a_finished_game_is_passed_where_a_pass_may_be_played(restriction: MoveRestriction, passes: bool) -> None:
    engine = Engine(ScriptedEvaluator({4: 99.0, 24: 50.0}))
    engine.set_position(Game.from_diagram(SETTLED, to_play=WHITE), restrictions=[restriction])
    move = engine.think(Limits(visits=50)).move
    assert (move == PASS) is passes
    assert passes or (move in restriction.points) is restriction.allow


def test_overrides_hold_for_one_position_and_drop_the_tree() -> None:
    engine, game = Engine(UniformEvaluator(), SearchParams(c_puct=0.9), batch=1), Game(9)
    engine.set_position(game)
    assert engine.think(Limits(playouts=10)).visits == 10
    for visits in (10, 20):  # of a tree that starts anew, and is kept by the same settings
        engine.set_position(game, overrides={"node_ownership": True})
        assert engine.params.node_ownership and engine.params.c_puct == 0.9
        assert engine.think(Limits(playouts=10)).visits == visits
    engine.set_position(game)
    assert not engine.params.node_ownership and engine.think(Limits(playouts=10)).visits == 10
    assert engine.asked_params == SearchParams(c_puct=0.9)


def test_overrides_that_a_search_refuses_are_refused_again() -> None:
    engine = engine_on(Game(9), params=SearchParams(selection="rave", priors="uniform"))
    for _ in range(2):
        with pytest.raises(ValueError, match="node_ownership"):
            engine.set_position(Game(9), overrides={"node_ownership": True})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"cpuct": 2.0}, "unknown search setting 'cpuct'; did you mean c_puct"),
        ({"c_puct": -3.0}, "c_puct: .*-3"),
        ({"lcb": "perhaps"}, "lcb: .*perhaps"),
    ],
)
def test_overrides_that_are_no_settings_are_named(overrides: dict[str, Any], message: str) -> None:
    engine = Engine(UniformEvaluator())
    for _ in range(2):
        with pytest.raises(RecipeError, match=message):
            engine.set_position(Game(9), overrides=overrides)


def test_a_seed_that_cannot_be_is_named() -> None:
    with pytest.raises(RecipeError, match=r"seed must lie between 0 and .*, not -1"):
        Engine(UniformEvaluator(), seed=-1)


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_threads_that_no_search_can_have_are_refused(threads: int) -> None:
    with pytest.raises(RecipeError, match="give 1 to 1024"):
        Engine(UniformEvaluator(), threads=threads)


def test_a_batch_that_no_search_can_have_is_refused() -> None:
    with pytest.raises(RecipeError, match="give 1 or more"):
        Engine(UniformEvaluator(), batch=0)


def test_weights_that_are_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot be read"):
        set_params(SearchParams(), {"playout": f"linear:{tmp_path}"})


def test_results_are_equal_to_themselves_alone() -> None:
    engine = Engine(UniformEvaluator(), limits=Limits(visits=2))
    engine.set_position(Game(5))
    result, count, stats = engine.think(), engine.count(Game(5)), engine._search.stats()
    for found in (result, result.raw, count, stats):
        assert found is not None and found == found and found != replace(found) and len({found, found}) == 1


def test_each_move_is_thought_about_within_its_memory() -> None:
    engine = engine_on(Game(9), params=SearchParams.model_validate({"memory": 1 << 20}))
    assert engine.think(Limits(visits=20_000)).visits == 20_000


# Passing.


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
    engine._pass_winrate()
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


# Resigning.


def play_hopeless_game(style: Style, moves: int = 60, forgetful: bool = False, avoided: bool = False) -> list[int]:
    """The numbers of the moves at which Black, who always sees a lost game, resigns.

    He may forget each tree, and he may have to avoid the move that he prefers.
    """
    game, resigned = Game(9), []
    engine = Engine(ScriptedEvaluator(value=-0.99), style=style)
    order = [p for p in range(81) if (p // 9 + p) % 2 == 0] + [p for p in range(81) if (p // 9 + p) % 2]
    for number in range(moves):
        if forgetful:
            engine.forget()
        engine.set_position(game, restrictions=[MoveRestriction(BLACK, [order[-1]])] if avoided else [])
        if number % 2 == 0 and engine.think(Limits(visits=1)).resign:
            resigned.append(number)
        legal = set(game.legal_points())
        game.play(next(p for p in order if p in legal))
    return resigned


def test_a_hopeless_game_is_resigned_and_not_early() -> None:
    resigned = play_hopeless_game(Style())
    assert resigned and resigned[0] >= 0.2 * 81
    assert play_hopeless_game(Style(), avoided=True) == resigned


def test_resigning_can_be_turned_off() -> None:
    assert play_hopeless_game(Style(resign=False)) == []


# Networks without some outputs.


class Bare(Checksum):
    """Predicts neither score nor ownership, and knows no pass."""

    has_pass = has_score = has_ownership = False

    def infer(self, batch: InputBatch) -> Evaluation:
        found = super().infer(batch)
        found.policy[:, -1] = 0
        return Evaluation(found.policy / found.policy.sum(axis=1, keepdims=True), found.value)


def test_a_network_without_score_and_ownership_says_none() -> None:
    engine = Engine(Bare())
    engine.set_position(Game(7))
    result = engine.think(Limits(visits=30))
    assert result.score is None and result.ownership is None
    assert result.visits == 30 and all(c.score is None for c in result.candidates)
    raw = engine.raw(Game(7).play("D4"))
    assert raw.score is None and raw.policy[0, 24] == 0 and raw.policy[0].sum() == pytest.approx(1)
    by_playouts = Engine(Bare(), playout_params())
    by_playouts.set_position(Game(7))
    result = by_playouts.think(Limits(visits=100))
    assert result.score is not None and result.ownership is not None


def test_a_network_without_pass_and_ownership_passes_by_the_rules() -> None:
    """Black holds everything: no move is worth anything, and playouts count."""
    game = _full()
    engine = Engine(Bare())
    engine.set_position(game)
    assert engine.think(Limits(visits=50)).move == game.size**2
    assert engine.count(game).score > 0


def _full() -> Game:
    """Black's stones on every second point of a 5x5 board and around them."""
    rows = (".X.X.", "XXXXX", ".X.X.", "XXXXX", ".X.X.")
    black = [row * 5 + column for row, text in enumerate(rows) for column, mark in enumerate(text) if mark == "X"]
    return Game(5).setup(black=black, white=[], to_play=0)


# Loading.


def test_an_engine_without_a_network_loads_by_name() -> None:
    engine = load_engine("none", visits=10)
    engine.set_position(Game(9))
    assert engine.name_on(9) == "rave with local playouts" and engine.think().visits == 10
    assert load_engine("none").limits.visits == 10_000


def test_other_params_begin_a_new_tree() -> None:
    engine = load_engine("none", visits=50, threads=1)
    engine.set_position(Game(9))
    first = engine.think()
    engine.params = engine.params.model_copy(update={"selection": "uct"})
    with pytest.raises(RuntimeError, match="set_position"):
        engine.think()
    engine.set_position(Game(9))
    assert engine.think().visits == first.visits == 50
    assert engine.name_on(9) == "uct with local playouts"


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_generator_takes_is_refused(seed: int) -> None:
    with pytest.raises(RecipeError, match="seed"):
        load_engine("none", seed=seed)


def test_an_unknown_network_is_named() -> None:
    with pytest.raises(NetworkError, match="no-such-network"):
        load_engine("no-such-network")
