"""Games of a cycle: the same for any number of processes, complete, and ended cleanly."""

from __future__ import annotations

import atexit
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from checksum import Checksum

from tengen import _native
from tengen.data.record import GameRecord
from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators import BySizeEvaluator, Evaluation, Evaluator, InputBatch, UniformEvaluator
from tengen.game import EMPTY, Game
from tengen.match.moves import allowed_moves
from tengen.selfplay.config import MIN_TREE, SelfPlayConfig
from tengen.selfplay.generate import GameGenerator, play_params, to_record
from tengen.selfplay.plan import GamePlan, make_plan

GAMES = 24


def recipe(**parts: Any) -> SelfPlayConfig:
    plain = {
        "name": "test",
        "cycles": 1,
        "games_per_cycle": GAMES,
        "games_at_once": 8,
        "workers": 1,
        "network": {"family": "residual"},
        "game": {"sizes": {5: 1, 6: 1}},
        "search": {"visits": 8, "cheap_visits": 3, "cheap_share": 0.3, "full": {"noise_weight": 0.25}},
        "resign": {"turns": 2},
    }
    return SelfPlayConfig.model_validate({**plain, **parts})


def plans_of(config: SelfPlayConfig, games: int = GAMES) -> list[GamePlan]:
    return [make_plan(config, 2, i, resigns=True) for i in range(games)]


def play(config: SelfPlayConfig, evaluators: int = 1, make: Callable[[], Evaluator] = Checksum) -> list[GameRecord]:
    """All games by their number."""
    plans = plans_of(config)
    generator = GameGenerator(config, [make() for _ in range(evaluators)], resign_winrate=0.4)
    games = [game for finished in generator.play(plans) for game in finished]
    assert sorted(game.index for game in games) == list(range(GAMES))
    assert generator.evaluations == sum(game.evaluations for game in games)
    return [to_record(game, plans[game.index]) for game in sorted(games, key=lambda game: game.index)]


def same(one: GameRecord, other: GameRecord) -> bool:
    """To the last bit."""

    def text(record: GameRecord) -> list[object]:
        assert record.visits is not None and record.root_values is not None and record.surprises is not None
        owners = None if record.ownership is None else record.ownership.tobytes()
        targets = [target.tobytes() for target in record.visits]
        facts = [record.size, record.komi, record.winner, record.score, record.ending, record.source, record.hash]
        arrays = [record.moves.tobytes(), record.root_values.tobytes(), record.surprises.tobytes()]
        return [*facts, *arrays, owners, targets]

    return text(one) == text(other)


def test_games_are_the_same_for_any_workers_and_any_number_in_flight() -> None:
    expected = play(recipe(games_at_once=1))
    for workers, at_once, evaluators in ((1, 5, 1), (3, 8, 3), (2, 50, 1)):
        found = play(recipe(workers=workers, games_at_once=at_once), evaluators)
        assert all(same(a, b) for a, b in zip(expected, found, strict=True))


def test_networks_of_different_encodings_play_on_boards_of_their_own() -> None:
    """A game is the one that its network plays where it plays them all."""

    def small() -> Checksum:
        evaluator = Checksum()
        evaluator.plane_set = "cody3"
        return evaluator

    ours, theirs = play(recipe()), play(recipe(), make=small)
    both = play(recipe(workers=2), make=lambda: BySizeEvaluator(Checksum(), {5: small}))
    assert {record.size for record in both} == {5, 6}
    for record, one, other in zip(both, ours, theirs, strict=True):
        assert same(record, other if record.size == 5 else one)
    assert not all(same(one, other) for one, other in zip(ours, theirs, strict=True))


