"""Evaluators with scripted answers, for everything above the network."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.evaluation import Floats


class ScriptedEvaluator(BatchEvaluator):
    """The uniform evaluator with what a test wants instead: the same for every position, seen by its side to move.

    `policy` maps points to weights that stand beside a weight of 1 for every other point. `value` may be a function of
    the planes. `ownership` is float32 [n, n]. `delay` seconds are slept for each batch.
    """

    plane_set = "tengen"

    def __init__(
        self,
        policy: dict[int, float] | None = None,
        value: float | Callable[[Floats], Floats] = 0.0,
        score: float = 0.0,
        ownership: NDArray[np.float32] | None = None,
        delay: float = 0.0,
    ) -> None:
        self.name = "scripted"
        self.policy, self.value, self.score = policy or {}, value, score
        self.ownership, self.delay = ownership, delay
        self.calls = 0

    def infer(self, batch: InputBatch) -> Evaluation:
        planes = batch.planes
        self.calls += 1
        time.sleep(self.delay)
        plain = UniformEvaluator().infer(batch)
        policy = plain.policy.copy()
        for point, weight in self.policy.items():
            policy[:, point] *= weight
        policy /= policy.sum(axis=1, keepdims=True)
        value = self.value(planes) if callable(self.value) else np.full(len(plain), self.value, np.float32)
        ownership = plain.ownership if self.ownership is None else np.repeat(self.ownership[None], len(plain), 0)
        return Evaluation(policy, value, np.full(len(plain), self.score, np.float32), ownership)
