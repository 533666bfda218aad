"""The network of a run as it plays, and the check of its network file."""

from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.evaluators.torch import TorchEvaluator
from tengen.networks.constant_inputs import fold_width
from tengen.training.trainer import Trainer

_CHECK_EDGES = (9, 13, 19)
_CHECK_TOLERANCE = 2e-3


def for_play(trainer: Trainer[Any], board_sizes: list[int]) -> nn.Module:
    """A copy of the averaged network as it will play, on boards of other sizes too if it was trained on one alone."""
    network = trainer.playing()
    if len(board_sizes) == 1:
        fold_width(network, board_sizes[0])
    return network


def check_agreement(network: nn.Module, path: Path, planes: int, scalars: int) -> None:
    """Raise NetworkError unless the file computes what the module does, on boards of several sizes in one tensor."""
    torch_side = TorchEvaluator(network, name="module", device="cpu")
    file_side = OpenVinoEvaluator(path, precision="f32", remember=False)
    random = np.random.default_rng(0)
    fixed: int | None = getattr(network, "edge", None)
    for edge in (fixed,) if fixed else _CHECK_EDGES:
        mask = np.ones((2, edge, edge), np.float32)
        if not fixed:
            mask[1, -2:], mask[1, :, -2:] = 0, 0
        shown = (random.random((2, planes, edge, edge), np.float32) < 0.2) * mask[:, None]
        inputs = InputBatch(file_side.plane_set, shown, random.random((2, scalars), np.float32), mask)
        expected, found = torch_side.infer(inputs), file_side.infer(inputs)
        for name in ("policy", "value", "score", "ownership"):
            here, there = getattr(expected, name), getattr(found, name)
            if here is None and there is None:
                continue
            gap = float(np.abs(here - there).max())
            if not gap < _CHECK_TOLERANCE * (20 if name == "score" else 1):
                raise NetworkError(f"{path} differs from the trained network by {gap:.2g} in {name} at {edge}x{edge}")
