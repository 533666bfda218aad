"""What networks are built of: masked boards, pooling over a board, scaled convolutions, residual blocks.

There is no batch norm: a layer's scale is kept by standardising its weights, which costs nothing per position (batch
norm took a sixth of the training rate on a CPU), works the same in training and in play, and never sees the points that
lie off the board.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Activation = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Activation] = {"relu": F.relu, "silu": F.silu, "mish": F.mish, "gelu": F.gelu}

# Root mean square 1 in, through ReLU, and out of a standardised layer again (Brock and others, 2021).
_RELU_GAIN = math.sqrt(2.0 / (1.0 - 1.0 / math.pi))
_EPSILON = 1e-4
# Pooled sums grow with the board; this is the edge at which the scaled mean equals 0, between 9 and 19.
_MIDDLE_EDGE = 14.0


def width_factor(edge: Tensor) -> Tensor:
    """What a channel's mean is multiplied by so that a network can tell how wide the board is."""
    return (edge - _MIDDLE_EDGE) / 10.0


@dataclass(frozen=True)
class BoardMask:
    """Which points of the tensor are on each board.

    `cells` [B, 1, H, W] is 1 on the board, or None when every board fills the tensor and nothing needs masking.
    `area` [B, 1] counts the points, `edge` [B, 1] is the width of the board.
    """

    cells: Tensor | None
    area: Tensor
    edge: Tensor

    @staticmethod
    def of(mask: Tensor, full: bool | None = None) -> "BoardMask":
        """From mask [B, H, W]. `full` says whether every board fills the tensor; None looks.

        While a model is traced the masks stay unless `full` is given, so that the file fits every board.
        """
        area = mask.sum((1, 2)).unsqueeze(1)
        if full is None:
            full = mask.is_meta or (not torch.onnx.is_in_onnx_export() and bool((mask > 0).all()))
        return BoardMask(None if full else mask.unsqueeze(1), area, area.sqrt())

    def clip(self, x: Tensor) -> Tensor:
        """x [B, C, H, W] with zeros off the board."""
        return x if self.cells is None else x * self.cells.to(x.dtype)

    def mean(self, x: Tensor) -> Tensor:
        """[B, C]: the mean of each channel of x [B, C, H, W] over the board."""
        return x.mean((2, 3)) if self.cells is None else self.clip(x).sum((2, 3), dtype=torch.float32) / self.area

    def pool(self, x: Tensor) -> Tensor:
        """[B, 3 C] from x [B, C, H, W] that is 0 off the board: mean, mean scaled by the board's width, maximum."""
        mean = x.sum((2, 3), dtype=torch.float32) / self.area
        scaled = mean * width_factor(self.edge)
        inside = x if self.cells is None else x - (1.0 - self.cells.to(x.dtype)) * 1e4
        # The same number; as a pooling layer its way back takes a quarter of the time. A network file keeps ReduceMax.
        highest = inside.amax((2, 3)) if torch.onnx.is_in_onnx_export() else F.adaptive_max_pool2d(inside, 1).flatten(1)
        return torch.cat([mean, scaled, highest.float()], dim=1)


