"""The mobile networks of Cazenave (2020): inverted bottlenecks with depthwise convolutions, after MobileNetV2."""

from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from tengen.networks.blocks import BoardMask
from tengen.networks.layers import ActivationName, Conv
from tengen.networks.tower import Tower, TowerConfig
from tengen.networks.tower_heads import PoolValueConfig, ValueConfig


class MobileConfig(TowerConfig):
    """A first convolution of edge `stem`, batch norm, activation; then `blocks` bottlenecks.

    A bottleneck widens `filters` to `inner` channels, has a 3x3 convolution for each of these alone, and narrows them
    again; what came in is added, without an activation.
    """

    family: Literal["mobile"] = "mobile"
    blocks: int = Field(40, ge=1)
    filters: int = Field(128, ge=1)
    inner: int = Field(512, ge=1)
    stem: Literal[1, 3, 5] = 1
    value: ValueConfig | None = PoolValueConfig()


class Bottleneck(nn.Module):
    """1x1 expand, 3x3 depthwise, 1x1 squeeze, each with batch norm; activations after the first two; addition."""

    def __init__(self, filters: int, inner: int, act: ActivationName) -> None:
        super().__init__()
        self.expand = Conv(filters, inner, 1, "norm", act, bias=False)
        self.depthwise = Conv(inner, inner, 3, "norm", act, bias=False, groups=inner)
        self.squeeze = Conv(inner, filters, 1, "norm", bias=False)

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        result: Tensor = x + self.squeeze(self.depthwise(self.expand(x, board), board), board)
        return result


class MobileNet(Tower):
    """First convolution, bottlenecks, heads."""

    def __init__(self, config: MobileConfig, planes: int, scalars: int) -> None:
        super().__init__(config)
        self.stem = Conv(planes, config.filters, config.stem, "norm", config.activation)
        self.blocks = nn.ModuleList(
            Bottleneck(config.filters, config.inner, config.activation) for _ in range(config.blocks)
        )
        self.drop_channels = nn.Dropout2d(config.spatial_dropout)
        self.add_heads(config, config.filters)

    def trunk(self, planes: Tensor, board: BoardMask) -> Tensor:
        x: Tensor = self.stem(planes, board)
        for block in self.blocks:
            x = self.drop_channels(block(x, board))
        return x
