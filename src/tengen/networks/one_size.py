"""What a network that has seen boards of one size only does on the others."""

import torch
from torch import Tensor, nn

from tengen.networks.blocks import GlobalBias, width_factor
from tengen.networks.heads import MoveMap, PolicyHead, ValueHead


@torch.no_grad()
def forget_width(module: nn.Module, edge: int) -> None:
    """Fold, in place, the width of the board out of a network that was trained on boards of `edge` alone.

    Pooling offers the mean of a channel and that mean times a factor of the board's width. On one size the two are the
    same number but for a constant, so training shares their weight out at random; on another size the factor even
    changes its sign. Here all of it goes to the plain mean: nothing changes at `edge`, nothing is guessed elsewhere.
    """
    factor = width_factor(torch.tensor(float(edge)))
    for part in module.modules():
        if isinstance(part, GlobalBias):
            _fold(part.mix.weight, part.view.out_channels, factor)
        elif isinstance(part, PolicyHead):
            _fold(part.passing.weight, part.local.in_channels, factor)
        elif isinstance(part, MoveMap):
            _fold(part.passing.weight, part.passing.in_features // 3, factor)
        elif isinstance(part, ValueHead):
            _fold(part.hidden.weight, part.local.out_channels, factor)


def _fold(weight: Tensor, channels: int, factor: Tensor) -> None:
    """`weight` [outputs, inputs] reads a pooled view of `channels` first: means, scaled means, maxima."""
    scaled = weight[:, channels : 2 * channels]
    weight[:, :channels] += factor * scaled
    scaled.zero_()
