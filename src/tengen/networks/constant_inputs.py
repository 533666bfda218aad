"""Inputs that were constant while a network trained: their weights are arbitrary, so they are folded into the rest.

A self-play run under one rule set has the same ko and suicide rule in every position, so their weights act as a part of
the bias, which is missing under another rule set: a network of 7x7 games that gave Black 95% at komi 0 under its own
rules gave 39% under others. Likewise a network of one board size sees one width. Before a network plays, weights of
constant scalars are moved into the bias and weights of the width into those of the plain mean. Then the network plays
elsewhere as it does under the conditions of its training.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

from tengen.networks.blocks import GlobalBias, ScalarLinear, width_factor
from tengen.networks.heads import KataGoValueHead, MoveMap, PolicyHead, ValueHead

Net = TypeVar("Net", bound=nn.Module)


class ScalarRange(nn.Module):
    """The range of each of `count` scalars over all training positions; a part of what a checkpoint saves."""

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
    def know(self, scalars: Iterable[int]) -> None:
        """Count these scalars as varying: those of the network from which the run starts, which was trained on them."""
        for scalar in scalars:
            self.lowest[scalar], self.highest[scalar] = float("-inf"), float("inf")

    @property
    def constant(self) -> dict[int, float]:
        """The scalars that had one value in every position, and that value."""
        same = self.lowest == self.highest
        return {scalar: float(self.lowest[scalar]) for scalar in torch.nonzero(same).flatten().tolist()}


def without_constants(network: Net, constant: Mapping[int, float]) -> Net:
    """A copy that computes the same where the scalars have these values, and on which they have no effect."""
    result = copy.deepcopy(network)
    fold_scalars(_scalar_layers(result), constant)
    return result


@torch.no_grad()
def fold_scalars(layers: Iterable[ScalarLinear], constant: Mapping[int, float]) -> None:
    """Move, in place, what the scalars of these values give into the bias: any other values change nothing then."""
    for layer in layers:
        for scalar, value in constant.items():
            column = layer.weight[:, layer.first + scalar]
            layer.bias.add_(column, alpha=value)
            column.zero_()


def used_scalars(*parts: nn.Module) -> list[int]:
    """The scalars that affect a network, or these parts of one."""
    layers = [layer for part in parts for layer in _scalar_layers(part)]
    columns = [layer.weight[:, layer.first :].abs().amax(0) for layer in layers]
    return torch.nonzero(torch.stack(columns).amax(0)).flatten().tolist() if columns else []


@torch.no_grad()
def fold_width(module: nn.Module, edge: int) -> None:
    """Remove, in place, the effect of the board's width from a network that was trained on boards of `edge` alone.

    Pooling offers the mean of a channel and that mean times a factor of the width. On one size the two differ by a
    constant factor, so training divides their weight at random; on another size the factor may change its sign. Here
    all of it goes to the plain mean: the outputs at `edge` stay the same.
    """
    factor = width_factor(torch.tensor(float(edge)))
    for part in module.modules():
        if isinstance(part, GlobalBias):
            _fold(part.mix.weight, part.view.out_channels, factor)
        elif isinstance(part, PolicyHead | MoveMap):
            _fold(part.passing.weight, part.passing.in_features // 3, factor)
        elif isinstance(part, ValueHead):
            _fold(part.hidden.weight, part.local.out_channels, factor)
        elif isinstance(part, KataGoValueHead):
            width, weight = part.local.out_channels, part.hidden.weight
            _fold(weight, width, factor)
            weight[:, :width] += (factor.square() - 0.1) * weight[:, 2 * width :]
            weight[:, 2 * width :].zero_()


def _fold(weight: Tensor, channels: int, factor: Tensor) -> None:
    """`weight` [outputs, inputs] reads a pooled view of `channels` first: means, scaled means, maxima."""
    scaled = weight[:, channels : 2 * channels]
    weight[:, :channels] += factor * scaled
    scaled.zero_()


def _scalar_layers(network: nn.Module) -> Iterator[ScalarLinear]:
    return (part for part in network.modules() if isinstance(part, ScalarLinear))
