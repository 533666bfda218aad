"""Counting a position that is played out: which stones are dead, who owns what, and by how much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.data.planes import encode_game
from tengen.engine.result import Count
from tengen.engine.shapes import Shapes
from tengen.evaluators.protocol import Evaluator
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.game import BLACK, EMPTY, Game

Ownership = NDArray[np.float32]

# A chain is dead where the network gives it up by this much and the playouts do not insist on it by the other, or where
# the network leans against it and the playouts are sure. All for the chain's owner, from -1 to 1.
_GIVEN_UP = -0.5
_INSISTED = 0.5
_SURELY_LOST = -0.5
# Playouts confirm a point where the network leans to one side and almost none of them ends with the other.
_LEANING = 0.4
_UNANIMOUS = 0.9


class Counter:
    """Counts by the network's ownership, averaged over the symmetries, and by playouts; by these alone without."""

    def __init__(self, evaluator: Evaluator, playouts: int = 128, seed: int = 0) -> None:
        self._evaluator = SymmetricEvaluator(evaluator, "average")
        self._playouts = playouts
        self._seed = seed

    def count(self, game: Game, ownership: Ownership | None = None) -> Count:
        """Count the position before the passes at the end of `game`.

        `ownership` is what a search found, float32 [size, size] with +1 Black; without it the network is asked.
        """
        position = _before_passes(game)
        playouts = position.ownership_by_playouts(self._playouts, self._seed)
        network = self._ask(position) if ownership is None else ownership
        known = network if network.any() else None
        dead = (
            position.dead_by_playouts(self._playouts, self._seed) if known is None else _dead(position, known, playouts)
        )
        owner = playouts if known is None else _confirmed(known, playouts)
        return Count(position.score(dead), tuple(sorted(dead)), _settled(position, owner), position.owners(dead))

    def _ask(self, game: Game) -> Ownership:
        """The network's ownership of a position, +1 Black; zeros when the evaluator tells none."""
        planes, scalars, mask = encode_game(self._evaluator.plane_set, game)
        mine: Ownership = self._evaluator.evaluate(planes[None], scalars[None], mask[None]).ownership[0]
        return mine if game.to_play == BLACK else -mine


def _before_passes(game: Game) -> Game:
    position = game.copy()
    for _ in range(game.passes):
        position.undo()
    return position


def _dead(game: Game, network: Ownership, playouts: Ownership) -> list[int]:
    alive = game.pass_alive().ravel()
    dead: list[int] = []
    for chain in Shapes(game).chains:
        stones = sorted(chain.stones)
        sign = 1 if chain.color == BLACK else -1
        seen = sign * float(network.ravel()[stones].mean())
        played = sign * float(playouts.ravel()[stones].mean())
        area = alive[stones[0]]
        given_up = (seen < _GIVEN_UP and played < _INSISTED) or (seen < 0 and played < _SURELY_LOST)
        if area == 1 - chain.color or (area == EMPTY and given_up):
            dead += stones
    return dead


def _confirmed(network: Ownership, playouts: Ownership) -> Ownership:
    """The network's ownership, made surer where it leans to the side that nearly all playouts end with."""
    agreed = (network * playouts > 0) & (np.abs(network) >= _LEANING) & (np.abs(playouts) >= _UNANIMOUS)
    return np.where(agreed, np.copysign(np.maximum(np.abs(network), np.abs(playouts)), network), network)


def _settled(game: Game, ownership: Ownership) -> Ownership:
    """The ownership with certainty where the rules alone decide it."""
    alive = game.pass_alive()
    settled: Ownership = np.where(alive == EMPTY, ownership, 1 - 2 * alive.astype(np.float32)).astype(np.float32)
    return settled
