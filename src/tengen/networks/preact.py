"""Pre-activation residual networks: BakaGo's versions 2 and 3, the network of its plan B, and RocAlphaGo's policy."""

from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from tengen.networks.blocks import BoardMask
from tengen.networks.layers import Conv, activation
from tengen.networks.tower import Tower, TowerConfig


class PreactConfig(TowerConfig):
    """A first convolution of edge `stem`, batch norm, activation; then `units` of `convs` 3x3 convolutions.

    Each convolution of a unit has batch norm and activation before it; the unit's input is added to the last. Without
    `stem_norm` nothing follows the first convolution. Batch norm and activation follow the last unit with `final_norm`,
    the activation alone with `final_activation`, else neither. `pool` is the edge of a max pooling behind the first
    layer, `average_pool` of an average pooling behind the last unit; 1 for none.
    """

    family: Literal["preact"] = "preact"
    filters: int = Field(128, ge=1)
    units: int = Field(4, ge=1)
    convs: int = Field(2, ge=1)
    stem: Literal[1, 3, 5] = 3
    batch_norm: bool = True
    stem_norm: bool = True
    final_norm: bool = False
    final_activation: bool = False
    pool: int = Field(1, ge=1)
    average_pool: int = Field(1, ge=1)

    @property
    def normalized(self) -> bool:
        return self.batch_norm

    def shrunk(self, edge: int) -> int:
        return edge // self.pool // self.average_pool


class PreactUnit(nn.Module):
    """Some 3x3 convolutions, each after batch norm and an activation, and the sum with what came in."""

    def __init__(self, config: PreactConfig) -> None:
        super().__init__()
        filters = config.filters
        self.norms = nn.ModuleList(_norm(config) for _ in range(config.convs))
        self.convs = nn.ModuleList(Conv(filters, filters, 3) for _ in range(config.convs))

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        y = x
        for norm, conv in zip(self.norms, self.convs, strict=True):
            y = conv(norm(y), board)
        return x + y


class PreactNet(Tower):
    """First convolution, pooling, units, pooling, heads."""

    def __init__(self, config: PreactConfig, planes: int, scalars: int) -> None:
        super().__init__(config)
        final = config.final_norm or config.final_activation
        self.stem = Conv(planes, config.filters, config.stem)
        self.norm = _norm(config) if config.stem_norm else nn.Identity()
        self.units = nn.ModuleList(PreactUnit(config) for _ in range(config.units))
        self.final_norm = _norm(config, norm=config.final_norm) if final else nn.Identity()
        self.drop_channels = nn.Dropout2d(config.spatial_dropout)
        self.pool = nn.MaxPool2d(config.pool) if config.pool > 1 else nn.Identity()
        self.average_pool = nn.AvgPool2d(config.average_pool) if config.average_pool > 1 else nn.Identity()
        self.add_heads(config, config.filters)

    def trunk(self, planes: Tensor, board: BoardMask) -> Tensor:
        x = self.drop_channels(self.pool(self.norm(self.stem(planes, board))))
        for unit in self.units:
            x = self.drop_channels(unit(x, board))
        result: Tensor = self.average_pool(self.final_norm(x))
        return result


def _norm(config: PreactConfig, norm: bool = True) -> nn.Module:
    """Batch norm, where the network has it and `norm`, and the activation."""
    act = activation(config.activation, config.filters)
    return nn.Sequential(nn.BatchNorm2d(config.filters), act) if config.batch_norm and norm else act
