"""A small random network as an .onnx file with a card, and the same network as a torch module, and inputs for them."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from tengen.data.planes import plane_set
from tengen.evaluators import InputBatch
from tengen.evaluators.network_file import Card
from tengen.networks import NetOutput
from tengen.networks.export import export

PLANES, SCALARS = len(plane_set("tengen").planes), len(plane_set("tengen").scalars)


class SmallNet(nn.Module):
    """Two convolutions and a pooled head: enough for every output to depend on every input."""

    def __init__(self, seed: int = 1, width: int = 8) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.first = nn.Conv2d(PLANES, width, 3, padding=1)
        self.scalars = nn.Linear(SCALARS, width)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.points = nn.Conv2d(width, 2, 1)
        self.board = nn.Linear(width, 5)

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> NetOutput:
        cells = mask.unsqueeze(1)
        x = torch.relu(self.first(planes) + self.scalars(scalars)[:, :, None, None]) * cells
        x = torch.relu(self.second(x)) * cells
        points, board = self.points(x), self.board(x.sum((2, 3)) / cells.sum((2, 3)))
        policy = torch.cat([3 * points[:, 0].flatten(1), board[:, :1]], 1)
        return NetOutput(policy, 5 * board[:, 1:4], 10 * board[:, 4], torch.tanh(points[:, 1]))


def write_network(path: Path, module: nn.Module | None = None, name: str = "small") -> Path:
    """Export the module (a SmallNet) with a card."""
    card = Card(name=name, family="small", config={}, plane_set="tengen", board_sizes=[5, 9])
    export(module or SmallNet(), PLANES, SCALARS, path, card.metadata())
    return path


def random_inputs(sizes: list[int], edge: int, seed: int = 0) -> InputBatch:
    """Random planes of boards of these sizes at the top-left of tensors of `edge`."""
    rng = np.random.default_rng(seed)
    mask = np.zeros((len(sizes), edge, edge), np.float32)
    for row, size in enumerate(sizes):
        mask[row, :size, :size] = 1
    planes = (rng.random((len(sizes), PLANES, edge, edge)) < 0.3).astype(np.float32) * mask[:, None]
    return InputBatch("tengen", planes, rng.random((len(sizes), SCALARS), dtype=np.float32), mask)


def card_named(name: str) -> Card:
    """A card of this name; the network need not be as it says."""
    return Card(name=name, family="residual", config={"size": "b2c16"}, plane_set="tengen", board_sizes=[9, 19])
