"""Counting a finished position: dead stones, owners of the points, and the score."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tengen.engine.result import Count
from tengen.engine.shapes import Shapes
from tengen.errors import NetworkError
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.game import BLACK, EMPTY, Game

Ownership = NDArray[np.float32]

Way = Literal["both", "network", "playouts"]
"""What decides which stones are dead: network and playouts, or one of them."""
WAYS: tuple[Way, ...] = get_args(Way)

_PLAYOUTS = 128  # of a position
# A chain is dead where this share of playouts and the rest of network hold it lost. A network that has seen few endings
# to their end is confidently wrong too often to weigh more: docs/log.md has the figures.
_PLAYOUT_SHARE = 0.7
# Playouts confirm a point where the network leans to one side and almost none of them ends with the other.
_LEANING = 0.4
_UNANIMOUS = 0.9


class PositionCounter:
    """Counts by playouts and by the network's ownership, averaged over the symmetries; or by one of them.

    If the network does not predict ownership, playouts decide; by both also where there is none for the board size.
    """

    def __init__(self, evaluator: Evaluator, seed: int = 0) -> None:
        self._evaluator = evaluator
        self._seed = seed

    def count(self, game: Game, ownership: Ownership | None = None, by: Way = "both") -> Count:
        """Count the position before the passes at the end of `game`.

        `ownership` is what a search found, float32 [size, size] with +1 Black; without it the network is asked.
        Raises ValueError for an unknown way to count, NetworkError by `network` where there is none for the board size.
        """
        if by not in WAYS:
            raise ValueError(f"a way to count is {', '.join(WAYS)}, not {by!r}")
        position = game.without_last(game.passes)
        network = ownership
        if network is None and by != "playouts":
            network = self._ask(position, needed=by == "network")
        if by == "network" and network is not None and network.any():
            dead, owner = _lost(position, network), network
        else:
            playouts = position.ownership_by_playouts(_PLAYOUTS, self._seed)
            if by == "playouts" or network is None or not network.any():
                dead, owner = position.dead_by_playouts(_PLAYOUTS, self._seed), playouts
            else:
                dead = _dead(position, network, playouts)
                owner = _agreed(network, playouts, position.owners(dead))
        return Count(position.score(dead), tuple(sorted(dead)), _settled(position, owner), position.owners(dead))

    def _ask(self, game: Game, needed: bool) -> Ownership | None:
        """The network's ownership of a position, the mean over the symmetries, +1 Black; None where it has none, and
        where there is no network for the board size unless it is `needed`."""
        try:
            network = self._evaluator.on(game.size)
        except NetworkError:
            if needed:
                raise
            return None
        evaluator = SymmetricEvaluator(network, "average")
        found = evaluator.infer(evaluator.encoded([game])).ownership
        if found is None:
            return None
        mine: Ownership = found[0]
        return mine if game.to_play == BLACK else -mine


def _mixed(network: Ownership, playouts: Ownership) -> Ownership:
    mixed: Ownership = _PLAYOUT_SHARE * playouts + (1 - _PLAYOUT_SHARE) * network
    return mixed


def _lost(game: Game, ownership: Ownership) -> list[int]:
    """The chains that this ownership gives to the other side, but for what the rules alone decide."""
    alive = game.pass_alive().ravel()
    lost: list[int] = []
    for chain in Shapes(game).chains:
        stones = sorted(chain.stones)
        sign = 1 if chain.color == BLACK else -1
        area = alive[stones[0]]
        if area == 1 - chain.color or (area == EMPTY and sign * float(ownership.ravel()[stones].mean()) < 0):
            lost += stones
    return lost


def _dead(game: Game, network: Ownership, playouts: Ownership) -> list[int]:
    """The chains lost by the mix; one in seki, where playouts are often wrong, lives if the plain mean says so.

    It also lives if reading shows that it cannot be captured.
    """
    dead = _lost(game, _mixed(network, playouts))
    proven, doubtful = set(game.proven_seki(dead)), set(game.dead_or_seki(dead)).intersection(dead)
    if not proven and not doubtful:
        return dead
    alive, certain = game.pass_alive().ravel(), set(_lost(game, network + playouts))
    spared = {p for p in proven | (doubtful - certain) if alive[p] == EMPTY}
    return [p for p in dead if p not in spared]


def _agreed(network: Ownership, playouts: Ownership, owners: NDArray[np.int8]) -> Ownership:
    """The network's ownership, raised where nearly all playouts agree with it, and consistent with the count."""
    alike = (network * playouts > 0) & (np.abs(network) >= _LEANING) & (np.abs(playouts) >= _UNANIMOUS)
    owner = np.where(alike, np.copysign(np.maximum(np.abs(network), np.abs(playouts)), network), network)
    counted = np.where(owners == EMPTY, 0.0, 1.0 - 2.0 * owners)
    agreed: Ownership = np.where(counted * owner < 0, _mixed(network, playouts), owner).astype(np.float32)
    return agreed


def _settled(game: Game, ownership: Ownership) -> Ownership:
    """The ownership with certainty where the rules alone decide it."""
    alive = game.pass_alive()
    settled: Ownership = np.where(alive == EMPTY, ownership, 1 - 2 * alive.astype(np.float32)).astype(np.float32)
    return settled
