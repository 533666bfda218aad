"""Who plays whom in which game: a pure function of the players and the number of the game.

The pairings meet in turn, for a pair of games with colors swapped each time, without end. So a match can be extended
at any time, and every prefix of a schedule is nearly balanced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tengen.errors import RecipeError

Pairing: TypeAlias = tuple[str, str]
Kind = Literal["head-to-head", "round-robin", "gauntlet", "ladder"]


@dataclass(frozen=True)
class Fixture:
    """One game of a schedule. The games of a `pair` share their opening; the players swap colors between them.

    `round` counts how often all pairings of the schedule have met before. It is the number of the opening as well:
    every pairing plays the same ones, unless they are drawn from the policies of its own players.
    """

    index: int
    round: int
    pair: int
    black: str
    white: str

    @property
    def pairing(self) -> Pairing:
        """The two players, first the one that has Black in the first game of the pair."""
        return (self.white, self.black) if self.index % 2 else (self.black, self.white)


def fixture(pairings: Sequence[Pairing], index: int) -> Fixture:
    """The game of this number, from 0, where these pairings meet in turn, for two games each time, without end."""
    pair = index // 2
    first, second = pairings[pair % len(pairings)]
    black, white = (second, first) if index % 2 else (first, second)
    return Fixture(index, pair // len(pairings), pair, black, white)


class Schedule(BaseModel):
    """Which of the players meet.

    `head-to-head`: two. `round-robin`: all. `gauntlet`: the last `anchors` of them meet each of those before, but not
    one another. `ladder`, for checkpoints in their order: each meets the `back` before it, and the last the first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    anchors: int = Field(1, ge=1)
    back: int = Field(1, ge=1)

    def pairings(self, players: Sequence[str]) -> list[Pairing]:
        """The pairings. Raises RecipeError for too few or too many players."""
        if len(players) < 2:
            raise RecipeError(f"a match needs two players or more, not {len(players)}")
        match self.kind:
            case "head-to-head":
                if len(players) > 2:
                    raise RecipeError(f"head-to-head is for two players, not {len(players)}: choose another schedule")
                return [(players[0], players[1])]
            case "round-robin":
                return list(combinations(players, 2))
            case "gauntlet":
                if self.anchors >= len(players):
                    raise RecipeError(f"{self.anchors} of {len(players)} players cannot be anchors: one must be left")
                return list(product(players[: -self.anchors], players[-self.anchors :]))
            case "ladder":
                steps = [(players[i], players[j]) for i in range(len(players)) for j in range(max(0, i - self.back), i)]
                ends = (players[-1], players[0])
                return steps if ends in steps else [*steps, ends]
