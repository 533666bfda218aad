"""The heads: from the trunk's last features to policy, value, score and ownership."""

import torch
from torch import Tensor, nn

from tengen.networks.blocks import ACTIVATIONS, BoardMask, GlobalBias, ScaledConv2d, linear

SCORE_SCALE = 20.0
"""Points that one unit of the score layer stands for."""
OFF_BOARD = -1e4
"""Logit of a point that is not on the board: finite, so that nothing turns into NaN in half precision."""


class PolicyHead(nn.Module):
    """One logit a point by convolutions that see the whole board through a pooled bias, and one for pass."""

    def __init__(self, channels: int, width: int, activation: str) -> None:
        super().__init__()
        self.local = ScaledConv2d(channels, width, 1)
        self.board_bias = GlobalBias(channels, width, width, activation, kernel=1)
        self.point = nn.Conv2d(width, 1, 1, bias=False)
        self.passing = linear(3 * channels, 1, gain=0.1)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, pooled: Tensor, board: BoardMask) -> Tensor:
        """Logits [B, H * W + 1] from x [B, C, H, W] that is 0 off the board, and its pooled form [B, 3 C]."""
        features = self.activation(self.local(x) + self.board_bias(x, board))
        points = self.point(features).float()
        if board.cells is not None:
            points = points + (1.0 - board.cells) * OFF_BOARD
        return torch.cat([points.flatten(1), self.passing(pooled).float()], dim=1)


class ValueHead(nn.Module):
    """Win, draw and loss, the score, and who will own each point.

    What decides a game is a small difference of area: so the sum of the predicted ownership and the scalars, komi among
    them, stand beside the pooled features, and the score starts from that sum.
    """

    def __init__(self, channels: int, scalars: int, width: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.local = ScaledConv2d(channels, width, 1)
        self.hidden = linear(3 * width + 1 + scalars, hidden, gain=1.4)
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
