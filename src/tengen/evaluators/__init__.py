"""Evaluators: positions in, probabilities and values out. Backends and wrappers of one contract."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # ONNX Runtime reads it when it is imported

from tengen.evaluators.cached import CachedEvaluator
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, BySizeEvaluator, Evaluator, UniformEvaluator, WrappingEvaluator
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.symmetric import SymmetricEvaluator

__all__ = [
    "BatchEvaluator",
    "BySizeEvaluator",
    "CachedEvaluator",
    "Evaluation",
    "Evaluator",
    "InputBatch",
    "SymmetricEvaluator",
    "UniformEvaluator",
    "WrappingEvaluator",
    "load_evaluator",
]
