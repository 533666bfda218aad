"""The moves that a player may choose from, and how one of them is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.game import EMPTY

Bools: TypeAlias = NDArray[np.bool_]
Weights: TypeAlias = NDArray[np.floating] | Bools

Passing = Literal["engine", "free", "settled", "filled"]
"""When a player passes; `PlayerSpec` explains the values."""


def legal_moves(games: Sequence[_native.Game]) -> Bools:
    """[games, A]: the legal moves of the sides to play, pass (the last) always; all boards of one size."""
    area = games[0].size ** 2
    legal = np.zeros((len(games), area + 1), bool)
    for row, game in zip(legal, games, strict=True):
        row[game.legal_points()] = True
    legal[:, area] = True
    return legal


def allowed_moves(games: Sequence[_native.Game], passing: Passing) -> Bools:
    """[games, A]: the legal moves of the sides to play that `passing` allows; all boards of one size.

    `settled` removes own eyes and points of pass-alive area of either side, `filled` own eyes alone: where the board
    counts as it stands, dead stones have to be captured. Both allow a pass only when no other move is left. An own eye
    is an empty point with own stones on all four sides and at most one of the opponent's on the diagonals (none at the
    edge).
    """
    legal = legal_moves(games)
    if passing in ("free", "engine"):
        return legal
    boards = np.stack([game.board() for game in games])
    colors = np.fromiter((game.to_play for game in games), np.int8, len(games))
    open_ = np.True_ if passing == "filled" else np.stack([game.pass_alive() for game in games]) == EMPTY
    sensible = legal[:, :-1] & (open_ & ~own_eyes(boards, colors)).reshape(len(games), -1)
    return np.column_stack([sensible, ~sensible.any(axis=1)])


def own_eyes(boards: NDArray[np.int8], colors: NDArray[np.int8]) -> Bools:
    """[games, size, size]: the eyes of `colors` [games] on `boards` [games, size, size] (0 black, 1 white, 2 empty)."""
    games, size, _ = boards.shape
    off = np.int8(3)
    padded = np.full((games, size + 2, size + 2), off)
    padded[:, 1:-1, 1:-1] = boards

    def beside(rows: int, columns: int) -> NDArray[np.int8]:
        return padded[:, 1 + rows : 1 + rows + size, 1 + columns : 1 + columns + size]

    mine = colors[:, None, None]
    around = [beside(*step) for step in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    corners = [beside(*step) for step in ((-1, -1), (-1, 1), (1, -1), (1, 1))]
    walled = np.all([(part == mine) | (part == off) for part in around], axis=0)
    hostile = np.sum([part == 1 - mine for part in corners], axis=0)
    at_edge = np.any([part == off for part in around], axis=0)
    eyes: Bools = (boards == EMPTY) & walled & (hostile < np.where(at_edge, 1, 2))
    return eyes


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
