"""What the published families plain, preact, a0 and mobile have in common: a trunk of layers, and heads to choose from.

The published systems trained on one board size and know no board within a larger tensor. Here a fully convolutional
network takes any board size: points off the board are set to 0 before each convolution. Batch norm counts those points,
so mixed board sizes in one training batch blur its statistics. With `board_size` the network is fixed to that size and
needs no masks; dense heads require it. The scalars of a plane set are not read.
"""

from abc import abstractmethod
from typing import Any, TypeVar

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from tengen.errors import NetworkError
from tengen.networks.blocks import BoardMask
from tengen.networks.interface import Heads, NetConfig, NetOutput
from tengen.networks.layers import ActivationName, Init, Share, initialize, set_norms
from tengen.networks.tower_heads import (
    ActionValuePolicy,
    ActionValuePolicyConfig,
    ConvPolicy,
    ConvPolicyConfig,
    DensePolicy,
    DensePolicyConfig,
    PolicyConfig,
    Territory,
    Value,
    ValueConfig,
)

ConfigT = TypeVar("ConfigT", bound="TowerConfig")


class TowerConfig(NetConfig):
    """Fields of all four families.

    `policy` null gives every move the same logit, for a network that learns the value alone. `dropout` acts on the
    features between trunk and heads, `spatial_dropout` drops whole channels after each layer or block. `init` and
    `init_bias` are first weights and biases. `norm_epsilon` and `norm_momentum` (the weight of a batch in the running
    statistics; 1 less Keras's) belong to batch norm.
    """

    board_size: int | None = Field(None, ge=2, le=25)
    activation: ActivationName = "relu"
    policy: PolicyConfig | None = ConvPolicyConfig()
    value: ValueConfig | None = None
    score: bool = False
    ownership: bool = False
    dropout: Share = 0.0
    spatial_dropout: Share = 0.0
    init: Init = "he"
    init_bias: float = 0.0
    norm_epsilon: float = Field(1e-5, gt=0)
    norm_momentum: float = Field(0.1, gt=0, le=1)

    @property
    def heads(self) -> Heads:
        policy, value = self.policy, self.value
        return Heads(
            pass_move=isinstance(policy, DensePolicyConfig | ActionValuePolicyConfig) and policy.pass_move,
            value=None if value is None else value.output,
            score=self.score,
            ownership=self.ownership,
            maps=() if policy is None else policy.further,
        )

    @property
    def playing_part(self) -> dict[str, Any]:
        return self.model_dump(exclude={"policy": {"maps"}})

    @property
    def board_sizes(self) -> tuple[int, ...] | None:
        return None if self.board_size is None else (self.board_size,)

    @property
    def normalized(self) -> bool:
        """Whether the trunk has batch norm, and so the convolutions of dense heads."""
        return True

    def shrunk(self, edge: int) -> int:
        """The edge of the trunk's features on a board of `edge`."""
        return edge

    def __str__(self) -> str:
        """The fields that were given."""
        given = self.model_dump(exclude_unset=True)
        return " ".join(f"{name}={given[name]}" for name in given)

    @model_validator(mode="after")
    def _consistent(self) -> "TowerConfig":
        policy, value = self.policy, self.value
        shrinks = self.shrunk(19) < 19
        trunk = "dense" if getattr(self, "dense", 0) else "a trunk that shrinks the board"
        fixing = {
            "policy.kind = dense": policy is not None and policy.kind == "dense",
            "policy.kind = action-value": policy is not None and policy.kind == "action-value",
            "policy.bias = point": isinstance(policy, ConvPolicyConfig) and policy.bias == "point",
            "value.kind = dense": value is not None and value.kind == "dense",
            trunk: shrinks,
        }
        for what, there in fixing.items():
            if there and self.board_size is None:
                raise ValueError(f"{what} fixes the network to one board size: give board_size, such as 19")
        if shrinks and self.board_size is not None and self.shrunk(self.board_size) < 1:
            raise ValueError(f"nothing of a {self.board_size}x{self.board_size} board is left after the trunk")
        if shrinks and (isinstance(policy, ConvPolicyConfig) or self.ownership):
            raise ValueError(f"{trunk} takes policy.kind dense, action-value or null, and no ownership")
        return self


class Tower(nn.Module):
    """The base of the families' networks. A subclass makes the trunk and then calls `add_heads`."""

    edge: int | None
    """The only board size that it takes; None takes any."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.edge = config.board_size
        self.family = config.family

    def add_heads(self, config: TowerConfig, channels: int) -> None:
        """Make the heads for features of `channels`, and draw the first weights of the whole network."""
        board = config.board_size or 0
        edge, norm, act = config.shrunk(board), config.normalized, config.activation
        self.drop = nn.Dropout(config.dropout)
        self.policy: ConvPolicy | DensePolicy | ActionValuePolicy | None = None
        if isinstance(config.policy, ConvPolicyConfig):
            self.policy = ConvPolicy(config.policy, channels, board)
        elif isinstance(config.policy, ActionValuePolicyConfig):
            self.policy = ActionValuePolicy(config.policy, channels, edge, board**2, act)
        elif config.policy is not None:
            self.policy = DensePolicy(config.policy, channels, edge, board**2, norm, act)
        self.value = None if config.value is None else Value(config.value, channels, edge, norm, act)
        self.territory = Territory(channels, config.ownership, config.score)
        last = [*(self.policy.last if self.policy else []), *([self.value.output] if self.value else [])]
        initialize(self, config.init, config.init_bias, frozenset([*last, *self.territory.children()]))
        set_norms(self, config.norm_epsilon, config.norm_momentum)

    @abstractmethod
    def trunk(self, planes: Tensor, board: BoardMask) -> Tensor:
        """Features [B, channels, h, w] from planes [B, C, H, W]; they need not be 0 off the board."""

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> NetOutput:
        """planes [B, C, H, W], scalars [B, S] (not read), mask [B, H, W] with 1 on the board.

        Raises NetworkError for another board size than the network is fixed to.
        """
        if self.edge and not torch.onnx.is_in_onnx_export() and planes.shape[2:] != (self.edge, self.edge):
            found = "x".join(map(str, planes.shape[2:]))
            raise NetworkError(f"this network of the family {self.family} takes {self.edge}x{self.edge} boards alone, "
                               f"not {found}")  # fmt: skip
        board = BoardMask.of(mask, full=self.edge is not None)
        x = self.drop(self.trunk(planes, board))
        policy, maps = self.policy(x, board) if self.policy else ((mask - 1).flatten(1) * 1e4, {})
        score, ownership = self.territory(x, board)
        return NetOutput(policy, None if self.value is None else self.value(x, board), score, ownership, maps)
