"""The engine against evaluators with known answers: reuse of the tree, stopping, settings, loading."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checksum import Checksum
from known_positions import SETTLED
from scripted import ScriptedEvaluator, engine_on, play_hopeless_game

from tengen.engine import Engine, Limits, SearchParams, SearchResult, Style, load_engine
from tengen.engine.limits import Budget
from tengen.engine.params import playout_params, set_params
from tengen.engine.search import MoveRestriction
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.game import BLACK, WHITE, Game

PASS = 81


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


def test_pondering_ends_at_its_limits() -> None:
    engine = engine_on(Game(9), batch=4)
    engine.ponder(limits=Limits(visits=40))
    deadline = time.monotonic() + 30
    while ponders() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not ponders()
    assert 40 <= engine.think(Limits(playouts=1)).visits <= 45


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
    with engine_on(Game(9), ScriptedEvaluator()) as engine:
        engine.ponder()
        assert ponders()
    assert not ponders()


def test_thinking_needs_a_position() -> None:
    with pytest.raises(RuntimeError, match="set_position"):
        Engine(UniformEvaluator()).think()


# Restrictions and settings.


def test_moves_may_be_allowed_and_avoided() -> None:
    engine = Engine(ScriptedEvaluator({40: 100, 41: 50}))
    engine.set_position(Game(9), restrictions=[MoveRestriction(BLACK, [40])])
    assert engine.think(Limits(visits=30)).move == 41
    engine.set_position(Game(9), restrictions=[MoveRestriction(BLACK, [3, 4], allow=True)])
    assert {c.point for c in engine.think(Limits(visits=30)).candidates} == {3, 4}


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
