"""The hash that names a game, whichever way round the board was held."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import numpy.typing as npt

from tengen.data.record import WHITE_BIT

_SYMMETRIES = 8


@cache
def symmetry_table(size: int) -> npt.NDArray[np.uint16]:
    """Where each symmetry takes each point, uint16 [8, size * size + 1]; pass stays pass.

    Bit 0 flips rows, bit 1 flips columns, bit 2 transposes, in that order.
    """
    grid = np.arange(size * size).reshape(size, size)
    table = np.empty((_SYMMETRIES, size * size + 1), np.uint16)
    for s in range(_SYMMETRIES):
        rows, columns = np.indices((size, size))
        rows = size - 1 - rows if s & 1 else rows
        columns = size - 1 - columns if s & 2 else columns
        table[s, :-1] = (grid[columns, rows] if s & 4 else grid[rows, columns]).ravel()
    table[:, -1] = size * size
    return table


def game_hash(
    size: int, moves: npt.NDArray[np.uint16], black_stones: npt.NDArray[np.uint16], white_stones: npt.NDArray[np.uint16]
) -> int:
    """Hash size, setup and moves to 64 bits; the same for all eight symmetries of a game."""
    table = symmetry_table(size)
    points, colors = moves & np.uint16(WHITE_BIT - 1), moves & np.uint16(WHITE_BIT)
    turned = table[:, points] | colors
    keys = [row.tobytes() for row in turned]
    if len(black_stones) or len(white_stones):
        setups = (np.sort(table[:, stones], axis=1) for stones in (black_stones, white_stones))
        keys = [b"|".join((b.tobytes(), w.tobytes(), k)) for b, w, k in zip(*setups, keys, strict=True)]
    return int.from_bytes(hashlib.blake2b(bytes([size]) + min(keys), digest_size=8).digest(), "little")


class HashSet:
    """A growing set of 64-bit hashes at about eight bytes each: one sorted array, and a small set of the newest."""

    def __init__(self, newest: int = 1 << 18) -> None:
        self._sorted = np.empty(0, np.uint64)
        self._newest: set[int] = set()
        self._limit = newest

    def __len__(self) -> int:
        return len(self._sorted) + len(self._newest)

    def holds(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Tell which hashes are in the set, bool [n]."""
        held = np.array([value in self._newest for value in hashes.tolist()], np.bool_)
        if len(self._sorted):
            places = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
            held |= self._sorted[places] == hashes
        return held

    def add(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Add hashes; tell which of them were new, bool [n]. A second copy within `hashes` is not new."""
        fresh = ~self.holds(hashes)
        for i, value in enumerate(hashes.tolist()):
            fresh[i] &= value not in self._newest
            if fresh[i]:
                self._newest.add(value)
        if len(self._newest) >= self._limit:
            newest = np.fromiter(self._newest, np.uint64, len(self._newest))
            self._sorted = np.sort(np.concatenate([self._sorted, newest]))
            self._newest = set()
        return fresh
