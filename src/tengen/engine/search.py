"""The native tree search, driven from Python: gather positions, evaluate them, scatter the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.engine.params import SearchParams
from tengen.engine.result import Candidate, RootEvaluation
from tengen.errors import RecipeError
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.game import Game

PV_LENGTH = 20
"""Moves of a principal variation, unless a caller asks for another number."""


@dataclass(frozen=True, eq=False)
class RootStats:
    """The moves at the root, most visits first; an entry a move, means for the side to move.

    A move without visits has the root's own means and bounds of -1. `utility` is what the search maximises, in [-1, 1],
    and `utility_lcb` its lower confidence bound, `value_lcb` the same as a bound of the value; `prior` is the
    network's by `policy_temperature`, without the temperature and noise of roots. `weight` is what the visits count
    for, `play_weight` that by which the move is chosen. `node_visits` and `node_weight` are those of the position
    after the move, which other lines may have visited too where the tree shares positions (`transpositions`); else
    they are the same. NaN stands for what the search does not know of no_result (probability), score_stdev and lead
    (points).
    """

    point: NDArray[np.int32]
    visits: NDArray[np.int32]
    value: Floats
    score: Floats
    utility: Floats
    utility_lcb: Floats
    prior: Floats
    weight: Floats
    value_lcb: Floats
    no_result: Floats
    score_stdev: Floats
    lead: Floats
    play_weight: Floats
    node_visits: NDArray[np.int32]
    node_weight: Floats


class RootMeans(NamedTuple):
    """The means at the root for its side to move, as in RootStats; None for what the search does not know.

    With KataGo's search a move weighs what it would be explored now (its pruned root values), so that noise at the
    root costs nothing; `value` and `score` of a SearchView are those of all visits.
    """

    value: float
    score: float
    utility: float
    weight: float
    lead: float | None
    score_stdev: float | None
    no_result: float | None


class LineMove(NamedTuple):
    """A move of a principal variation: its visits, and those of the position after it.

    The latter count all lines that lead to the position, where the tree shares positions.
    """

    point: int
    visits: int
    node_visits: int


@dataclass(frozen=True)
class MoveRestriction:
    """Moves that a player may not make, or with `allow` the only ones, until a depth of the tree (KataGo: untilDepth).

    `points` are row-major, size * size is pass. The root has depth 0: `until_depth` 1 restricts the root alone.
    """

    color: int
    points: Sequence[int]
    until_depth: int = 1
    allow: bool = False

    def native(self) -> tuple[int, list[int], int, bool]:
        """The restriction as native code takes it."""
        return self.color, list(self.points), self.until_depth, self.allow


class SearchView:
    """What a native search found, all of it for the side to move at the root. May be asked from any thread."""

    def __init__(self, native: _native.Search) -> None:
        self._native = native

    @property
    def visits(self) -> int:
        """Visits of the root, those of a kept tree included."""
        return int(self._native.root_visits())

    @property
    def value(self) -> float:
        """Mean value in [-1, 1]; 0 without visits."""
        return float(self._native.root_value())

    @property
    def score(self) -> float:
        """Mean score in points; 0 without visits."""
        return float(self._native.root_score())

    @property
    def has_score(self) -> bool:
        """False once results came without score; `score` and the scores of the moves are 0 then."""
        return bool(self._native.has_score())

    @property
    def ownership(self) -> Floats | None:
        """Mean ownership [size, size] of the positions evaluated since set_root.

        None where params do not keep it and where the network does not predict it.
        """
        return self._native.root_ownership()

    @property
    def bytes(self) -> int:
        """Bytes that the tree's nodes take."""
        return int(self._native.bytes())

    @property
    def held_bytes(self) -> int:
        """Bytes taken from the system for it, never more than `params.memory`."""
        return int(self._native.held_bytes())

    @property
    def is_full(self) -> bool:
        """Whether the memory is used up: the tree grows no more, and visits only weigh what it holds."""
        return bool(self._native.is_full())

    @property
    def nodes(self) -> int:
        """Positions in the tree."""
        return int(self._native.node_count())

    def root_means(self) -> RootMeans:
        """The means at the root, as those of a move."""
        return RootMeans(**self._native.root_moments())

    def stats(self) -> RootStats:
        """The moves at the root; empty before the first evaluation."""
        return RootStats(**self._native.root_stats())

    def candidates(self, pv_length: int = PV_LENGTH) -> tuple[Candidate, ...]:
        """The legal moves: the search's choice, then by the weights to play them, visits and the network's prior."""
        stats, chosen = self.stats(), self.choose(0)
        columns: dict[str, list[Any]] = {field.name: getattr(stats, field.name).tolist() for field in fields(stats)}
        visited = zip(columns["point"], columns["visits"], strict=True)
        lines = [self.line(point, pv_length) if visits else [] for point, visits in visited]
        for name in ("lead", "score_stdev", "no_result"):
            columns[name] = [None if math.isnan(value) else value for value in columns[name]]
        if not self.has_score:
            columns["score"] = [None] * len(lines)
        found = Candidate.of_columns(
            winrate=[(value + 1) / 2 for value in columns.pop("value")],
            lcb=[(value + 1) / 2 for value in columns.pop("value_lcb")],
            pv=[tuple([step.point for step in line]) for line in lines],
            pv_visits=[tuple([step.visits for step in line]) for line in lines],
            pv_node_visits=[tuple([step.node_visits for step in line]) for line in lines],
            **columns,
        )
        return tuple(sorted(found, key=lambda c: (c.point != chosen, -c.play_weight, -c.visits, -c.prior)))

    def ownership_below(self, point: int | None = None) -> tuple[Floats, Floats] | None:
        """Mean and standard deviation [size, size] of the ownership below a root move, or None for the root itself.

        The mean is by the weights of the positions, for the side to move at the root. None where
        `params.node_ownership` did not keep it.
        """
        return self._native.ownership_below(-1 if point is None else point)

    def line(self, point: int, length: int = PV_LENGTH) -> list[LineMove]:
        """The moves of `pv` with their visits."""
        return [LineMove(*move) for move in self._native.pv(point, length)]

    def pv(self, point: int, length: int = PV_LENGTH) -> tuple[int, ...]:
        """The line of the moves to play that begins with this move; empty if it has no visit.

        These are the most visited moves, with puct-katago those of the largest weights to play them.
        """
        return tuple(move.point for move in self.line(point, length))

    def root_evaluation(self) -> RootEvaluation | None:
        """The network's own output for the root; None where the root was kept from an earlier search or waits."""
        found = self._native.root_evaluation()
        if found is None:
            return None
        policy, value, ownership, optional = found
        return RootEvaluation(policy, value, ownership, **optional)

    def choose(self, temperature: float | None = None) -> int | None:
        """The move to play by the params, or with another temperature; None before any move has a visit."""
        point = int(self._native.choose(temperature))
        return None if point < 0 else point

    def policy_target(self) -> Floats:
        """What the search tells the policy [size * size + 1], sum 1: unforced visits, or the improved policy of Gumbel.

        Raises RuntimeError before any move has a visit.
        """
        return self._native.policy_target()

    def text(self, depth: int = 2, min_visits: int = 1) -> str:
        """The tree as text, a line a move: visits, mean value for the player who makes it, prior."""
        return str(self._native.text(depth, min_visits))


