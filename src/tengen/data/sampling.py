"""A random part of the games, the same whichever way the work was shared out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def keys(hashes: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """Scatter game hashes by a seed, uint64 [n]: the games with the smallest keys are a random sample (splitmix64)."""
    with np.errstate(over="ignore"):
        z = hashes + _GOLDEN * np.uint64(seed + 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def in_fraction(hashes: npt.NDArray[np.uint64], fraction: float, seed: int) -> npt.NDArray[np.bool_]:
    """Tell which games belong to a random fraction, bool [n]."""
    return np.asarray(keys(hashes, seed).astype(np.float64) < fraction * 2.0**64)


class SampleOf:
    """Keeps the rows of n random games of a stream, at most about 2 n rows at a time."""

    def __init__(self, n: int, seed: int) -> None:
        self.n = n
        self.seed = seed
        self._rows: list[pa.RecordBatch] = []
        self._keys: list[npt.NDArray[np.uint64]] = []

    def add(self, batch: pa.RecordBatch, hashes: npt.NDArray[np.uint64]) -> None:
        """Offer rows."""
        self._rows.append(batch)
        self._keys.append(keys(hashes, self.seed))
        if sum(map(len, self._keys)) > 2 * self.n + (1 << 13):
            self._prune()

    def rows(self) -> list[pa.RecordBatch]:
        """The rows chosen, in the order in which they came."""
        self._prune()
        return self._rows

    def _prune(self) -> None:
        if not self._rows:
            return
        joined = np.concatenate(self._keys)
        chosen = np.sort(np.argsort(joined, kind="stable")[: self.n])
        table = pa.Table.from_batches(self._rows).take(pa.array(chosen))
        self._rows = table.combine_chunks().to_batches()
        self._keys = [joined[chosen]]
