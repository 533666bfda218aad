"""The evaluator that knows nothing: equal probabilities and even values. The baseline, and the tool of the tests."""

import numpy as np

from tengen.evaluators.protocol import Evaluation, Floats, empty_evaluation


class UniformEvaluator:
    """Gives every point of the board and pass the same probability, and 0 for value, score and ownership."""

    def __init__(self, plane_set: str = "tengen") -> None:
        self.name = "uniform"
        self.plane_set = plane_set

    def evaluate(self, planes: Floats, scalars: Floats, mask: Floats) -> Evaluation:
        batch, edge, _ = mask.shape
        result = empty_evaluation(batch, edge)
        result.policy[:, :-1] = mask.reshape(batch, -1) > 0
        result.policy[:, -1] = 1
        result.policy[:] /= result.policy.sum(axis=1, keepdims=True, dtype=np.float32)
        return result
