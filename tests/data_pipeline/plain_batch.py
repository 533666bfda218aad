"""What a batch should hold, worked out slowly: boards turned by flips, points looked up on them."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from tengen.data import Batch


def equal(a: Batch, b: Batch) -> bool:
    names = [f.name for f in fields(Batch) if getattr(a, f.name) is not None or getattr(b, f.name) is not None]
    parts = [(getattr(a, name), getattr(b, name)) for name in names if name != "extra"]
    parts += [(a.extra[name], b.extra[name]) for name in a.extra.keys() & b.extra.keys()]
    same_keys = a.extra.keys() == b.extra.keys()
    return same_keys and all(np.array_equal(one, other, equal_nan=True) for one, other in parts)


def turn(board: np.ndarray, symmetry: int) -> np.ndarray:
    board = board[::-1] if symmetry & 1 else board
    board = board[:, ::-1] if symmetry & 2 else board
    return board.T if symmetry & 4 else board


def policy_index(point: int, size: int, symmetry: int, edge: int) -> int:
    if point == size * size:
        return edge * edge
    board = np.zeros(size * size)
    board[point] = 1
    row, column = np.argwhere(turn(board.reshape(size, size), symmetry))[0].tolist()
    return row * edge + column
