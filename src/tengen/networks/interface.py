"""What every network family provides: a configuration that declares its heads, and a module that returns NetOutput."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from tengen.errors import RecipeError


@dataclass(frozen=True)
class Heads:
    """The outputs that a network has; losses, network file and evaluators follow from it. The policy is always there.

    pass_move: the policy has a logit for pass. value: logits of win, draw and loss, one logit of a win, one scalar in
    -1..1, or None.
    maps: further logits over moves, which serve training alone and are not part of a network file.
    """

    pass_move: bool = True
    value: Literal["win-draw-loss", "win-loss", "scalar"] | None = "win-draw-loss"
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
    [B, H * W]. value [B, 3]: logits of win, draw, loss; or [B, 1]: the logit of a win; or [B]: scalar in -1..1.
    score [B]: points. ownership [B, H, W]: -1..1, undefined off the board. maps: further logits as of the policy, by
    name, such as `reply` (the opponent's next move), `move2`, `move3` (the second and third next move) and `soft` (the
    policy with its small probabilities raised).
    """

    policy: Tensor
    value: Tensor | None = None
    score: Tensor | None = None
    ownership: Tensor | None = None
    maps: Mapping[str, Tensor] = {}

    def has(self, head: str) -> bool:
        """Whether there is an output or a map of this name."""
        return head in self.maps or getattr(self, head, None) is not None


def expected_result(value: Tensor) -> Tensor:
    """The value [B] in -1..1 of any form of value head; see NetOutput."""
    value = value.float()
    if value.ndim == 1:
        return value
    if value.shape[1] == 1:
        return torch.tanh(value.squeeze(1) / 2)  # 2 sigmoid(x) - 1
    chances = torch.softmax(value, dim=1)
    return chances[:, 0] - chances[:, 2]


class NetConfig(BaseModel):
    """Base of the configurations of all families, saved with the weights; a family adds its own fields.

    `family` names the architecture, `plane_set` the encoding that it reads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    family: str
    plane_set: str = "tengen"

    @property
    def heads(self) -> Heads:
        """The heads of the network. A family that has not all of them, or further maps, overrides it."""
        return Heads()

    @property
    def has_policy(self) -> bool:
        """Whether it learns a policy; without one it gives every move the same logit."""
        return getattr(self, "policy", True) is not None

    @property
    def playing_part(self) -> dict[str, Any]:
        """The fields without those of further maps. A family that has such fields overrides it."""
        return self.model_dump()

    @property
    def board_sizes(self) -> tuple[int, ...] | None:
        """The only board sizes that such a network can take; None where it takes any."""
        return None

    def check_sizes(self, sizes: Iterable[int], who: str) -> None:
        """Raise RecipeError where one of these board sizes is none of the network's; `who` begins the message."""
        takes = self.board_sizes
        if takes is not None and (wrong := [size for size in sizes if size not in takes]):
            raise RecipeError(
                f"{who} {wrong[0]}x{wrong[0]}, but this network of the family {self.family} takes "
                f"{', '.join(f'{size}x{size}' for size in takes)} boards alone: choose another network or size"
            )

    def derived(self) -> dict[str, object]:
        """Values that follow from the fields, to be printed, by name."""
        return {}
