"""Residual networks with batch norm: AlphaGo Zero, ELF OpenGo, Leela Zero, and those of Cazenave and of his Golois."""

from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from tengen.networks.blocks import BoardMask
from tengen.networks.layers import ActivationName, Conv, activation
from tengen.networks.tower import Tower, TowerConfig
from tengen.networks.tower_heads import DensePolicyConfig, PolicyConfig, PoolValueConfig, ValueConfig


class A0Config(TowerConfig):
    """A first convolution of edge `stem`, batch norm, activation; then `blocks` of two 3x3 convolutions of `filters`.

    With `batch_norm: each` every convolution has one, and the activation of the second follows the addition. With
    `after-addition` (Golois) both convolutions have their activation, and one batch norm follows the addition.
    """

    family: Literal["a0"] = "a0"
    blocks: int = Field(20, ge=1)
    filters: int = Field(256, ge=1)
    stem: Literal[1, 3, 5] = 3
    batch_norm: Literal["each", "after-addition"] = "each"
    policy: PolicyConfig | None = DensePolicyConfig()
    value: ValueConfig | None = PoolValueConfig()


class A0Block(nn.Module):
    """conv, norm, activation, conv, norm, addition, activation; or conv, activation, conv, activation, addition, norm.

    The second form is for `norm_last`.
    """

    def __init__(self, filters: int, act: ActivationName, norm_last: bool) -> None:
        super().__init__()
        self.first = Conv(filters, filters, 3, *(() if norm_last else ("norm",)), act)
        self.second = Conv(filters, filters, 3, act if norm_last else "norm")
        self.end = nn.BatchNorm2d(filters) if norm_last else activation(act, filters)

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        result: Tensor = self.end(x + self.second(self.first(x, board), board))
        return result


class A0Net(Tower):
    """First convolution, blocks, heads."""

    def __init__(self, config: A0Config, planes: int, scalars: int) -> None:
        super().__init__(config)
        filters, act = config.filters, config.activation
        self.stem = Conv(planes, filters, config.stem, "norm", act)
        norm_last = config.batch_norm == "after-addition"
        self.blocks = nn.ModuleList(A0Block(filters, act, norm_last) for _ in range(config.blocks))
        self.drop_channels = nn.Dropout2d(config.spatial_dropout)
        self.add_heads(config, filters)

    def trunk(self, planes: Tensor, board: BoardMask) -> Tensor:
        x: Tensor = self.stem(planes, board)
        for block in self.blocks:
            x = self.drop_channels(block(x, board))
        return x
