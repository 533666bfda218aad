"""Many searches at once, whose positions are evaluated in shared batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.engine.params import SearchParams
from tengen.engine.search import MoveRestriction, SearchView, check_seed, new_inputs, plan, set_root
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.game import Game

Ints: TypeAlias = NDArray[np.int64]
Visits: TypeAlias = int | Sequence[int] | Ints


class SearchPool:
    """`games` searches that share an evaluator and know nothing of each other.

    Each gives `batch_per_game` positions or fewer to a batch and finds exactly what it would find alone, by a
    TreeSearch of the same seed and batch, as long as the evaluator keeps its contract that a row depends on nothing but
    itself; neither the other games nor `threads`, which gather and scatter natively, make a difference. Game i has
    `seed` + i, or the i-th of a list of seeds. Boards may differ in size: the tensors have the edge of the largest that
    their evaluator plays. A game without a root rests.

    Games whose boards have different evaluators go into batches of their own. `pool[i]` is what search i found. Not for
    two threads at once, except that the methods of SearchView may be called while another thread runs it. To evaluate
    one half of the games while the other half gathers, step two pools in two threads.

    The search follows `params` alone, since boards of different sizes may have different cards. For the search that the
    card of a network advises, which an Engine follows by itself, give
    `SearchParams().advised(evaluator.on(size).advice)`.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        games: int = 256,
        batch_per_game: int = 1,
        seed: int | Sequence[int] = 0,
        threads: int = 1,
    ) -> None:
        if games < 1:
            raise ValueError(f"a pool of {games} games is impossible: give 1 or more")
        if batch_per_game < 1:
            raise ValueError(f"a batch of {batch_per_game} positions a game is impossible: give 1 or more")
        seeds = list(seed) if isinstance(seed, Iterable) else [int(seed) + i for i in range(games)]
        if len(seeds) != games:
            raise ValueError(f"a pool of {games} games needs as many seeds, not {len(seeds)}")
        for one in seeds:
            check_seed(one)
        self.evaluator = evaluator
        self.params = params or SearchParams()
        self.batch_per_game = batch_per_game
        self.evaluations = 0  # positions that the evaluator has seen, ever
        self._native = _native.SearchPool(self.params.native(), seeds, threads)
        self._searches = [self._native.search(i) for i in range(games)]
        self._views = [SearchView(search) for search in self._searches]
        self._chosen: list[BatchEvaluator | None] = [None] * games  # of the board of each game; None: it has no root
        self._inputs: dict[BatchEvaluator, InputBatch] = {}

    def __len__(self) -> int:
        return len(self._views)

    def __getitem__(self, i: int) -> SearchView:
        """What search i found: visits, stats, value, pv, choose and all else that a TreeSearch can be asked."""
        return self._views[i]

    @property
    def visits(self) -> Ints:
        """Visits [games] of the roots."""
        visits: Ints = self._native.root_visits()
        return visits

    def set_root(self, i: int, game: Game, restrictions: Sequence[MoveRestriction] = ()) -> None:
        """The position that search i goes on with, as TreeSearch.set_root."""
        chosen = self.evaluator.on(game.size)
        set_root(self._searches[i], game, restrictions)
        self._chosen[i] = chosen
        edge = max(game.size, chosen.only_size or 0)
        if chosen not in self._inputs or self._inputs[chosen].edge < edge:
            self._inputs[chosen] = new_inputs(chosen, len(self) * self.batch_per_game, edge)

    def restart(self, i: int, seed: int) -> None:
        """Make search i as if new with this seed, without a tree; it rests until its next root."""
        self._searches[i].restart(seed)
        self._chosen[i] = None

    def plan(self, i: int, simulations: int) -> None:
        """Say how many simulations will follow for search i, as TreeSearch.plan."""
        plan(self._searches[i], simulations)

    def step(self, limits: Visits | None = None) -> int:
        """One batch for each evaluator that is needed; returns the number of positions that were evaluated.

        Game i runs at most `limits[i]` simulations (one number is for all), and never more than `batch_per_game`, which
        is also what None stands for. When an evaluator or a plane set of Python fails, its searches are as they were
        before the call, as TreeSearch.step says. Raises NetworkError when a result cannot be right: all other games
        have theirs.
        """
        wanted = np.minimum(self.batch_per_game if limits is None else limits, self.batch_per_game)
        if wanted.ndim and len(wanted) != len(self):
            raise ValueError(f"a pool of {len(self)} games needs as many limits, not {len(wanted)}")
        if not self._inputs:
            raise RuntimeError("no game of the pool has a root yet: call set_root first")
        evaluated = 0
        for chosen, inputs in self._inputs.items():
            mine = np.array([one is chosen for one in self._chosen])
            evaluated += self._step(chosen, inputs, np.where(mine, wanted, 0).astype(np.int32))
        return evaluated

    def run(self, visits: Visits) -> None:
        """Step until every game with a root has `visits`, as is planned; those that have them rest meanwhile."""
        playing = np.array([chosen is not None for chosen in self._chosen])
        for i in np.flatnonzero(playing):
            self.plan(int(i), int(np.broadcast_to(visits, len(self))[i]) - self[int(i)].visits)
        while np.any(left := np.where(playing, np.maximum(np.asarray(visits) - self.visits, 0), 0)):
            self.step(left)

    def _step(self, evaluator: BatchEvaluator, inputs: InputBatch, limits: NDArray[np.int32]) -> int:
        if not limits.any():
            return 0
        batch = inputs.gather(self._native, limits)
        if batch.optimism is not None:
            waiting = self._native.waiting()
            batch.optimism[:] = self.params.policy_optimism
            place = np.arange(len(batch)) - np.repeat(np.cumsum(waiting) - waiting, waiting)  # within its game
            batch.optimism[place < np.repeat(self._native.root_waits(), waiting)] = self.params.root_policy_optimism
        if len(batch):
            try:
                evaluator.scatter(self._native, evaluator.infer_checked(batch))
            except BaseException:
                self._native.forget_waiting()
                raise
            self.evaluations += len(batch)
        return len(batch)
