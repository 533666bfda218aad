"""What every network returns."""

from typing import NamedTuple

from torch import Tensor


class NetOutput(NamedTuple):
    """Raw outputs for B positions on a tensor of H x W points, each for its side to move.

    policy [B, H * W + 1]: logits of the points, row by row, then of pass; hugely negative off the board.
    value [B, 3]: logits of win, draw, loss. score [B]: points. ownership [B, H, W]: -1..1, meaningless off the board.
    Heads that serve training alone, as logits [B, H * W + 1]: reply, the opponent's next move; soft, the policy with
    its small probabilities raised. None where the network has no such head.
    """

    policy: Tensor
    value: Tensor
    score: Tensor
    ownership: Tensor
    reply: Tensor | None = None
    soft: Tensor | None = None
