"""Seeds of random draws: 64-bit keys from numbers and the purpose of a draw, and uniform hashes under a key."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen import _native

Words = npt.NDArray[np.uint64]

# Purposes of random draws. Draws for different purposes are independent.
SYMMETRY, PLY, SCORING, KOMI, CHOICE, WITHIN, *ANY_RULES = range(1, 10)


def mix(values: Words, key: int) -> Words:
    """Hash every word [n] with a key, 0 to 2**64 - 1, into 64 uniform bits (splitmix64)."""
    return _native.splitmix64(np.ascontiguousarray(values), key)


def uniform(words: Words, key: int) -> npt.NDArray[np.float64]:
    """Return a number 0 <= u < 1 for every word [n], from the first 53 bits of its hash with the key."""
    return (mix(words, key) >> np.uint64(11)) / 2.0**53


def derive(*words: int) -> int:
    """Hash a few numbers into one 64-bit key."""
    key = 0
    for word in words:
        key = int(mix(np.array([(key ^ word) & 0xFFFFFFFFFFFFFFFF], np.uint64), 1)[0])
    return key
