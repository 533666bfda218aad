"""Many searches at once: one batch of positions from all of them, one call of the evaluator, one way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.engine.params import SearchParams
from tengen.engine.search import SearchView, leaf_buffers, plan, scatter
from tengen.evaluators.protocol import Evaluation, Evaluator, Floats, require_size
from tengen.game import Game

Ints: TypeAlias = NDArray[np.int64]
Limits: TypeAlias = int | Sequence[int] | Ints


class SearchPool:
    """`games` searches that share an evaluator and know nothing of each other.

    Each gives `batch_per_game` positions or fewer to a batch and finds exactly what it would find alone, by a
    TreeSearch of the same seed and batch, as long as the evaluator keeps its contract that a row depends on nothing but
    itself; neither the other games nor `threads`, which gather and scatter natively, make a difference. Game i has
    `seed` + i, or the i-th of a list of seeds. Boards may differ in size: the tensors have the edge of the largest, or
    `edge` from the start where it is given. A game without a root rests.

    `pool[i]` is what search i found. For two pools in flight, one evaluated while the other gathers, there are `gather`
    and `scatter`; `step` is the two with the evaluator between. One thread at a time, but for questions.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        games: int = 256,
        batch_per_game: int = 1,
        seed: int | Sequence[int] = 0,
        threads: int = 1,
        edge: int | None = None,
    ) -> None:
        if games < 1:
            raise ValueError(f"a pool of {games} games is impossible: give 1 or more")
        if batch_per_game < 1:
            raise ValueError(f"a batch of {batch_per_game} positions a game is impossible: give 1 or more")
        seeds = [seed + i for i in range(games)] if isinstance(seed, int) else list(seed)
        if len(seeds) != games:
            raise ValueError(f"a pool of {games} games needs as many seeds, not {len(seeds)}")
        self.evaluator = evaluator
        self.params = params or SearchParams()
        self.batch_per_game = batch_per_game
        self.evaluations = 0  # positions that the evaluator has seen, ever
        self._native = _native.SearchPool(self.params.native(), seeds, threads)
        self._searches = [self._native.search(i) for i in range(games)]
        self._views = [SearchView(search) for search in self._searches]
        self._playing = np.zeros(games, bool)  # has a root
        self._edge = 0
        self._buffers: tuple[Floats, Floats, Floats] | None = None
        self._waiting = 0
        if edge is not None:
            self._grow(edge)

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

    @property
    def edge(self) -> int:
        """Of the tensors; 0 before the first root."""
        return self._edge

    def set_root(self, i: int, game: Game, allow: Sequence[int] = (), avoid: Sequence[int] = ()) -> None:
        """The position that search i goes on with, as TreeSearch.set_root. Not between gather and scatter."""
        self._require_nothing_waits()
        require_size(self.evaluator, game.size)
        self._searches[i].set_root(game._native, list(allow), list(avoid))
        self._playing[i] = True
        self._grow(game.size)

    def restart(self, i: int, seed: int) -> None:
        """Make search i as if new with this seed, without a tree; it rests until its next root. Not between gather and
        scatter.
        """
        self._require_nothing_waits()
        self._searches[i].restart(seed)
        self._playing[i] = False

    def plan(self, i: int, simulations: int) -> None:
        """Say how many simulations will follow for search i, as TreeSearch.plan."""
        plan(self._searches[i], simulations)

    def step(self, limits: Limits | None = None) -> int:
        """One batch; returns the number of positions that were evaluated.

        Game i runs at most `limits[i]` simulations (one number is for all), and never more than `batch_per_game`, which
        is also what None stands for. When the evaluator fails, every search is as it was before the call.
        """
        planes, scalars, mask = self.gather(limits)
        if not len(mask):
            return 0
        try:
            result = self.evaluator.evaluate(planes, scalars, mask)
        except BaseException:
            self.forget_waiting()
            raise
        self.scatter(result)
        return len(mask)

    def run(self, visits: Limits) -> None:
        """Step until every game with a root has `visits`, as is planned; those that have them rest meanwhile."""
        for i in np.flatnonzero(self._playing):
            self.plan(int(i), int(np.broadcast_to(visits, len(self))[i]) - self[int(i)].visits)
        while np.any(left := np.where(self._playing, np.maximum(np.asarray(visits) - self.visits, 0), 0)):
            self.step(left)

    def gather(self, limits: Limits | None = None) -> tuple[Floats, Floats, Floats]:
        """Planes [n, C, edge, edge], scalars [n, S] and mask [n, edge, edge] of the next batch, games in order.

        Views that are valid until the next gather; n is 0 when every simulation counted at once. `limits` as in `step`.
        """
        self._require_nothing_waits()
        if self._buffers is None:
            raise RuntimeError("no game of the pool has a root yet: call set_root first")
        wanted = np.minimum(self.batch_per_game if limits is None else limits, self.batch_per_game)
        if wanted.ndim and len(wanted) != len(self):
            raise ValueError(f"a pool of {len(self)} games needs as many limits, not {len(wanted)}")
        chosen = np.where(self._playing, wanted, 0).astype(np.int32)
        planes, scalars, mask = self._buffers
        n = self._waiting = self._native.gather(self.evaluator.plane_set, planes, scalars, mask, chosen)
        return planes[:n], scalars[:n], mask[:n]

    def scatter(self, result: Evaluation) -> None:
        """The results for the rows of the last gather, in their order.

        Raises NetworkError when a result cannot be right: its game is then as it was before the gather, all others have
        their results.
        """
        try:
            scatter(self._native, self.evaluator, result, self._waiting)
            self.evaluations += self._waiting
            self._waiting = 0
        except BaseException:
            self.forget_waiting()
            raise

    def forget_waiting(self) -> None:
        """Give up the positions of the last gather."""
        self._native.forget_waiting()
        self._waiting = 0

    def _grow(self, edge: int) -> None:
        if edge > self._edge:
            self._buffers = leaf_buffers(self.evaluator, len(self) * self.batch_per_game, edge)
            self._edge = edge

    def _require_nothing_waits(self) -> None:
        if self._waiting:
            raise RuntimeError("the positions of the last gather wait for scatter")
