"""The residual family: fully convolutional, with views of the whole board, one network for all board sizes."""

import math
import re
from typing import Any, Literal

from pydantic import field_validator
from torch import Tensor, nn

from tengen.errors import NetworkError
from tengen.networks.blocks import ACTIVATIONS, BoardMask, NestedBlock, ResidualBlock, ScalarLinear, ScaledConv2d
from tengen.networks.heads import KataGoValueHead, PolicyHead, ValueHead
from tengen.networks.interface import Heads, NetConfig, NetOutput

_SIZE = re.compile(r"b([1-9]\d?)c(\d{1,4})(nbt)?")


class ResidualConfig(NetConfig):
    """One dial, `size`, such as b6c96: 6 blocks of 96 channels; all other widths follow from it.

    b6c96nbt has 6 nested bottlenecks as KataGo's networks have, each with two blocks of 48 channels. `stem` is the edge
    of the first convolution. `reply` and `soft` add policies for training alone (see NetOutput). Without `pooling` no
    block of the trunk sees the whole board; the heads still do. `head: katago` makes the heads those of KataGo's
    networks, so that `tengen nets export` can write the network for KataGo.
    """

    family: Literal["residual"] = "residual"
    size: str = "b6c96"
    stem: Literal[3, 5] = 5
    activation: Literal["relu", "silu", "mish", "gelu"] = "relu"
    reply: bool = False
    soft: bool = False
    pooling: bool = True
    head: Literal["tengen", "katago"] = "tengen"

    @field_validator("size")
    @classmethod
    def _well_formed(cls, size: str) -> str:
        match = _SIZE.fullmatch(size)
        if not match or int(match[2]) < 8 or int(match[2]) % (16 if match[3] else 8):
            raise ValueError(
                f"{size!r} is no size: write blocks and channels, a multiple of 8, such as b6c96; for nested "
                "bottlenecks a multiple of 16, such as b6c96nbt"
            )
        return size

    @property
    def heads(self) -> Heads:
        return Heads(maps=tuple(name for name in ("reply", "soft") if getattr(self, name)))

    @property
    def playing_part(self) -> dict[str, Any]:
        return self.model_dump(exclude={"reply", "soft"})

    @property
    def blocks(self) -> int:
        return int(self._parts[1])

    @property
    def channels(self) -> int:
        return int(self._parts[2])

    @property
    def nested(self) -> bool:
        """Whether the blocks are nested bottlenecks."""
        return bool(self._parts[3])

    @property
    def pooling_blocks(self) -> tuple[int, ...]:
        """Which blocks see the whole board: every second, from the second on; of a single block, that one."""
        if not self.pooling:
            return ()
        return tuple(range(1, self.blocks, 2)) or (0,)

    @property
    def pooled(self) -> int:
        """Channels of a pooled view."""
        return max(8, self.channels // 4)

    @property
    def head_width(self) -> int:
        return max(16, self.channels // 2)

    @property
    def hidden(self) -> int:
        """Width of the value head's hidden layer."""
        return max(32, self.channels)

    @property
    def _parts(self) -> re.Match[str]:
        match = _SIZE.fullmatch(self.size)
        assert match is not None
        return match

    def derived(self) -> dict[str, object]:
        """All widths that follow from the dial, to be printed."""
        names = ("blocks", "channels", "pooling_blocks", "pooled", "head_width", "hidden")
        return {name: getattr(self, name) for name in names}


class ResidualNet(nn.Module):
    """Stem, residual blocks, heads. Raises NetworkError for a plane set without scalars."""

    def __init__(self, config: ResidualConfig, planes: int, scalars: int) -> None:
        super().__init__()
        if scalars == 0:
            raise NetworkError("network family 'residual' needs a plane set with one scalar or more, such as komi")
        width, act = config.channels, config.activation
        branch = 1.0 / math.sqrt(config.blocks)
        block = NestedBlock if config.nested else ResidualBlock
        self.stem = ScaledConv2d(planes, width, config.stem)
        self.scalars = ScalarLinear(0, scalars, width)
        self.blocks = nn.ModuleList(
            block(width, act, branch, config.pooled if i in config.pooling_blocks else 0) for i in range(config.blocks)
        )
        katago = config.head == "katago"
        self.policy = PolicyHead(width, config.head_width, act, config.heads.maps, katago)
        self.value = (
            KataGoValueHead(width, config.head_width, config.hidden, act)
            if katago
            else ValueHead(width, scalars, config.head_width, config.hidden, act)
        )
        self.activation = ACTIVATIONS[act]

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> NetOutput:
        """planes [B, C, H, W], scalars [B, S], mask [B, H, W] with 1 on the board."""
        board = BoardMask.of(mask)
        x = self.stem(planes) + self.scalars(scalars)[:, :, None, None]
        for block in self.blocks:
            x = block(x, board)
        x = board.clip(self.activation(x))
        policy, maps = self.policy(x, board.pool(x), board)
        inputs = (x, board) if isinstance(self.value, KataGoValueHead) else (x, scalars, board)
        value, score, ownership = self.value(*inputs)
        return NetOutput(policy, value, score, ownership, maps)
