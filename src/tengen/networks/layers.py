"""Layers of the published networks: activations, first weights, convolutions with or without batch norm."""

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from tengen.networks.blocks import BoardMask

ActivationName = Literal["relu", "tanh", "prelu", "silu", "mish"]
Init = Literal["he", "xavier"] | Annotated[float, Field(gt=0)]
"""First weights of convolutions and dense layers: He normal, Xavier uniform, or normal with that deviation."""
Share = Annotated[float, Field(ge=0, lt=1)]

_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU, "mish": nn.Mish}


class PReLU(nn.Module):
    """max(x, 0) + slope * min(x, 0) with slopes of the given shape.

    A network file keeps the slopes under their name, which it does not with nn.PReLU.
    """

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.full(shape, 0.25))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x) - self.slope * torch.relu(-x)


def activation(name: ActivationName, channels: int, points: bool = True) -> nn.Module:
    """The activation of [B, channels, H, W], or of [B, channels] without `points`."""
    if name == "prelu":
        return PReLU(channels, 1, 1) if points else PReLU(channels)
    return _ACTIVATIONS[name]()


class Conv(nn.Sequential):
    """A convolution that keeps the size of the board (odd kernels), with batch norm and an activation where given.

    `parts` names what follows the convolution, in order: "norm" and the name of an activation. `groups` as of
    nn.Conv2d.
    """

    def __init__(
        self, inputs: int, outputs: int, kernel: int, *parts: str, bias: bool = True, groups: int = 1, pad: bool = True
    ) -> None:
        padding = kernel // 2 if pad else 0
        super().__init__(nn.Conv2d(inputs, outputs, kernel, padding=padding, bias=bias, groups=groups))
        for part in parts:
            self.append(nn.BatchNorm2d(outputs) if part == "norm" else activation(part, outputs))  # type: ignore[arg-type]
        self._wide = kernel > 1

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:  # type: ignore[override]
        """x [B, C, H, W]; it need not be 0 off the board."""
        x = board.clip(x) if self._wide else x
        for part in self:
            x = part(x)
        return x


def initialize(network: nn.Module, init: Init, bias: float, last: frozenset[nn.Module]) -> None:
    """Draw the first weights of all convolutions, dense layers and tables; biases become `bias`.

    He's deviation suits layers before an activation: with it, the `last` layers of heads are Xavier.
    """
    for layer in network.modules():
        if not isinstance(layer, nn.Conv2d | nn.Linear | nn.Embedding):
            continue
        if isinstance(init, float):
            nn.init.normal_(layer.weight, std=init)
        elif init == "he" and layer not in last:
            nn.init.kaiming_normal_(layer.weight)
        else:
            nn.init.xavier_uniform_(layer.weight)
        if not isinstance(layer, nn.Embedding) and layer.bias is not None:
            nn.init.constant_(layer.bias, bias)


def set_norms(network: nn.Module, epsilon: float, momentum: float) -> None:
    """Give every batch norm these settings; `momentum` is the weight of a batch in the running statistics."""
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.eps, layer.momentum = epsilon, momentum
