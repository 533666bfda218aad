"""A player of many games at once: a raw policy, or searches that share their batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.engine.params import SearchParams
from tengen.engine.pool import SearchPool
from tengen.engine.search import SearchView, TreeSearch
from tengen.evaluators.evaluator import Evaluator
from tengen.game import Game
from tengen.match.move_choice import Bools, draw_moves, legal_moves, sensible_moves

_DEFAULT = SearchParams()


@dataclass(frozen=True)
class Player:
    """Who plays: a network, how it searches and how it draws.

    `visits` 1 is the raw policy without search: the most likely legal move, or with `temperature` above 0 one drawn by
    probability ^ (1 / temperature). More visits search by `params`, and a temperature draws by visits ^ (1 / it). The
    player passes when its policy or its search says so, but with `never_pass` only when no sensible move is left
    (`moves.sensible_moves`), and then it makes sensible moves alone. `to_the_end`, which a duel sets where the board
    counts as it stands, to take dead stones is sensible.
    """

    evaluator: Evaluator
    params: SearchParams = _DEFAULT
    visits: int = 1
    temperature: float = 0.0
    never_pass: bool = False
    to_the_end: bool = False

    def __post_init__(self) -> None:
        if self.visits < 1:
            raise ValueError(f"a player with {self.visits} visits cannot move: give 1 (raw policy) or more")
        if self.temperature < 0:
            raise ValueError(f"temperature {self.temperature:g} is impossible: give 0 or more")
        if self.visits == 1 and not self.params.asks_network:
            raise ValueError("a player without a network has no raw policy: give 2 visits or more")

    def allowed(self, games: Sequence[Game]) -> Bools:
        """[games, A]: the moves that it may make, pass the last; all boards of one size."""
        natives = [game._native for game in games]
        return sensible_moves(natives, self.to_the_end) if self.never_pass else legal_moves(natives)


class RawPolicies:
    """The raw policy of a player in many games. Row i of `uniform` [games, plies] decides the draws of game i."""

    def __init__(self, player: Player, uniform: NDArray[np.float64]) -> None:
        self.player = player
        self.evaluations = 0
        self._uniform = uniform

    def moves(self, games: Sequence[Game], numbers: Sequence[int]) -> list[int]:
        """A move in each of the games, which have these numbers."""
        natives = [game._native for game in games]
        policy = self.player.evaluator.evaluate(natives).policy
        self.evaluations += len(natives)
        allowed = self.player.allowed(games)
        uniform = np.zeros(len(natives))
        if self.player.temperature > 0:
            uniform = self._uniform[numbers, [native.move_count for native in natives]]
        return list(map(int, draw_moves(policy, allowed, self.player.temperature, uniform)))


class Searches:
    """A search in each of many games, all of them one batch; those that are not asked rest. Search i has `seeds[i]`."""

    def __init__(self, player: Player, seeds: Sequence[int], threads: int) -> None:
        self.player = player
        self._pool: SearchPool | None = None
        self._trees: list[TreeSearch] = []
        if player.params.asks_network:
            self._pool = SearchPool(player.evaluator, player.params, len(seeds), 1, seeds, threads)
        else:
            self._trees = [TreeSearch(player.evaluator, player.params, 1, seed) for seed in seeds]

    @property
    def evaluations(self) -> int:
        return sum(search.evaluations for search in (self._trees if self._pool is None else [self._pool]))

    def moves(self, games: Sequence[Game], numbers: Sequence[int]) -> list[int]:
        """A move in each of the games, which have these numbers."""
        banned: list[list[int]] = [[] for _ in games]
        if self.player.never_pass:
            banned = [np.flatnonzero(~row).tolist() for row in self.player.allowed(games)]
        if self._pool is None:
            return [self._alone(*each) for each in zip(games, numbers, banned, strict=True)]
        for game, number, avoid in zip(games, numbers, banned, strict=True):
            self._pool.set_root(number, game, avoid=avoid)
        visits = np.zeros(len(self._pool), np.int64)
        visits[list(numbers)] = self.player.visits
        self._pool.run(visits)
        return [self._choose(self._pool[number]) for number in numbers]

    def _alone(self, game: Game, number: int, avoid: Sequence[int]) -> int:
        """A search by playouts gives no positions to a batch."""
        tree = self._trees[number]
        tree.set_root(game, avoid=avoid)
        tree.run(self.player.visits)
        return self._choose(tree)

    def _choose(self, view: SearchView) -> int:
        point = view.choose(self.player.temperature or None)
        assert point is not None, "two visits or more are a move"
        return point
