"""The network of the AlphaGo-Zero-like 7x7 system of cody2007: batch norm, dense heads, 7x7 boards and no others.

Five 3x3 convolutions of 128 channels with bias, batch norm and ReLU; the third and the fifth add the output of the
layer two before them ahead of the ReLU. Policy: dense 128, ReLU, dense 49, ReLU, softmax. Value: dense 128 without an
activation, dense 1, tanh. 2,206,898 trained numbers, 30.7 million multiplications a position.
"""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from tengen.errors import NetworkError
from tengen.networks.interface import Heads, NetConfig, NetOutput

EDGE = 7
_DEVIATION = 0.01  # of dense weights at the start


class CodyConfig(NetConfig):
    """`channels` of the convolutions, `layers` of them, `hidden` units of each dense head."""

    family: Literal["cody7x7"] = "cody7x7"
    plane_set: str = "cody3"
    channels: int = 128
    layers: int = 5
    hidden: int = 128

    @property
    def heads(self) -> Heads:
        return Heads(pass_move=False, value="scalar", score=False, ownership=False)

    @property
    def board_sizes(self) -> tuple[int, ...]:
        """The only boards that such a network can take: its heads are dense."""
        return (EDGE,)


class CodyNet(nn.Module):
    """Policy without pass and a scalar value, as the system has them."""

    edge = EDGE

    def __init__(self, config: CodyConfig, planes: int, scalars: int) -> None:
        super().__init__()
        widths = [planes, *[config.channels] * config.layers]
        self.layers = nn.ModuleList(NormedConv(a, b) for a, b in pairwise(widths))
        features = config.channels * EDGE**2
        self.policy = nn.Sequential(dense(features, config.hidden), nn.ReLU(), dense(config.hidden, EDGE**2), nn.ReLU())
        self.value = nn.Sequential(dense(features, config.hidden), dense(config.hidden, 1))

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> NetOutput:
        """planes [B, C, 7, 7], scalars and mask (not read). NetworkError for another size."""
        if not torch.onnx.is_in_onnx_export() and planes.shape[2:] != (EDGE, EDGE):
            edge = planes.shape[-1]
            raise NetworkError(f"a network of the family cody7x7 takes 7x7 alone, not {edge}x{edge}")
        outputs: list[Tensor] = []
        x = planes
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i > 0 and i % 2 == 0:
                x = x + outputs[i - 2]
            x = torch.relu(x)
            outputs.append(x)
        x = x.flatten(1)
        return NetOutput(self.policy(x).float(), torch.tanh(self.value(x).float()).squeeze(1))


class NormedConv(nn.Module):
    """A 3x3 convolution with bias, then batch norm that is shifted but not scaled.

    In training the statistics are the batch's, in play the running ones. The system's own mean of those moved by a
    thousandth a step, and in play it normalised by the batch all the same; ours, which decide in play, move by a
    hundredth.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)
        nn.init.xavier_uniform_(self.conv.weight)
        nn.init.zeros_(self.conv.bias)  # type: ignore[arg-type]
        self.norm = nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.01, affine=False)
        self.shift = nn.Parameter(torch.zeros(outputs, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.norm(self.conv(x)) + self.shift
        return result


def dense(inputs: int, outputs: int) -> nn.Linear:
    """A dense layer with the system's first weights: deviation 0.01, biases around 0.02."""
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=_DEVIATION)
    nn.init.normal_(layer.bias, mean=2 * _DEVIATION, std=_DEVIATION)
    return layer
