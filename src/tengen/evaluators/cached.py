"""A bounded cache of evaluations in front of a slower evaluator."""

import threading
from collections import OrderedDict

import numpy as np
import xxhash

from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, WrappingEvaluator


class CachedEvaluator(WrappingEvaluator):
    """Keeps the results of the last `size` different positions, least recently used out first.

    The key is a 128-bit hash of a row's input, so two positions with the same encoding share a result. An entry of a
    19x19 board takes about 3 KB. `hits` and `misses` count rows.
    """

    def __init__(self, inner: BatchEvaluator, size: int = 20_000) -> None:
        if size < 1:
            raise ValueError(f"a cache of {size} positions is impossible: give 1 or more")
        super().__init__(inner)
        self.size = size
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[bytes, Evaluation] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._entries.clear()

    def infer(self, batch: InputBatch) -> Evaluation:
        keys = [_key(*row) for row in zip(*batch.arrays, self._shares(batch), strict=True)]
        found = self._recall(keys)
        missing = {key: row for row, key in enumerate(keys) if key not in found}
        if missing or not keys:
            result = self.inner.infer(batch[np.fromiter(missing.values(), np.intp)])
            if not keys:
                return result
            # A copy of each row, so that an entry does not keep the whole batch in memory.
            fresh = {key: result.rows(np.array([place])) for place, key in enumerate(missing)}
            self._remember(fresh)
            found |= fresh
        rows = [found[key] for key in keys]
        return Evaluation.joined(rows) if len(rows) > 1 else rows[0].rows(np.array([0]))

    def _shares(self, batch: InputBatch) -> Floats:
        """The share of the optimistic policy in each row, which is part of its key."""
        if batch.optimism is not None and self.has_optimism:
            return batch.optimism
        return np.full(len(batch), self.policy_optimism, np.float32)

    def _recall(self, keys: list[bytes]) -> dict[bytes, Evaluation]:
        with self._lock:
            found = {key: self._entries[key] for key in keys if key in self._entries}
            for key in found:
                self._entries.move_to_end(key)
            known = sum(key in found for key in keys)
            self.hits += known
            self.misses += len(keys) - known
        return found

    def _remember(self, fresh: dict[bytes, Evaluation]) -> None:
        with self._lock:
            self._entries.update(fresh)
            while len(self._entries) > self.size:
                self._entries.popitem(last=False)


def _key(planes: Floats, scalars: Floats, mask: Floats, share: np.float32) -> bytes:
    digest = xxhash.xxh3_128(np.ascontiguousarray(planes).data)
    digest.update(np.ascontiguousarray(scalars).data)
    digest.update(np.ascontiguousarray(mask).data)
    digest.update(share.tobytes())
    return digest.digest()
