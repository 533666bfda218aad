"""The moves that a player may choose from, and how one of them is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen import _native

Bools: TypeAlias = NDArray[np.bool_]
Weights: TypeAlias = NDArray[np.floating] | Bools

Passing = Literal["engine", "free", "settled", "filled"]
"""When a player passes; `PlayerSpec` explains the values."""


def allowed_moves(games: Sequence[_native.Game], passing: Passing = "free") -> Bools:
    """[games, A]: the legal moves of the sides to play that `passing` allows, pass last; all boards of one size.

    `settled` and `filled` allow useful moves alone (native `Game.useful_moves`), and a pass only when there is none.
    `settled` removes own eyes and points of pass-alive area of either side, `filled` own eyes alone: where the board
    counts as it stands, dead stones have to be captured.
    """
    if passing in ("free", "engine"):
        return _native.allowed_moves(games)
    return _native.allowed_moves(games, "no-useful-move", "none" if passing == "filled" else "pass-alive")


def draw_moves(policy: Weights, allowed: Bools, temperature: float, uniform: NDArray[np.float64]) -> NDArray[np.intp]:
    """A move for each row of `policy` [B, A] among those `allowed` [B, A].

    With temperature 0 the most likely (the first of equals), else by policy ^ (1 / temperature) and `uniform` [B] in
    [0, 1). A row in which no allowed move has any mass is drawn evenly.
    """
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
    most = mass.max(axis=1, keepdims=True)
    scaled = np.divide(mass, most, out=allowed.astype(np.float64), where=most > 0)
    result: NDArray[np.float64] = scaled ** (1 / temperature)
    return result
