"""Evaluators made by hand."""

from __future__ import annotations

import hashlib

import numpy as np

from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch


class Checksum(BatchEvaluator):
    """Priors and values drawn from a position alone; `key` makes another such player, `passing` is the mass of pass."""

    plane_set = "tengen"

    def __init__(self, key: str = "", passing: float = 0.02) -> None:
        self.name = f"checksum {key}"
        self.key, self.passing = key.encode(), passing

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, mask = batch.arrays
        result = Evaluation.zeros(*mask.shape[:2])
        for row in range(len(mask)):
            digest = hashlib.sha256(self.key + planes[row].tobytes() + scalars[row].tobytes()).digest()
            drawn = np.random.default_rng(int.from_bytes(digest[:8], "little")).random(mask[row].size + 1, np.float32)
            result.policy[row, :-1] = drawn[:-1] ** 2 * mask[row].ravel()
            result.policy[row, -1] = self.passing
            result.value[row] = 2 * drawn[-1] - 1
        result.policy[:] /= result.policy.sum(axis=1, keepdims=True)
        return result


class Passer(Checksum):
    """Always passes."""

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        result.policy[:] = 0
        result.policy[:, -1] = 1
        return result
