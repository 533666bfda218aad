"""Plain stacks of convolutions: BetaGo, BakaGo's first networks, DarkForest, Deep-Go, AlphaGo 2016."""

import re
from itertools import pairwise
from typing import Literal

from pydantic import Field, field_validator
from torch import Tensor, nn

from tengen.networks.blocks import BoardMask
from tengen.networks.layers import Conv, activation
from tengen.networks.tower import Tower, TowerConfig

_LAYERS = re.compile(r"(?:(\d+) ?\* ?)?([1357])x\2x(\d+)")


class PlainConfig(TowerConfig):
    """`convs` are the convolutions in order, such as `5x5x92` or `10 * 3x3x384`: times, kernel, filters.

    `batch_norm` stands before or after the activation of each. Without padding (`valid`) a 3x3 convolution shrinks the
    board by 2. `pool` is the edge of a max pooling at the end, 1 for none. `dense` is the width of a dense layer behind
    it, with the activation, which the heads share; 0 for none.
    """

    family: Literal["plain"] = "plain"
    convs: tuple[str, ...] = ("6 * 3x3x64",)
    padding: Literal["same", "valid"] = "same"
    batch_norm: Literal["before", "after"] | None = None
    pool: int = Field(1, ge=1)
    dense: int = Field(0, ge=0)

    @field_validator("convs")
    @classmethod
    def _well_formed(cls, convs: tuple[str, ...]) -> tuple[str, ...]:
        for text in convs:
            match = _LAYERS.fullmatch(text)
            if not match or not int(match[3]) or match[1] == "0":
                raise ValueError(
                    f"{text!r} is no convolution: write kernel and filters, such as 5x5x92 or 10 * 3x3x384"
                )
        if not convs:
            raise ValueError("give one convolution or more, such as 3x3x64")
        return convs

    @property
    def layers(self) -> list[tuple[int, int]]:
        """(kernel, filters) of each convolution."""
        matches = [_LAYERS.fullmatch(text) for text in self.convs]
        return [(int(m[2]), int(m[3])) for m in matches if m for _ in range(int(m[1] or 1))]

    @property
    def normalized(self) -> bool:
        return self.batch_norm is not None

    def shrunk(self, edge: int) -> int:
        # One point, which the dense layer makes of any board of which something is left.
        return min(self.pooled(edge), 1) if self.dense else self.pooled(edge)

    def pooled(self, edge: int) -> int:
        """The edge of the features behind the max pooling on a board of `edge`."""
        lost = sum(kernel - 1 for kernel, _ in self.layers) if self.padding == "valid" else 0
        return (edge - lost) // self.pool


class PlainNet(Tower):
    """Convolutions, each with its activation; max pooling; a dense layer; heads."""

    def __init__(self, config: PlainConfig, planes: int, scalars: int) -> None:
        super().__init__(config)
        act = config.activation
        parts = {None: (act,), "before": ("norm", act), "after": (act, "norm")}[config.batch_norm]
        widths = [planes, *(filters for _, filters in config.layers)]
        self.convs = nn.ModuleList(
            Conv(inputs, outputs, kernel, *parts, pad=config.padding == "same")
            for (inputs, outputs), (kernel, _) in zip(pairwise(widths), config.layers, strict=True)
        )
        self.drop_channels = nn.Dropout2d(config.spatial_dropout)
        self.pool = nn.MaxPool2d(config.pool) if config.pool > 1 else nn.Identity()
        self.dense: nn.Sequential | None = None
        if config.dense:
            features = widths[-1] * config.pooled(config.board_size or 0) ** 2
            self.dense = nn.Sequential(nn.Linear(features, config.dense), activation(act, config.dense, points=False))
        self.add_heads(config, config.dense or widths[-1])

    def trunk(self, planes: Tensor, board: BoardMask) -> Tensor:
        x = planes
        for conv in self.convs:
            x = self.drop_channels(conv(x, board))
        result: Tensor = self.pool(x)
        return result if self.dense is None else self.dense(result.flatten(1))[:, :, None, None]
