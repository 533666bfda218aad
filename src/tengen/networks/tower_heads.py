"""Heads of the published networks as separate parts, which the families plain, preact, a0 and mobile share."""

from typing import Annotated, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from tengen.networks.blocks import BoardMask
from tengen.networks.heads import SCORE_SCALE, move_logits
from tengen.networks.layers import ActivationName, Conv, Share, activation


class _HeadConfig(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _PolicyConfig(_HeadConfig):
    maps: int = Field(1, ge=1, le=9)
    """Moves ahead that are predicted in training: `move2` ... `move9` besides the policy."""
    relu: bool = False
    """A ReLU on the logits, as in the appendix of Cazenave's mobile networks. Training may get stuck with it."""

    @property
    def further(self) -> tuple[str, ...]:
        """The names of the further maps."""
        return tuple(f"move{i}" for i in range(2, self.maps + 1))


class ConvPolicyConfig(_PolicyConfig):
    """A convolution to one map of logits; `bias` one number a map, or one a point, which fixes the board size."""

    kind: Literal["conv"] = "conv"
    kernel: Literal[1, 3, 5] = 1
    bias: Literal["none", "map", "point"] = "none"


class DensePolicyConfig(_PolicyConfig):
    """A 1x1 convolution to `channels` (0: none), then a dense layer with a logit a point, and one for `pass_move`.

    `hidden` > 0 adds a dense layer before it, with an activation and `dropout`.
    """

    kind: Literal["dense"] = "dense"
    channels: int = Field(2, ge=0)
    hidden: int = Field(0, ge=0)
    dropout: Share = 0.0
    pass_move: bool = False


class ActionValuePolicyConfig(_HeadConfig):
    """A logit of winning for each move, from the flat features and the move itself (Q network of BetaGo's book).

    The features and the move, as a vector with a single 1, enter a dense layer of `hidden` with the activation; of each
    move it becomes one number.
    """

    kind: Literal["action-value"] = "action-value"
    hidden: int = Field(512, ge=1)
    pass_move: bool = False

    @property
    def further(self) -> tuple[str, ...]:
        """It has no further maps."""
        return ()


class _ValueConfig(_HeadConfig):
    """`output`: tanh in -1..1, one logit whose sigmoid is the probability of a win, or logits of win, draw and loss."""

    output: Literal["scalar", "win-loss", "win-draw-loss"] = "scalar"
    dropout: Share = 0.0


class DenseValueConfig(_ValueConfig):
    """A 1x1 convolution to `channels` (0: none), a dense layer of `hidden`, the output (AlphaGo, AlphaGo Zero)."""

    kind: Literal["dense"] = "dense"
    channels: int = Field(1, ge=0)
    hidden: int = Field(256, ge=1)


class PoolValueConfig(_ValueConfig):
    """The mean of each channel over the board, a dense layer of `hidden`, the output (Cazenave)."""

    kind: Literal["pool"] = "pool"
    hidden: int = Field(50, ge=1)


PolicyConfig = Annotated[ConvPolicyConfig | DensePolicyConfig | ActionValuePolicyConfig, Field(discriminator="kind")]
ValueConfig = Annotated[DenseValueConfig | PoolValueConfig, Field(discriminator="kind")]


class _Flat(nn.Module):
    """The trunk's features [B, channels, edge, edge] as a vector, through a 1x1 convolution to `narrow` unless 0.

    The convolution has batch norm and an activation in a network with batch norm, else neither: of one channel without
    a norm, an activation such as ReLU can stay 0 for ever.
    """

    def __init__(self, channels: int, narrow: int, edge: int, norm: bool, act: ActivationName) -> None:
        super().__init__()
        self.conv = Conv(channels, narrow, 1, *(("norm", act) if norm else ())) if narrow else None
        self.features = (narrow or channels) * edge**2

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        return (x if self.conv is None else self.conv(x, board)).flatten(1)


class ConvPolicy(nn.Module):
    """Logits by a convolution; see ConvPolicyConfig."""

    def __init__(self, config: ConvPolicyConfig, channels: int, edge: int) -> None:
        super().__init__()

        def layer() -> Conv:
            return Conv(channels, 1, config.kernel, bias=config.bias == "map")

        self.point = layer()
        self.point_bias = nn.Parameter(torch.zeros(edge, edge)) if config.bias == "point" else None
        self.maps = nn.ModuleDict({name: layer() for name in config.further})
        self.relu = config.relu

    @property
    def last(self) -> list[nn.Module]:
        """The layers that give logits."""
        return [self.point[0], *(layer[0] for layer in self.maps.values())]  # type: ignore[index]

    def forward(self, x: Tensor, board: BoardMask) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits [B, H * W] of the policy and of the further maps; about -1e4 off the board."""
        return self._logits(self.point, x, board), {name: self._logits(m, x, board) for name, m in self.maps.items()}

    def _logits(self, layer: nn.Module, x: Tensor, board: BoardMask) -> Tensor:
        points = layer(x, board)
        if self.point_bias is not None:
            points = points + self.point_bias
        return move_logits(torch.relu(points) if self.relu else points, None, board)


class DensePolicy(nn.Module):
    """Logits by dense layers; see DensePolicyConfig."""

    def __init__(
        self, config: DensePolicyConfig, channels: int, edge: int, points: int, norm: bool, act: ActivationName
    ) -> None:
        super().__init__()
        self.flat = _Flat(channels, config.channels, edge, norm, act)
        width = config.hidden or self.flat.features
        self.hidden = (
            nn.Sequential(
                nn.Linear(self.flat.features, width), activation(act, width, points=False), nn.Dropout(config.dropout)
            )
            if config.hidden
            else nn.Identity()
        )
        moves = points + config.pass_move
        self.logits = nn.Linear(width, moves)
        self.maps = nn.ModuleDict({name: nn.Linear(width, moves) for name in config.further})
        self.relu = config.relu

    @property
    def last(self) -> list[nn.Module]:
        """The layers that give logits."""
        return [self.logits, *self.maps.values()]

    def forward(self, x: Tensor, board: BoardMask) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits [B, A] of the policy and of the further maps."""
        x = self.hidden(self.flat(x, board))
        return self._logits(self.logits, x), {name: self._logits(layer, x) for name, layer in self.maps.items()}

    def _logits(self, layer: nn.Module, x: Tensor) -> Tensor:
        logits: Tensor = layer(x).float()
        return torch.relu(logits) if self.relu else logits


class ActionValuePolicy(nn.Module):
    """Logits of winning by each move; see ActionValuePolicyConfig.

    A dense layer makes one row of its weights of a vector with a single 1: so a position takes one pass for all moves.
    """

    def __init__(
        self, config: ActionValuePolicyConfig, channels: int, edge: int, points: int, act: ActivationName
    ) -> None:
        super().__init__()
        self.board = nn.Linear(channels * edge**2, config.hidden)
        self.move = nn.Embedding(points + config.pass_move, config.hidden)
        self.activation = activation(act, config.hidden, points=False)
        self.output = nn.Linear(config.hidden, 1)

    @property
    def last(self) -> list[nn.Module]:
        """The layer that gives the logits."""
        return [self.output]

    def forward(self, x: Tensor, board: BoardMask) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits [B, A], and no further maps."""
        hidden = self.activation(self.board(x.flatten(1)).unsqueeze(1) + self.move.weight)
        # As a matrix: of a third dimension the export would fold a transposed copy of the weights.
        logits: Tensor = self.output(hidden.flatten(0, 1)).view(-1, self.move.num_embeddings)
        return logits.float(), {}


class Value(nn.Module):
    """The value; see DenseValueConfig and PoolValueConfig."""

    def __init__(
        self, config: DenseValueConfig | PoolValueConfig, channels: int, edge: int, norm: bool, act: ActivationName
    ) -> None:
        super().__init__()
        self.flat = _Flat(channels, config.channels, edge, norm, act) if config.kind == "dense" else None
        self.hidden = nn.Linear(self.flat.features if self.flat else channels, config.hidden)
        self.activation = activation(act, config.hidden, points=False)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.hidden, 3 if config.output == "win-draw-loss" else 1)
        self.scalar = config.output == "scalar"

    def forward(self, x: Tensor, board: BoardMask) -> Tensor:
        """[B] in -1..1, or logits [B, 1] or [B, 3]; see NetOutput."""
        x = board.mean(x) if self.flat is None else self.flat(x, board)
        out: Tensor = self.output(self.dropout(self.activation(self.hidden(x)))).float()
        return torch.tanh(out).squeeze(1) if self.scalar else out


class Territory(nn.Module):
    """Ownership by a 1x1 convolution with tanh, and the score: its sum and a dense layer on the means of channels."""

    def __init__(self, channels: int, ownership: bool, score: bool) -> None:
        super().__init__()
        self.owner = nn.Conv2d(channels, 1, 1) if ownership else None
        self.score = nn.Linear(channels, 1) if score else None

    def forward(self, x: Tensor, board: BoardMask) -> tuple[Tensor | None, Tensor | None]:
        """(score [B] in points, ownership [B, H, W] in -1..1), None for what the network lacks."""
        owner = None if self.owner is None else torch.tanh(board.clip(self.owner(x)).float()).squeeze(1)
        if self.score is None:
            return None, owner
        score = self.score(board.mean(x)).float().squeeze(1) * SCORE_SCALE
        return score if owner is None else score + owner.sum((1, 2)), owner
