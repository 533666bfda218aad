"""Scalars that never changed while a network learnt, which it cannot know what to do with.

A self-play run under one rule set shows a network the same ko and suicide rule in every position. What it learns of
their weights is a part of its bias, and under another rule set that part is missing: a network of 7x7 games that gave
Black 95% at komi 0 under the rules that it had learnt gave it 39% under others. So what was constant is moved into the
bias before the network plays: then it plays under all rules as under those that it knows.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

from tengen.networks.blocks import ScalarLinear

Net = TypeVar("Net", bound=nn.Module)


class ScalarRange(nn.Module):
    """The range of each of `count` scalars over all positions that were learnt; a part of what a checkpoint saves."""

    lowest: Tensor
    highest: Tensor

    def __init__(self, count: int) -> None:
        super().__init__()
        self.register_buffer("lowest", torch.full((count,), float("inf")))
        self.register_buffer("highest", torch.full((count,), float("-inf")))

    @torch.no_grad()
    def see(self, scalars: Tensor) -> None:
        """Count the positions of a batch, [B, S]."""
        torch.minimum(self.lowest, scalars.amin(0), out=self.lowest)
        torch.maximum(self.highest, scalars.amax(0), out=self.highest)

    @torch.no_grad()
    def know(self, network: nn.Module) -> None:
        """Count the scalars that a network looks at, which the run begins with, as changing: it learnt them before."""
        for scalar in looked_at(network):
            self.lowest[scalar], self.highest[scalar] = float("-inf"), float("inf")

    @property
    def constant(self) -> dict[int, float]:
        """The scalars that had one value in every position, and that value."""
        same = self.lowest == self.highest
        return {scalar: float(self.lowest[scalar]) for scalar in torch.nonzero(same).flatten().tolist()}


def without_constants(network: Net, constant: Mapping[int, float]) -> Net:
    """A copy that computes the same where the scalars have these values, and does not look at them any more."""
    result = copy.deepcopy(network)
    with torch.no_grad():
        for layer in _layers(result):
            for scalar, value in constant.items():
                column = layer.weight[:, layer.first + scalar]
                layer.bias.add_(column, alpha=value)
                column.zero_()
    return result


def looked_at(network: nn.Module) -> list[int]:
    """The scalars that make a difference to a network."""
    columns = [layer.weight[:, layer.first :].abs().amax(0) for layer in _layers(network)]
    return torch.nonzero(torch.stack(columns).amax(0)).flatten().tolist() if columns else []


def _layers(network: nn.Module) -> Iterator[ScalarLinear]:
    return (part for part in network.modules() if isinstance(part, ScalarLinear))
