"""The games of a cycle, played by worker threads that each have a native pool and an evaluator."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

import numpy as np

from tengen import _native
from tengen.data.record import GameRecord, game_hash
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.machine import core_count, start_background
from tengen.selfplay.config import MIN_TREE, SelfPlayConfig
from tengen.selfplay.plan import GamePlan

_SPARE = 4  # plans that wait in a pool, so that a game that ends is followed at once

Finished: TypeAlias = list[_native.PlayedGame]

# How a game of self-play ended, as the store names it.
_ENDINGS = {
    "passes": "count",
    "move limit": "count",
    "settled": "count",
    "resignation": "resign",
    "long cycle": "void",
}

_NODE_BYTES, _MOVE_BYTES = 76, 4  # of a tree, per visit: the node and its edge, and each legal move


def tree_bytes(config: SelfPlayConfig, visits: int) -> int:
    """About what the tree of a search of `visits` takes on the largest board."""
    edge = config.game.edge
    if config.search.search_params(full=True).simulate_to_end:
        visits *= config.game.max_moves or 2 * edge * edge  # a simulation makes nodes for all moves to the end
    return visits * (_NODE_BYTES + _MOVE_BYTES * (edge * edge + 1))


def tree_memory(config: SelfPlayConfig, visits: int) -> int:
    """The memory of a search of `visits` unless a recipe says it: what is kept of the last tree has room too."""
    return max(MIN_TREE, 2 * tree_bytes(config, visits))


def play_params(config: SelfPlayConfig, resign_winrate: float = 0.0) -> _native.PlayParams:
    """How the games of a recipe are played; RecipeError for search settings that are wrong."""
    params, search = _native.PlayParams(), config.search
    memory = tree_memory(config, search.visits)
    params.full = search.search_params(full=True, memory=memory).native()
    params.cheap = search.search_params(full=False, memory=memory).native()
    params.visits = search.visits
    params.cheap_visits = search.cheap_visits
    params.cheap_share = search.cheap_share
    if search.decided is not None:
        params.decided_winrate = search.decided.winrate
        params.decided_turns = search.decided.turns
        params.decided_cheap_share = search.decided.cheap_share
    params.temperature = search.temperature
    params.temperature_late = search.temperature_late
    params.temperature_halflife = search.temperature_halflife
    params.opening_temperature = config.opening.temperature
    params.reuse = search.reuse
    params.resign_winrate = resign_winrate
    params.resign_turns = config.resign.turns if config.resign else 0
    params.settle = config.game.settle
    params.pass_policy = config.game.pass_policy
    params.max_moves = config.game.max_moves or 0
    return params


def playing_threads(config: SelfPlayConfig) -> int:
    """How many threads play on this machine: each has a game at least."""
    return min(config.workers or core_count(), config.games_at_once)


class GameGenerator:
    """Plays games by a recipe. A game depends on its plan, the recipe and the network alone: not on the workers, on
    how many games are in flight, or on when it is played.

    There are `config.workers` threads (0: one a core), each with its share of `config.games_at_once`. Worker i uses
    evaluator i, counted round: with as many evaluators as workers each has its own; with one evaluator for two workers
    half of the games is evaluated while the other half gathers its next positions, as a graphics card wants it.
    A side resigns below `resign_winrate` in games that may be resigned; 0 is never.
    """

    def __init__(self, config: SelfPlayConfig, evaluators: Sequence[Evaluator], resign_winrate: float = 0.0) -> None:
        if not evaluators:
            raise ValueError("a generator needs at least one evaluator")
        workers = playing_threads(config)
        locks = [threading.Lock() for _ in evaluators]
        params = play_params(config, resign_winrate)
        _native.SelfPlay(params, 1)  # refuses settings that contradict each other before the first game
        self._workers = [
            _Worker(
                params,
                config.games_at_once * (i + 1) // workers - config.games_at_once * i // workers,
                evaluators[i % len(evaluators)],
                locks[i % len(evaluators)],
                config.game.edge,
            )
            for i in range(workers)
        ]
        self._idle = True

    @property
    def workers(self) -> int:
        return len(self._workers)

    @property
    def evaluations(self) -> int:
        """Positions that the evaluators have seen, ever."""
        return sum(worker.evaluations for worker in self._workers)

    @property
    def seconds(self) -> dict[str, float]:
        """Time that the workers spent, added up: in `tree` (search, encoding, play) and `evaluate` (waiting too).

        `tree_cpu` is the processor time of `tree`, which other work on the machine does not lengthen.
        """
        return {
            "tree": sum(worker.tree_seconds for worker in self._workers),
            "tree_cpu": sum(worker.tree_cpu_seconds for worker in self._workers),
            "evaluate": sum(worker.evaluate_seconds for worker in self._workers),
        }

    @property
    def bytes(self) -> int:
        """Bytes of all games in flight, about; waits until the pools are between two calls."""
        return sum(worker.bytes for worker in self._workers)

    def play(self, plans: Iterable[GamePlan], stop: threading.Event | None = None) -> Iterator[Finished]:
        """Finished games as they come, until all plans are played; once for a generator.

        Plans are taken as there is room for games. After `stop` no more games come: those in flight are given up, as
        they are when the iterator is closed. What a worker or `plans` raises is raised here.
        """
        if not self._idle:
            raise RuntimeError("a generator plays once: make another for the next games")
        self._idle = False
        run = _Queue(plans, stop)
        threads: list[threading.Thread] = []
        try:
            for i, worker in enumerate(self._workers):
                threads.append(start_background(partial(worker.work, run), run.close, f"self-play {i}"))
            left = len(threads)
            while left:
                item = run.results.get()
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    left -= 1
                else:
                    yield item
        finally:
            run.close()
            for thread in threads:
                thread.join()


class _Queue:
    """What the workers of one play() share: where plans come from, where games go to, and when to stop."""

    def __init__(self, plans: Iterable[GamePlan], stop: threading.Event | None) -> None:
        self.results: SimpleQueue[Finished | BaseException | None] = SimpleQueue()  # None: a worker is done
        self._plans = iter(plans)
        self._lock = threading.Lock()
        self._stop = stop
        self._closed = False

    def next_plan(self) -> GamePlan | None:
        with self._lock:
            return next(self._plans, None)

    def close(self) -> None:
        self._closed = True

    @property
    def stopped(self) -> bool:
        return self._closed or (self._stop is not None and self._stop.is_set())


class _Worker:
    """One thread with its games. `lock` is held while the evaluator works."""

    def __init__(
        self, params: _native.PlayParams, slots: int, evaluator: Evaluator, lock: threading.Lock, edge: int
    ) -> None:
        self.evaluations = 0
        self.tree_seconds = self.tree_cpu_seconds = self.evaluate_seconds = 0.0
        self._params = params
        self._slots = slots
        self._evaluator = evaluator
        self._lock = lock
        self._edge = edge
        # Games whose boards have different evaluators play in pools of their own, made when such a game first comes.
        self._pools: dict[BatchEvaluator, tuple[_native.SelfPlay, InputBatch]] = {}

    @property
    def bytes(self) -> int:
        return sum(pool.bytes() for pool, _ in list(self._pools.values()))

    def work(self, run: _Queue) -> None:
        try:
            while not run.stopped and self._step(run):
                pass
        except BaseException as error:
            run.results.put(error)
        else:
            run.results.put(None)

    def _step(self, run: _Queue) -> bool:
        """One batch of each pool; False when there is nothing left to play."""
        added = self._fill_queue(run)  # a game that is over at its start leaves its pool without a batch
        steps = [self._step_pool(run, evaluator, *pool) for evaluator, pool in self._pools.items()]
        return added > 0 or any(steps)

    def _step_pool(self, run: _Queue, evaluator: BatchEvaluator, pool: _native.SelfPlay, inputs: InputBatch) -> bool:
        """One batch; False when the pool has nothing left to play."""
        start, cpu = time.perf_counter(), time.thread_time()
        batch = inputs.gather(pool)
        cpu = time.thread_time() - cpu
        gathered = evaluated = time.perf_counter()
        if len(batch):
            with self._lock:
                result = evaluator.infer_checked(batch)
            evaluated, scattering = time.perf_counter(), time.thread_time()
            evaluator.scatter(pool, result)
            cpu += time.thread_time() - scattering
        if games := pool.take():
            run.results.put(games)
        self.evaluations += len(batch)
        self.tree_cpu_seconds += cpu
        self.evaluate_seconds += evaluated - gathered
        self.tree_seconds += time.perf_counter() - evaluated + gathered - start
        return len(batch) > 0 or pool.queued() > 0

    def _fill_queue(self, run: _Queue) -> int:
        """Take plans as far as there is room; returns their number."""
        pools = [pool for pool, _ in self._pools.values()]
        playing, queued = sum(pool.playing() for pool in pools), sum(pool.queued() for pool in pools)
        room = max(0, self._slots - playing + min(_SPARE, self._slots) - queued)
        for added in range(room):
            plan = run.next_plan()
            if plan is None:
                return added
            self._pool_on(plan.size).add(
                plan.index,
                plan.seed,
                plan.size,
                plan.rules,
                plan.komi,
                list(plan.start),
                plan.opening_moves,
                plan.may_resign,
            )
        return room

    def _pool_on(self, size: int) -> _native.SelfPlay:
        """The pool of the games on boards of this size."""
        evaluator = self._evaluator.on(size)
        if evaluator not in self._pools:
            inputs = evaluator.new_batch(self._slots, evaluator.only_size or self._edge)
            self._pools[evaluator] = (_native.SelfPlay(self._params, self._slots), inputs)
        return self._pools[evaluator][0]


def to_record(played: _native.PlayedGame, plan: GamePlan) -> GameRecord:
    """The record of the game that was played by this plan; its source names cycle and game."""
    moves = played.moves
    none = np.empty(0, np.uint16)
    counted = not math.isnan(played.score)
    return GameRecord(
        size=played.size,
        moves=moves,
        rules=plan.rules,
        komi=plan.komi,
        winner=None if played.winner < 0 else played.winner,
        score=played.score if counted else None,
        ending=_ENDINGS[played.ending],
        source=plan.source,
        hash=game_hash(played.size, moves, none, none),
        ownership=played.ownership if counted else None,
        visits=tuple(played.targets),
        root_values=played.root_values,
        surprises=played.surprises,
    )
