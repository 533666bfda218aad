"""Evaluations, visits and playouts a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tengen import _native
from tengen.engine.engine import DEFAULT_PLAYOUTS, DEFAULT_VISITS
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.pool import SearchPool
from tengen.engine.search import TreeSearch
from tengen.evaluators import (
    BatchEvaluator,
    Evaluation,
    Evaluator,
    InputBatch,
    UniformEvaluator,
    WrappingEvaluator,
)
from tengen.game import Game

SIZES = (9, 13, 19)
BATCHES = (1, 8, 32)
PLAY_BATCH = 8
"""The default batch of an engine."""
POOL_GAMES = 64
_MOVE_VISITS = 10_000  # visits after which a search starts again, so that its tree keeps the size of one move
_PLAYOUTS_A_CALL = 50


def rate(work: Callable[[], int], seconds: float) -> float:
    """Units a second: calls `work`, which returns how many units it did, for `seconds` of wall time, at least once.

    An uncounted first call fills caches and compiles models.
    """
    work()
    done, start = 0, time.perf_counter()
    while True:
        done += work()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return done / elapsed


@dataclass(frozen=True)
class Evaluations:
    """Positions a second through one network at a batch and a board size."""

    network: str
    size: int
    batch: int
    rate: float


@dataclass(frozen=True)
class Visits:
    """Visits a second of `games` searches at once; `a_move` is how many an engine gives a move by default.

    With a network, `shares` of the time: `evaluator`, `encoder` (planes of the positions) and `tree` (all else);
    `ceiling` is the rate if the evaluator took no time, beyond which no device helps.
    """

    player: str
    size: int
    games: int
    rate: float
    a_move: int
    shares: Mapping[str, float] = field(default_factory=dict)
    ceiling: float | None = None

    @property
    def limit(self) -> str:
        """The part that takes the most time."""
        return max(self.shares, key=lambda part: self.shares[part], default="")


@dataclass(frozen=True)
class Playouts:
    """Playouts a second from the empty board, on one core."""

    policy: str
    size: int
    rate: float


def opening(size: int) -> Game:
    """A few stones on the board, as at the start of a game."""
    game = Game(size)
    near, far = (3, size - 4) if size >= 13 else (2, size - 3) if size >= 7 else (1, size - 2)
    for row, column in ((near, far), (far, near), (far, far), (near, near)):
        game.play(row * size + column)
    return game


def evaluations(
    evaluator: Evaluator, seconds: float, sizes: Sequence[int] = SIZES, batches: Sequence[int] = BATCHES
) -> Iterator[Evaluations]:
    """Each size and batch for its share of `seconds`."""
    share = seconds / (len(sizes) * len(batches))
    for size in sizes:
        for batch in batches:
            network = evaluator.on(size)
            work = partial(_infer, network, network.encoded([opening(size)] * batch))
            yield Evaluations(evaluator.name, size, batch, rate(work, share))


def visits(evaluator: Evaluator, size: int, seconds: float) -> Visits:
    """One search with an engine's default settings for the network."""
    rows = 1
    while rows <= PLAY_BATCH:  # a model is compiled for each power of two, which is no part of a search's speed
        evaluator.evaluate([opening(size)] * rows)
        rows *= 2
    clock = _Clock()
    search = TreeSearch(evaluator.wrapped(clock.watching), _params(evaluator, size), PLAY_BATCH)
    found = _search_rate(search, size, seconds, clock)
    return Visits(evaluator.name, size, 1, found, DEFAULT_VISITS, *clock.shares(evaluator, size))


def playout_visits(size: int, seconds: float, threads: int) -> Visits:
    """One search by playouts on `threads` threads, without a network."""
    search = TreeSearch(UniformEvaluator(), playout_params(), threads=threads)
    return Visits("no network", size, 1, _search_rate(search, size, seconds, _Clock()), DEFAULT_PLAYOUTS)


def pool_visits(evaluator: Evaluator, size: int, seconds: float, games: int = POOL_GAMES) -> Visits:
    """Many games at once, with the same settings."""
    clock = _Clock()
    pool = SearchPool(evaluator.wrapped(clock.watching), _params(evaluator, size), games)
    game = opening(size)
    for i in range(games):
        pool.set_root(i, game)

    def work() -> int:
        before = int(pool.visits.sum())
        with clock:
            pool.step()
        clock.visits += (done := int(pool.visits.sum()) - before)
        return done

    work()
    clock.reset()
    return Visits(evaluator.name, size, games, rate(work, seconds), DEFAULT_VISITS, *clock.shares(evaluator, size))


def playouts(policy: str, size: int, seconds: float) -> Playouts:
    game = Game(size).native()
    seed = iter(range(10**9))

    def work() -> int:
        _native.run_playouts(game, _PLAYOUTS_A_CALL, next(seed), policy)
        return _PLAYOUTS_A_CALL

    return Playouts(policy, size, rate(work, seconds))


def _params(evaluator: Evaluator, size: int) -> SearchParams:
    return SearchParams().advised(evaluator.on(size).advice)


def _infer(evaluator: BatchEvaluator, inputs: InputBatch) -> int:
    return len(evaluator.infer(inputs))


class _Clock:
    """Time of a search's steps, as a context, and of the evaluator within them."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.seconds = self.evaluating = 0.0
        self.visits = self.positions = 0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._began

    def watching(self, evaluator: BatchEvaluator) -> BatchEvaluator:
        return _Watched(evaluator, self)

    def shares(self, evaluator: Evaluator, size: int) -> tuple[dict[str, float], float | None]:
        """The shares and the ceiling of Visits."""
        rest = max(self.seconds - self.evaluating, 1e-9)
        encoding = min(rest, self.positions * _encoding_seconds(evaluator.on(size), size))
        seconds = {"evaluator": self.evaluating, "encoder": encoding, "tree": rest - encoding}
        return {name: round(part / self.seconds, 4) for name, part in seconds.items()}, self.visits / rest


class _Watched(WrappingEvaluator):
    def __init__(self, inner: BatchEvaluator, clock: _Clock) -> None:
        super().__init__(inner)
        self._clock = clock

    def infer(self, batch: InputBatch) -> Evaluation:
        began = time.perf_counter()
        result = self.inner.infer(batch)
        self._clock.evaluating += time.perf_counter() - began
        self._clock.positions += len(batch)
        return result


def _encoding_seconds(evaluator: BatchEvaluator, size: int) -> float:
    """Time of encoding a position, the best of some batches: other work on the machine comes and goes."""
    games = [opening(size)] * 64
    found = []
    for _ in range(5):
        began = time.perf_counter()
        evaluator.encoded(games)
        found.append((time.perf_counter() - began) / len(games))
    return min(found)


def _search_rate(search: TreeSearch, size: int, seconds: float, clock: _Clock) -> float:
    game = opening(size)
    other = Game(size, komi=0.5)
    search.set_root(game)

    def work() -> int:
        if search.visits >= _MOVE_VISITS:
            search.set_root(other)  # drops the tree
            search.set_root(game)
        before = search.visits
        with clock:
            search.step()
        clock.visits += (done := search.visits - before)
        return done

    work()
    clock.reset()
    return rate(work, seconds)
