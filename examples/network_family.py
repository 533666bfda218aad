"""A network family of your own: convolutions, a policy without pass and one scalar value, as networks before 2017.

    python examples/network_family.py STORE RUN

trains it for 30 steps on a game store and writes RUN/nets/plain-convolutions.onnx.

`FAMILIES.register` makes the family known in this program. An installed package makes it known to all commands by an
entry point in its pyproject.toml::

    [project.entry-points."tengen.networks"]
    plain-convolutions = "my_package.networks:FAMILY"

A recipe then names it: `network: {family: plain-convolutions, channels: 64}`.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn

from tengen.networks import FAMILIES, Family, Heads, NetConfig, NetOutput
from tengen.training.config import RunConfig
from tengen.training.supervised import train


class PlainConfig(NetConfig):
    """The settings that a recipe may give below `network`."""

    family: Literal["plain-convolutions"] = "plain-convolutions"
    channels: int = 32
    layers: int = 4

    @property
    def heads(self) -> Heads:
        """The outputs that the network has. Losses, network file and evaluators follow from it."""
        return Heads(pass_move=False, value="scalar", score=False, ownership=False)


class PlainNet(nn.Module):
    """3x3 convolutions with ReLU; the policy is a 1x1 convolution, the value a linear layer on the mean features."""

    def __init__(self, config: PlainConfig, planes: int, scalars: int) -> None:
        super().__init__()
        widths = [planes, *[config.channels] * config.layers]
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairwise(widths))
        self.policy = nn.Conv2d(config.channels, 1, 1)
        self.value = nn.Linear(config.channels + scalars, 1)

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> NetOutput:
        """planes [B, C, H, W], scalars [B, S], mask [B, H, W] with 1 on the board."""
        board = mask[:, None]
        x = planes
        for layer in self.layers:
            x = torch.relu(layer(x)) * board
        logits = self.policy(x) - 1e4 * (1 - board)
        mean = x.sum((2, 3)) / mask.sum((1, 2))[:, None]
        value = torch.tanh(self.value(torch.cat([mean, scalars], dim=1))).squeeze(1)
        return NetOutput(logits.flatten(1), value)


FAMILY = Family(PlainConfig, PlainNet)


def main(store: str, run: str) -> Path:
    """Train a small network of the family; returns the network file."""
    FAMILIES.register("plain-convolutions", FAMILY)
    recipe = RunConfig.model_validate(
        {
            "name": "plain-convolutions",
            "data": {"store": store, "validation_fraction": 0.2},
            "network": {"family": "plain-convolutions", "channels": 16},
            "training": {
                "steps": 30,
                "batch_size": 32,
                "validate_every": 30,
                "optimizer": {"name": "adamw", "lr": 0.003},
            },
        }
    )
    return train(recipe, Path(run))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(main(sys.argv[1], sys.argv[2]))