class ScaledConv2d(nn.Conv2d):
    """A convolution whose filters are standardised to mean 0 and a fixed norm, times a learned gain for each output.

    It keeps the size of the board (odd kernels). `gain` is where the learned gain starts.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, gain: float = 1.0) -> None:
        super().__init__(inputs, outputs, kernel, padding=kernel // 2)
        # The scale does not change what is computed, but it sets how far a step of a given length turns a filter.
        nn.init.normal_(self.weight, std=1.0 / math.sqrt(self.weight[0].numel()))
        nn.init.zeros_(self.bias)  # type: ignore[arg-type]
        self.gain = nn.Parameter(torch.full((outputs, 1, 1, 1), gain))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self._conv_forward(x, self.effective_weight(), self.bias)
        return out

    def effective_weight(self) -> Tensor:
        """The standardised filters, as they are applied: (weight - mean) / sqrt(variance * count + epsilon) * gain.

        As a layer norm it is one call each way, which counts in small networks.
        """
        rows = self.weight.permute(0, 2, 3, 1)  # no copy where the weights are channels-last
        count = rows[0].numel()
        # The variance of a layer norm is biased, ours is not.
        normed = F.layer_norm(rows, rows.shape[1:], eps=_EPSILON * (count - 1) / count**2)
        return normed.permute(0, 3, 1, 2) * (self.gain * (_RELU_GAIN * math.sqrt(count - 1) / count))

    @torch.no_grad()
    def set_effective_weight(self, effective: Tensor) -> None:
        """Take filters [outputs, inputs, k, k] of mean 0 as they are to be applied: the inverse of effective_weight."""
        count = effective[0].numel()
        norm = effective.square().sum((1, 2, 3), keepdim=True).sqrt()
        self.weight.copy_(torch.where(norm > 0, effective / norm.clamp(min=1e-30), self.weight))
        # At norm 1 and mean 0 the variance is 1 / (count - 1).
        self.gain.copy_(norm * (math.sqrt(count / (count - 1) + _EPSILON) / _RELU_GAIN))

    def plain(self) -> nn.Conv2d:
        """An ordinary convolution that computes the same, for a network file."""
        conv = nn.Conv2d(self.in_channels, self.out_channels, self.kernel_size, padding=self.padding)  # type: ignore[arg-type]
        with torch.no_grad():
            conv.weight.copy_(self.effective_weight())
            conv.bias.copy_(self.bias)  # type: ignore[union-attr, arg-type]
        return conv


class ResidualBlock(nn.Module):
    """Pre-activation residual block of two 3x3 convolutions; with `pooled` > 0 channels it also sees the whole board.

    `gain` scales the branch at the start, so that a deep stack begins near the identity.
    """

    def __init__(self, channels: int, activation: str, gain: float, pooled: int = 0) -> None:
        super().__init__()
        self.first = ScaledConv2d(channels, channels, 3)
        self.second = ScaledConv2d(channels, channels, 3, gain)
        self.global_bias = GlobalBias(channels, pooled, channels, activation) if pooled else None
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        """x and the result [B, C, H, W]; neither need be 0 off the board."""
        start = board.clip(self.activation(x))
        middle = self.first(start)
        if self.global_bias is not None:
            middle = middle + self.global_bias(start, board)
        result: Tensor = x + self.second(board.clip(self.activation(middle)))
        return result


class NestedBlock(nn.Module):
    """Nested bottleneck of KataGo's networks: two residual blocks between 1x1 convolutions to half of the channels and
    back; with `pooled` > 0 channels the first of them sees the whole board.

    `gain` scales the branch at the start, so that a deep stack begins near the identity.
    """

    def __init__(self, channels: int, activation: str, gain: float, pooled: int = 0) -> None:
        super().__init__()
        inner = channels // 2
        self.reduce = ScaledConv2d(channels, inner, 1)
        self.inner = nn.ModuleList(ResidualBlock(inner, activation, math.sqrt(0.5), view) for view in (pooled, 0))
        self.expand = ScaledConv2d(inner, channels, 1, gain)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        """x and the result [B, C, H, W]; neither need be 0 off the board."""
        middle = self.reduce(self.activation(x))
        for block in self.inner:
            middle = block(middle, board)
        result: Tensor = x + self.expand(self.activation(middle))
        return result


class GlobalBias(nn.Module):
    """A bias for each channel, computed from a pooled view of the whole board."""

    def __init__(self, channels: int, pooled: int, outputs: int, activation: str, kernel: int = 3) -> None:
        super().__init__()
        self.view = ScaledConv2d(channels, pooled, kernel)
        self.mix = linear(3 * pooled, outputs, gain=0.3)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        """[B, outputs, 1, 1] from x [B, C, H, W] that is 0 off the board."""
        return self.bias(self.pooled(x, board))

    def pooled(self, x: Tensor, board: BoardMask) -> Tensor:
        """The pooled view [B, 3 * pooled]."""
        return board.pool(board.clip(self.activation(self.view(x))))

    def bias(self, pooled: Tensor) -> Tensor:
        """[B, outputs, 1, 1] from the pooled view."""
        bias: Tensor = self.mix(pooled)
        return bias[:, :, None, None]


def linear(inputs: int, outputs: int, gain: float = 1.0) -> nn.Linear:
    """A linear layer with bias 0 and weights of deviation gain / sqrt(inputs)."""
    return _scaled(nn.Linear(inputs, outputs), gain)


class ScalarLinear(nn.Linear):
    """A linear layer whose inputs are `others` and then the scalars of the position; weights as linear() gives them."""

    def __init__(self, others: int, scalars: int, outputs: int, gain: float = 1.0) -> None:
        super().__init__(others + scalars, outputs)
        self.first = others
        """The input that is scalar 0."""
        _scaled(self, gain)


def _scaled(layer: nn.Linear, gain: float) -> nn.Linear:
    nn.init.normal_(layer.weight, std=gain / math.sqrt(layer.in_features))
    nn.init.zeros_(layer.bias)
    return layer
