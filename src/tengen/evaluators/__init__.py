"""Evaluators: positions in, probabilities and values out. Backends and wrappers of one protocol."""

from tengen.evaluators.cached import CachedEvaluator
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.protocol import Evaluation, Evaluator
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.evaluators.uniform import UniformEvaluator

__all__ = [
    "CachedEvaluator",
    "Evaluation",
    "Evaluator",
    "SymmetricEvaluator",
    "UniformEvaluator",
    "load_evaluator",
]