def set_root(native: _native.Search, game: Game, restrictions: Sequence[MoveRestriction]) -> None:
    """Give a native search its root, as TreeSearch.set_root."""
    native.set_root(game.native(), [restriction.native() for restriction in restrictions])


def plan(native: _native.Search, simulations: int) -> None:
    """Tell a native search how many simulations will follow; 0 or less stands for its `planned_visits`."""
    native.plan(max(0, min(simulations, _MAX_PLANNED)))


def new_inputs(network: BatchEvaluator, rows: int, edge: int) -> InputBatch:
    """A batch of a search: each row has a share of the optimistic policy where the network has one."""
    batch = network.new_batch(rows, edge)
    return replace(batch, optimism=np.ones(rows, np.float32)) if network.has_optimism else batch


def check_seed(seed: int) -> None:
    """Raise RecipeError for a seed that native code does not take."""
    if not 0 <= seed < 2**64:
        raise RecipeError(f"seed must lie between 0 and 2**64 - 1, not {seed}")


MAX_THREADS = 1024
# A search by playouts alone looks up this often, in seconds.
_SLICE = 0.02
_ENDLESS = 1 << 40
_MAX_PLANNED = (1 << 31) - 1


class TreeSearch(SearchView):
    """One tree and the buffers that carry its positions to an evaluator. `batch` positions go out at a time, by
    default the `search_batch` of the evaluator.

    With selection puct-katago two go out while the tree has less than 48 visits, and then at most one for each 16.

    The search follows `params` alone. For the search that the card of a network advises, which an Engine follows by
    itself, give `SearchParams().advised(evaluator.on(size).advice)`.

    Where the params ask no network, `threads` native threads search by playouts instead, and the evaluator is not used.
    With the same games, evaluator, batch and seed it does the same thing again, with one thread. Not for two threads at
    once, except that the methods of SearchView may be called while another thread runs the search. Raises RecipeError
    for a batch, a seed or a number of threads out of range.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        batch: int | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        if batch is not None and batch < 1:
            raise RecipeError(f"a batch of {batch} positions is impossible: give 1 or more")
        if not 1 <= threads <= MAX_THREADS:
            raise RecipeError(f"{threads} threads cannot search: give 1 to {MAX_THREADS}")
        check_seed(seed)
        self.evaluator = evaluator
        self.params = params or SearchParams()
        super().__init__(_native.Search(self.params.native(), seed))
        self._asked_batch = batch
        self.batch = batch or BatchEvaluator.search_batch  # of the evaluator of the root's board from `set_root` on
        self.threads = threads
        self.evaluations = 0  # positions that the evaluator has seen, or playouts, ever
        self._chosen: BatchEvaluator | None = None  # of the board's size
        # Without rows until the first step: searches that share batches need none.
        self._inputs: InputBatch | None = None

    def set_root(self, game: Game, restrictions: Sequence[MoveRestriction] = ()) -> None:
        """Search this position from now on, with the tree that is known if the game went on from the last root.

        A tree with restrictions below the root is kept only for the same position and restrictions. Raises ValueError
        when no move is left at the root, and NetworkError for a board of a size that the evaluator cannot take.
        """
        chosen = self.evaluator.on(game.size)
        set_root(self._native, game, restrictions)
        if self._inputs is None or self._inputs.edge != game.size:
            self._chosen, self._inputs = chosen, chosen.new_batch(0, game.size)
            self.batch = self._asked_batch or chosen.search_batch

    def plan(self, simulations: int) -> None:
        """Say how many simulations will follow; 0, as after every `set_root`, stands for `params.planned_visits`."""
        plan(self._native, simulations)

    def run(self, visits: int, until: Callable[[], bool] = lambda: False) -> int:
        """Plan and search until the root has `visits`, or until `until()`, asked before each batch, says yes."""
        self.plan(visits - self.visits)
        while (done := self.visits) < visits and not until():
            self.step(visits - done)
        return self.visits

    def step(self, limit: int | None = None) -> int:
        """Run one batch of simulations, at most `limit`; returns the number of positions that were evaluated.

        It is 0 when all simulations ended in finished games, or in a tree that has filled its memory: they count as
        visits all the same. When the evaluator or a plane set of Python fails, the search waits for the same positions
        again: what the batch found of finished games stays, and where params have playouts too, these are played anew.
        A search by playouts alone runs up to `limit` of them, for a short time.
        """
        if self._inputs is None or self._chosen is None:
            raise RuntimeError("the search has no root yet: call set_root first")
        if not self.params.uses_network:
            played = self._native.run(_ENDLESS if limit is None else limit, self.threads, _SLICE)
            self.evaluations += played * self.params.playouts
            return played
        if not len(self._inputs):
            self._inputs = new_inputs(self._chosen, self.batch, self._inputs.edge)
        rows = self.gather(self._inputs, self.batch if limit is None else limit)
        if rows:
            try:
                self.scatter(self._chosen.infer_checked(self._inputs[:rows]))
            except BaseException:
                self.forget_waiting()
                raise
        return rows

    def gather(self, inputs: InputBatch, limit: int) -> int:
        """The first half of a step, for searches that share a batch: write up to `limit` positions into `inputs`.

        Returns how many were written. Either `scatter` with their results or `forget_waiting` comes next.
        """
        written = inputs.gather(self._native, min(limit, self.batch))
        if written.optimism is not None and len(written):
            written.optimism[:] = self.params.policy_optimism
            written.optimism[: self._native.root_waits()] = self.params.root_policy_optimism
        return len(written)

    def scatter(self, result: Evaluation) -> None:
        """The second half of a step: the results of the positions that were written, in their order."""
        if self._chosen is None:
            raise RuntimeError("the search has no root yet: call set_root first")
        self._chosen.scatter(self._native, result)
        self.evaluations += len(result)

    def forget_waiting(self) -> None:
        """Give up the positions of the last gather, as when their evaluation failed."""
        self._native.forget_waiting()
