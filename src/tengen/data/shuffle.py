"""The order in which positions are drawn: seeded permutations, one for each epoch."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tengen.data.seeds import SYMMETRY, Words, derive, mix, uniform

Ints = npt.NDArray[np.int64]

_ROUNDS = 6


class Permutation:
    """A keyed permutation of range(size), vectorised, with constant time and memory an item.

    A Feistel network permutes the smallest power of two that holds `size`. Results beyond `size` are permuted again
    until they fall inside (cycle walking), so that the mapping stays one to one.
    """

    def __init__(self, size: int, key: int) -> None:
        bits = max(2, (size - 1).bit_length())
        self._size = np.uint64(size)
        self._low_bits = np.uint64(bits // 2)
        self._high_bits = np.uint64(bits - bits // 2)
        self._keys = [derive(key, round_) for round_ in range(_ROUNDS)]

    def __call__(self, items: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of every item of range(size), int64 of the same shape."""
        places = self._scramble(items.astype(np.uint64))
        while (outside := places >= self._size).any():
            places[outside] = self._scramble(places[outside])
        return places.astype(np.int64)

    def _scramble(self, words: Words) -> Words:
        high_bits, low_bits = self._high_bits, self._low_bits
        one = np.uint64(1)
        for key in self._keys:
            # The halves swap every round, and so do their widths when the number of bits is odd.
            high, low = words >> low_bits, words & ((one << low_bits) - one)
            high = (high ^ mix(low, key)) & ((one << high_bits) - one)
            words = low << high_bits | high
            high_bits, low_bits = low_bits, high_bits
        return words


class Shuffle:
    """An endless order of `positions` positions without replacement: every epoch is a new permutation of all of them.

    The position at a place depends on the seed and the place alone.
    """

    def __init__(self, positions: int, seed: int) -> None:
        self.positions = positions
        self.seed = seed

    def __call__(self, places: Ints) -> Ints:
        """Return the positions at some places of the order, int64 of the same shape."""
        epochs = places // self.positions
        drawn = np.empty_like(places)
        for epoch in np.unique(epochs):
            here = epochs == epoch
            drawn[here] = _permutation(self.positions, self.seed, int(epoch))(places[here] % self.positions)
        return drawn

    def chance(self, places: Ints, purpose: int) -> npt.NDArray[np.float64]:
        """Return a number 0 <= u < 1 for every place. Draws for different `purpose` numbers are independent."""
        return uniform(places.astype(np.uint64), derive(self.seed, purpose))

    def symmetries(self, places: Ints) -> Ints:
        """Return a random one of the eight symmetries, 0 to 7, for every place."""
        return np.floor(8 * self.chance(places, SYMMETRY)).astype(np.int64)


@lru_cache(maxsize=8)
def _permutation(size: int, seed: int, epoch: int) -> Permutation:
    return Permutation(size, derive(seed, epoch))
