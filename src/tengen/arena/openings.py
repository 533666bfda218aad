"""The first moves of a game, the same for both games of a pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tengen.arena.conditions import Conditions
from tengen.arena.player import Player

_EDGE = 2  # a random opening keeps off the two outermost lines of a large board


def opening(conditions: Conditions, number: int, players: Sequence[Player]) -> list[int]:
    """The first moves of a pair, drawn from the first player's policy that has one, by the match's seed.

    Without such a player they are random points off the edge. The same number always has the same opening.
    """
    rng = np.random.default_rng((conditions.seed, number))
    game = conditions.new_game()
    for _ in range(conditions.opening):
        policies = (player.policy(game) for player in players)
        policy = next((p for p in policies if p is not None), None)
        weights = _inner(game.size) if policy is None else policy.astype(np.float64)
        legal = np.array(game.legal_points())
        share = weights[legal]
        game.play(int(rng.choice(legal, p=share / share.sum())))
    return [point for _, point in game.moves]


def _inner(size: int) -> NDArray[np.float64]:
    """Equal weights [size * size + 1] for the points that lie off the edge, none for pass."""
    edge = _EDGE if size >= 9 else 0
    board = np.zeros((size, size))
    board[edge : size - edge, edge : size - edge] = 1
    return np.append(board.ravel(), 0.0)
