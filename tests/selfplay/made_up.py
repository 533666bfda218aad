"""Evaluators made by hand."""

from __future__ import annotations

import hashlib

import numpy as np

from tengen.evaluators.protocol import Evaluation, Floats, empty_evaluation


class Checksum:
    """Priors and values drawn from a position alone; `key` makes another such player, `passing` is the mass of pass."""

    plane_set = "tengen"

    def __init__(self, key: str = "", passing: float = 0.02) -> None:
        self.name = f"checksum {key}"
        self.key, self.passing = key.encode(), passing

    def evaluate(self, planes: Floats, scalars: Floats, mask: Floats) -> Evaluation:
        result = empty_evaluation(*mask.shape[:2])
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

    def evaluate(self, planes: Floats, scalars: Floats, mask: Floats) -> Evaluation:
        result = super().evaluate(planes, scalars, mask)
        result.policy[:] = 0
        result.policy[:, -1] = 1
        return result
