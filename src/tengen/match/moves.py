"""The moves that a player may choose from, and how one of them is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.engine.params import PassPolicy
from tengen.game import AnyGame, DeadStones, native_game

Bools: TypeAlias = NDArray[np.bool_]
Weights: TypeAlias = NDArray[np.floating] | Bools


def allowed_moves(games: Sequence[AnyGame], pass_policy: PassPolicy, dead_stones: DeadStones) -> Bools:
    """[games, size * size + 1]: the legal moves of the sides to play that the policy allows; all boards of one size.

    `free` allows all, `no-legal-move` a pass only when nothing else is legal, `no-useful-move` only when nothing else
    is useful: all moves but own true eyes and, unless `dead_stones` is none, points of pass-alive area of either side.
    With `none` those points stay useful, because stones without life count until they are captured.
    """
    allowed: Bools = _native.allowed_moves([native_game(game) for game in games], pass_policy, dead_stones)
    return allowed


def draw_moves(
    policy: Weights, allowed: Bools, temperature: float, uniform: NDArray[np.float64], random_share: float = 0.0
) -> NDArray[np.intp]:
    """A move for each row of `policy` [B, A] among those `allowed` [B, A].

    With temperature 0 the most likely (the first of equals), else by policy ^ (1 / temperature) and `uniform` [B] in
    [0, 1). A row in which no allowed move has any mass is drawn evenly, and so is the share `random_share` of all rows.
    """
    if random_share > 0:
        evenly = uniform < random_share
        among_all = draw_moves(allowed, allowed, 1.0, np.where(evenly, uniform / random_share, 0))
        rest = np.where(evenly, 0, (uniform - random_share) / max(1 - random_share, 1e-9))
        return np.where(evenly, among_all, draw_moves(policy, allowed, temperature, rest))
    if temperature == 0:
        best: NDArray[np.intp] = np.where(allowed, policy, -1).argmax(axis=1)
        return best
    weights = move_weights(policy, allowed, temperature)
    edges = weights.cumsum(axis=1)
    chosen = np.minimum(uniform * edges[:, -1], np.nextafter(edges[:, -1], 0))
    drawn: NDArray[np.intp] = (edges > chosen[:, None]).argmax(axis=1)
    return drawn


def move_weights(policy: Weights, allowed: Bools, temperature: float) -> NDArray[np.float64]:
    """[B, A]: what each move is drawn by, of any scale above 0; temperature must be above 0."""
    mass = np.where(allowed, policy, 0).astype(np.float64)
    highest = mass.max(axis=1, keepdims=True)
    scaled = np.divide(mass, highest, out=allowed.astype(np.float64), where=highest > 0)
    result: NDArray[np.float64] = scaled ** (1 / temperature)
    return result