def test_games_that_are_missing_are_played_again_alone() -> None:
    config = recipe()
    expected = play(config)
    missing = [plan for plan in plans_of(config) if plan.index % 5 == 0]
    games = [game for finished in GameGenerator(config, [Checksum()], 0.4).play(missing) for game in finished]
    for game in games:
        assert same(to_record(game, missing[game.index // 5]), expected[game.index])


@pytest.mark.slow
def test_a_tree_that_filled_its_memory_leaves_nothing_to_the_next_game() -> None:
    config = recipe(
        games_at_once=1,
        game={"sizes": {9: 1}, "max_moves": 10},
        opening={"moves_mean": 0},
        search={"visits": 3000, "params": {"memory": 1 << 20}, "temperature": 1},
    )
    plans = [make_plan(config, 0, i) for i in (0, 1)]

    def second(chosen: list[GamePlan]) -> GameRecord:
        games = [game for finished in GameGenerator(config, [Checksum()]).play(chosen) for game in finished]
        return to_record(games[-1], plans[1])

    assert same(second(plans[1:]), second(plans))


class Unsure(Checksum):
    """Expects large errors of its values, so that visits have small weights."""

    def infer(self, batch: InputBatch) -> Evaluation:
        found = super().infer(batch)
        return replace(found, value_error=np.ones_like(found.value), score_error=np.full_like(found.value, 10))


def test_weights_of_visits_are_recorded_as_fractions() -> None:
    config = recipe(
        search={
            "visits": 8,
            "cheap_visits": 3,
            "cheap_share": 0.3,
            "params": {"selection": "puct-katago", "uncertainty": 0.25},
        }
    )
    full = 0
    for record in play(config, make=Unsure):
        assert record.visits is not None and record.surprises is not None
        for target in itertools.compress(record.visits, np.isfinite(record.surprises)):
            assert int((target >> 16).sum()) == pytest.approx(10_000, abs=len(target))
            full += 1
    assert full > GAMES


def test_records_are_games_with_what_their_searches_found() -> None:
    records = play(recipe())
    endings = {record.ending for record in records}
    assert endings <= {"count", "resign"} and len(endings) == 2
    for record in records:
        game = record.game()  # every move is legal
        turns = len(record.moves)
        assert record.visits is not None and record.root_values is not None and record.surprises is not None
        assert len(record.visits) == len(record.root_values) == len(record.surprises) == turns
        targets = np.array([len(target) > 0 for target in record.visits])
        assert (np.isfinite(record.surprises) == targets).all()
        assert (record.surprises[targets] >= 0).all()
        for ply in np.flatnonzero(targets):
            visits = record.visits[ply] >> 16
            assert 0 < visits.sum() < 8
            before = record.game(int(ply))
            assert all(before.is_legal(point) for point in (record.visits[ply] & 0xFFFF).tolist())
        if record.ending == "resign":
            assert record.score is None and record.ownership is None and record.winner in (0, 1)
        else:
            assert record.ownership is not None and record.komi is not None and record.score is not None
            owned = np.count_nonzero(record.ownership == 0) - np.count_nonzero(record.ownership == 1)
            assert record.score == owned - record.komi
            assert record.winner == (0 if record.score > 0 else 1)
            assert game.is_over or set(record.ownership.tolist()) <= {0, 1}  # settled: all points are someone's


def test_one_evaluator_for_two_workers_is_used_by_one_at_a_time() -> None:
    config = recipe(workers=2, games_at_once=8)
    evaluator = Checksum()
    assert sum(len(games) for games in GameGenerator(config, [evaluator]).play(plans_of(config))) == GAMES
    assert evaluator.most_inside == 1
    assert evaluator.calls > 2 * evaluator.rows / 8 * 0.9  # batches are of half of the games


def test_errors_of_a_worker_reach_the_caller() -> None:
    config = recipe(workers=2)
    with pytest.raises(OSError, match="had enough"):
        list(GameGenerator(config, [Checksum(), Checksum(fail_after=5)]).play(plans_of(config)))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("self-play")]

    def broken() -> Iterator[GamePlan]:
        yield plans_of(config)[0]
        raise LookupError("no more plans")

    with pytest.raises(LookupError, match="no more plans"):
        list(GameGenerator(config, [Checksum()]).play(broken()))


def test_a_network_that_answers_nonsense_is_named() -> None:
    class Nonsense(Checksum):
        def infer(self, batch: InputBatch) -> Evaluation:
            result = super().infer(batch)
            result.value[:] = np.nan
            return result

    with pytest.raises(NetworkError, match="checksum: an evaluation is not finite"):
        list(GameGenerator(recipe(), [Nonsense()]).play(plans_of(recipe())))


@pytest.mark.parametrize("how", ["stop", "close"])
def test_an_endless_run_ends_when_it_is_told_to(how: str) -> None:
    config, stop = recipe(workers=2), threading.Event()
    endless = (make_plan(config, 0, i) for i in itertools.count())
    games = GameGenerator(config, [Checksum(), Checksum()]).play(endless, stop)
    assert next(games)
    if how == "stop":
        stop.set()
        assert sum(len(finished) for finished in games) < 100
    else:
        games.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("self-play")]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_games_that_are_over_at_their_start_do_not_end_a_worker(at_once: int) -> None:
    config = recipe(games_at_once=at_once, game={"sizes": {5: 1}, "max_moves": 3})
    plans = [replace(plan, start=(0, 1, 2) if plan.index < 10 else ()) for plan in plans_of(config, 20)]
    finished = GameGenerator(config, [Checksum()]).play(plans)
    assert sorted(game.index for games in finished for game in games) == list(range(20))


def test_threads_end_where_another_one_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    started, start = itertools.count(), threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if next(started) == 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    config = recipe(workers=2)
    generator = GameGenerator(config, [Checksum()])
    monkeypatch.setattr(threading.Thread, "start", refuse)
    at_exit: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", at_exit.append)
    monkeypatch.setattr(atexit, "unregister", at_exit.remove)
    with pytest.raises(RuntimeError, match="can't start"):
        next(generator.play(make_plan(config, 2, i) for i in itertools.count()))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("self-play")]
    assert at_exit == []


