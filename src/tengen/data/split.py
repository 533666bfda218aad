"""Which games train and which validate, and a random fraction of games, both by the hashes of the games."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tengen.data.seeds import Words, mix
from tengen.errors import unknown_name

Split = Literal["train", "validation", "all"]

_SPLIT_KEY = 0x7E29E5


def choose(hashes: Words, split: Split, fraction: float) -> npt.NDArray[np.bool_]:
    """Return which games belong to a split, bool [games], from their hashes alone.

    About `fraction` of all games are for validation. A game and its rotations and reflections are always in the same
    split, whatever else the store holds. Raises ValueError for another split and a fraction outside 0 to 1.
    """
    if split not in get_args(Split):
        raise ValueError(unknown_name("split", split, get_args(Split)))
    if not 0 <= fraction <= 1:
        raise ValueError(f"validation_fraction must be 0 to 1, not {fraction:g}")
    if split == "all":
        return np.ones(len(hashes), np.bool_)
    validates = mix(hashes, _SPLIT_KEY) < np.uint64(min(int(fraction * 2.0**64), 2**64 - 1))
    return validates if split == "validation" else ~validates


def in_fraction(hashes: npt.NDArray[np.uint64], fraction: float, seed: int) -> npt.NDArray[np.bool_]:
    """Return which games belong to a random fraction, bool [n], from their hashes and the seed."""
    return np.asarray(mix(hashes, seed).astype(np.float64) < fraction * 2.0**64)
