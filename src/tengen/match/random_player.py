"""The weakest player that ends its games."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.engine.clock import Clock
from tengen.game import Game
from tengen.match.player import Choice
from tengen.match.spec import PlayerSpec


class RandomPlayer:
    """Any legal move that does not fill a single-point eye of its own; passes when there is none."""

    def __init__(self, spec: PlayerSpec | None = None) -> None:
        self.name = "random" if spec is None else spec.name
        self._random = np.random.default_rng(0)

    def begin(self, game: Game, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        board = game.board
        points = [p for p in game.legal_points() if not fills_eye(board, p, game.to_play)]
        return Choice(int(self._random.choice(points)) if points else game.size**2)

    def policy(self, game: Game) -> None:
        return None

    def dead(self, game: Game) -> frozenset[int]:
        return frozenset()

    def score(self, game: Game) -> None:
        return None

    def close(self) -> None:
        pass


def fills_eye(board: NDArray[np.int8], point: int, color: int) -> bool:
    """Whether all neighbours of an empty point are stones of this colour."""
    size = len(board)
    row, col = divmod(point, size)
    beside = [(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)]
    return all(board[r, c] == color for r, c in beside if 0 <= r < size and 0 <= c < size)
