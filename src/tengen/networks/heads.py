"""The heads: from the trunk's last features to policy, value, score and ownership."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from tengen.networks.blocks import (
    ACTIVATIONS,
    BoardMask,
    GlobalBias,
    ScalarLinear,
    ScaledConv2d,
    linear,
    width_factor,
)

SCORE_SCALE = 20.0
"""Points that one unit of the score layer stands for."""
OFF_BOARD = -1e4
"""Logit of a point that is not on the board: finite, so that nothing turns into NaN in half precision."""


class MoveMap(nn.Module):
    """The last layer of a policy: a logit a point and one for pass."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.point = nn.Conv2d(width, 1, 1, bias=False)
        self.passing = linear(3 * channels, 1, gain=0.1)

    def forward(self, features: Tensor, pooled: Tensor, board: BoardMask) -> Tensor:
        """Logits [B, H * W + 1] from features [B, width, H, W] and the pooled trunk [B, 3 C]."""
        return move_logits(self.point(features), self.passing(pooled), board)


class PolicyHead(nn.Module):
    """One logit a point by convolutions that see the whole board through a pooled bias, and one for pass.

    `maps` names further maps of the same features, for training alone. With `katago` the pass logit comes from the
    pooled view of that bias, as in KataGo's networks, else from the pooled trunk.
    """

    def __init__(
        self, channels: int, width: int, activation: str, maps: Sequence[str] = (), katago: bool = False
    ) -> None:
        super().__init__()
        self.katago = katago
        channels, trunk = (width if katago else channels), channels
        self.local = ScaledConv2d(trunk, width, 1)
        self.board_bias = GlobalBias(trunk, width, width, activation, kernel=1)
        self.point = nn.Conv2d(width, 1, 1, bias=False)
        self.passing = linear(3 * channels, 1, gain=0.1)
        self.activation = ACTIVATIONS[activation]
        self.maps = nn.ModuleDict({name: MoveMap(channels, width) for name in maps})

    def forward(self, x: Tensor, pooled: Tensor, board: BoardMask) -> tuple[Tensor, dict[str, Tensor]]:
        """The policy and the further maps, each as logits [B, H * W + 1].

        x [B, C, H, W] is 0 off the board, `pooled` [B, 3 C] its pooled form.
        """
        view = self.board_bias.pooled(x, board)
        features = self.activation(self.local(x) + self.board_bias.bias(view))
        if self.katago:
            pooled = view
        policy = move_logits(self.point(features), self.passing(pooled), board)
        return policy, {name: part(features, pooled, board) for name, part in self.maps.items()}


def move_logits(points: Tensor, passing: Tensor | None, board: BoardMask) -> Tensor:
    """Logits [B, H * W + 1] of points [B, 1, H, W], hugely negative off the board, and of pass [B, 1].

    Without pass [B, H * W].
    """
    points = points.float()
    if board.cells is not None:
        points = points + (1.0 - board.cells) * OFF_BOARD
    flat = points.flatten(1)
    return flat if passing is None else torch.cat([flat, passing.float()], dim=1)


class ValueHead(nn.Module):
    """Win, draw and loss, the score, and who will own each point.

    What decides a game is a small difference of area: so the sum of the predicted ownership and the scalars, komi among
    them, stand beside the pooled features, and the score starts from that sum.
    """

    def __init__(self, channels: int, scalars: int, width: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.local = ScaledConv2d(channels, width, 1)
        self.hidden = ScalarLinear(3 * width + 1, scalars, hidden, gain=1.4)
        self.outcome = linear(hidden, 3, gain=0.1)
        self.score = linear(hidden, 1, gain=0.1)
        self.owner = nn.Conv2d(width, 1, 1, bias=False)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, scalars: Tensor, board: BoardMask) -> tuple[Tensor, Tensor, Tensor]:
        """(value logits [B, 3], score [B] in points, ownership [B, H, W]).

        x [B, C, H, W] is 0 off the board; scalars [B, S] are those of the position.
        """
        features = board.clip(self.activation(self.local(x)))
        ownership = torch.tanh(board.clip(self.owner(features)).float())
        area = ownership.sum((2, 3)) / SCORE_SCALE
        hidden = self.activation(self.hidden(torch.cat([board.pool(features), area, scalars], dim=1)))
        score = (self.score(hidden).float() + area).squeeze(1) * SCORE_SCALE
        return self.outcome(hidden).float(), score, ownership.squeeze(1)


class KataGoValueHead(nn.Module):
    """The value head of KataGo's networks: from the means of channels alone, without the scalars."""

    def __init__(self, channels: int, width: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.local = ScaledConv2d(channels, width, 1)
        self.hidden = linear(3 * width, hidden, gain=1.4)
        self.outcome = linear(hidden, 3, gain=0.1)
        self.score = linear(hidden, 1, gain=0.1)
        self.owner = nn.Conv2d(width, 1, 1, bias=False)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, board: BoardMask) -> tuple[Tensor, Tensor, Tensor]:
        """(value logits [B, 3], score [B] in points, ownership [B, H, W]) from x [B, C, H, W], 0 off the board."""
        features = board.clip(self.activation(self.local(x)))
        ownership = torch.tanh(board.clip(self.owner(features)).float())
        mean, factor = board.mean(features).float(), width_factor(board.edge)
        pooled = torch.cat([mean, mean * factor, mean * (factor.square() - 0.1)], dim=1)
        hidden = self.activation(self.hidden(pooled))
        score = self.score(hidden).float().squeeze(1) * SCORE_SCALE
        return self.outcome(hidden).float(), score, ownership.squeeze(1)
