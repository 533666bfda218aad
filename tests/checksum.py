"""An evaluator that no network stands behind: everything is drawn from the position alone."""

from __future__ import annotations

import threading
import zlib

import numpy as np

from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch
from tengen.evaluators.evaluation import Floats


class Checksum(BatchEvaluator):
    """Priors, values and owners that depend on nothing but the row. After `fail_after` calls it fails."""

    name, plane_set = "checksum", "tengen"

    def __init__(self, fail_after: int | None = None) -> None:
        self.calls = 0
        self.rows = 0
        self.inside = 0
        self.most_inside = 0
        self._fail_after = fail_after
        self._lock = threading.Lock()

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, mask = batch.arrays
        with self._lock:
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            self.calls += 1
            self.rows += len(mask)
        if self._fail_after is not None and self.calls > self._fail_after:
            raise OSError("the evaluator has had enough")
        result = Evaluation.zeros(len(mask), mask.shape[-1])
        for row in range(len(mask)):
            _fill(result, row, planes[row], scalars[row], int(mask[row, 0].sum()))
        with self._lock:
            self.inside -= 1
        return result


def _fill(result: Evaluation, row: int, planes: Floats, scalars: Floats, size: int) -> None:
    edge = result.ownership.shape[-1]
    key = zlib.crc32(scalars.tobytes(), zlib.crc32(np.ascontiguousarray(planes[:, :size, :size]).tobytes()))
    drawn = (np.arange(2 * size * size, dtype=np.uint64) + np.uint64(key)) * np.uint64(0x9E3779B97F4A7C15)
    even = (drawn >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
    points = even[: size * size].reshape(size, size)
    result.policy[row, :-1].reshape(edge, edge)[:size, :size] = points**2
    result.policy[row, -1] = 0.05
    result.value[row] = 2 * even[-1] - 1
    result.score[row] = 5 * result.value[row]