_LEFT_PLAYING = """
import itertools, time
from tengen.evaluators import UniformEvaluator
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.generate import GameGenerator
from tengen.selfplay.plan import make_plan

size = {"cycles": 1, "games_per_cycle": 1, "games_at_once": 64, "workers": 2, "search": {"visits": 200}}
config = SelfPlayConfig(name="test", network={"family": "residual"}, **size)
games = GameGenerator(config, [UniformEvaluator()]).play(make_plan(config, 0, i) for i in itertools.count())
next(games)
time.sleep(0.1)
"""


def test_a_program_may_end_while_it_plays() -> None:
    """Such a program was ended by SIGABRT: Python stopped the threads on their way out of the native core."""
    ended = subprocess.run([sys.executable, "-c", _LEFT_PLAYING], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_cannot_work_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one evaluator"):
        GameGenerator(recipe(), [])
    with pytest.raises(RecipeError, match="did you mean c_puct"):
        GameGenerator(recipe(search={"params": {"c_puc": 1}}), [Checksum()])
    with pytest.raises(ValueError, match="must agree in"):
        GameGenerator(recipe(search={"full": {"transpositions": True}}), [Checksum()])
    with pytest.raises(ValueError, match="resign_winrate must be 0 to 1"):
        GameGenerator(recipe(), [Checksum()], resign_winrate=2.0)
    generator = GameGenerator(recipe(), [Checksum()])
    list(generator.play(plans_of(recipe(), 1)))
    with pytest.raises(RuntimeError, match="plays once"):
        next(generator.play([]))


def test_settings_reach_the_native_pool() -> None:
    config = recipe(
        search={"visits": 9, "cheap_visits": 4, "temperature": 0.5, "params": {"c_puct": 2}, "full": {"c_puct": 3}},
        game={"pass_policy": "no-legal-move", "settle": False, "max_moves": 33},
        opening={"temperature": 1.5},
        resign={"turns": 4},
    )
    params = play_params(config, 0.07)
    assert (params.visits, params.cheap_visits, params.temperature) == (9, 4, 0.5)
    assert (params.full.c_puct, params.cheap.c_puct) == (3, 2)
    assert (params.pass_policy, params.settle, params.max_moves) == ("no-legal-move", False, 33)
    assert (params.opening_temperature, params.resign_turns) == (1.5, 4)
    assert params.resign_winrate == pytest.approx(0.07)
    assert (params.decided_turns, params.decided_cheap_share) == (0, 0)
    decided = play_params(recipe(search={"visits": 9, "decided": {"winrate": 0.75, "turns": 2, "cheap_share": 0.5}}))
    assert (decided.decided_winrate, decided.decided_turns, decided.decided_cheap_share) == (0.75, 2, 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 1}, "size"),
        ({"komi": float("nan")}, "komi"),
        ({"rules": "none such"}, "unknown rules 'none-such'"),
        ({"start": [3, 3]}, "move 2 of the start of game 1 is not legal at point 3: occupied"),
        ({"start": [25, 25 | 0x8000]}, "finished game"),
        ({"opening_moves": -1}, "opening_moves must be 0 or more, not -1"),
    ],
)
def test_plans_that_cannot_be_played(change: dict[str, Any], message: str) -> None:
    pool = _native.SelfPlay(_native.PlayParams(), 1)
    plan = {"index": 1, "seed": 1, "size": 5, "rules": "tromp-taylor", "komi": 1.5}
    with pytest.raises(ValueError, match=message):
        pool.add(**{**plan, **change})
    assert pool.queued() == 0


def test_trees_have_room_for_their_visits() -> None:
    """On 19x19 the least memory is full after 2,700 visits, and from then on old leaves would be counted again."""
    small = play_params(recipe())
    large = play_params(recipe(game={"sizes": {19: 1}}, search={"visits": 6400, "cheap_visits": 8}))
    asked = play_params(recipe(search={"visits": 6400, "cheap_visits": 8, "params": {"memory": 5 << 20}}))
    assert small.full.memory == small.cheap.memory == MIN_TREE
    assert large.full.memory == large.cheap.memory
    assert asked.full.memory == 5 << 20
    search = TreeSearch(UniformEvaluator(), SearchParams(memory=large.full.memory), 8)
    search.set_root(Game(19))
    assert search.run(6400) == search.evaluations == 6400
    assert not search.is_full


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_one_cheap_visit_is_the_raw_policy_whatever_was_kept_of_the_tree(selection: str) -> None:
    search = {
        "visits": 12, "cheap_visits": 1, "cheap_share": 0.5, "temperature": 0, "temperature_late": 0,
        "params": {"selection": selection}, "full": {},
    }  # fmt: skip
    cheap = 0
    for record in play(recipe(search=search, resign=None)):
        assert record.visits is not None and record.root_values is not None
        for ply in range(len(record.moves)):
            if np.isnan(record.root_values[ply]) or len(record.visits[ply]):
                continue
            game = record.game(ply)
            if (game.pass_alive() != EMPTY).any():
                continue  # nobody plays there
            allowed = allowed_moves([game], "free", "pass-alive")
            best = np.where(allowed, Checksum().evaluate([game]).policy, -1).argmax()
            assert record.points[ply] == best
            cheap += 1
    assert cheap > 50
