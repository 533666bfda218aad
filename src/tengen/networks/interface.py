"""What every network family provides: a configuration that declares its heads, and a module that returns NetOutput."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict
from torch import Tensor


@dataclass(frozen=True)
class Heads:
    """The outputs that a network has; losses, network file and evaluators follow from it. The policy is always there.

    pass_move: the policy has a logit for pass. value: three logits of win, draw and loss, one scalar in -1..1, or None.
    maps: further logits over moves, which serve training alone and are not part of a network file.
    """

    pass_move: bool = True
    value: Literal["win-draw-loss", "scalar"] | None = "win-draw-loss"
    score: bool = True
    ownership: bool = True
    maps: tuple[str, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs of a network file, in their order."""
        there = {"policy": True, "value": self.value, "score": self.score, "ownership": self.ownership}
        return tuple(name for name, has in there.items() if has)

    def has(self, head: str) -> bool:
        """Whether there is an output or a map of this name."""
        return head in self.outputs or head in self.maps


class NetOutput(NamedTuple):
    """Raw outputs for B positions on a tensor of H x W points, each for its side to move; None where there is no head.

    policy [B, H * W + 1]: logits of the points, row by row, then of pass; about -1e4 off the board. Without pass
    [B, H * W]. value [B, 3]: logits of win, draw, loss; or [B]: scalar in -1..1. score [B]: points.
    ownership [B, H, W]: -1..1, undefined off the board. maps: further logits as of the policy, by name, such as `reply`
    (the opponent's next move) and `soft` (the policy with its small probabilities raised).
    """

    policy: Tensor
    value: Tensor | None = None
    score: Tensor | None = None
    ownership: Tensor | None = None
    maps: Mapping[str, Tensor] = {}

    def has(self, head: str) -> bool:
        """Whether there is an output or a map of this name."""
        return head in self.maps or getattr(self, head, None) is not None


class NetConfig(BaseModel):
    """Base of the configurations of all families, saved with the weights; a family adds its own fields.

    `family` names the architecture, `plane_set` the encoding that it reads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    family: str
    plane_set: str = "tengen"

    @property
    def heads(self) -> Heads:
        """The heads of the network. A family that has not all of them, or further maps, overrides it."""
        return Heads()

    @property
    def board_sizes(self) -> tuple[int, ...] | None:
        """The only board sizes that such a network can take; None where it takes any."""
        return None

    def derived(self) -> dict[str, object]:
        """Values that follow from the fields, to be printed, by name."""
        return {}
