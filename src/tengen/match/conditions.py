"""What holds for every game of a match."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tengen.errors import RecipeError
from tengen.game import Game
from tengen.match.schedule import Fixture
from tengen.rules import Rules

DRAWN = 4  # moves of an opening that is drawn, where nothing else is said


class Conditions(BaseModel):
    """What holds for every game of a match. The games of a pair share their opening.

    `openings` are drawn by the `policy` of a player (see `openings.Drawn`) or by that of the network in
    `policy:NETWORK`, or are `random`, or come from a list: the path of SGF files or of lines of moves. `opening` is how
    many moves: 4 where they are drawn and, from a list, all unless it is given. `seed` decides openings, their order,
    and what the players draw by.

    A player's clock is not charged for the first `lag` seconds of a move, which may be the machine's.

    With `turns` above 0 a game ends when each side has had so many turns, passes included, and not before; then the
    board is counted as it stands. With `numbered` the players' seed is 1 in the first round, 2 in the second and so on;
    else it is made of `seed` and the number of the game.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    size: int = Field(19, ge=5, le=19)
    komi: float = 7.5
    rules: str = "chinese"
    openings: str = "policy"
    opening: int | None = Field(None, ge=0)
    seed: int = Field(1, ge=0)
    lag: float = Field(0.1, ge=0)
    turns: int = Field(0, ge=0)
    numbered: bool = False

    @field_validator("rules")
    @classmethod
    def _known(cls, rules: str) -> str:
        Rules.parse(rules)
        return rules

    def check_opening(self) -> None:
        """Raise RecipeError for an opening that is drawn and leaves the players no game.

        The moves of a list are somebody's choice: they may be as many as they are.
        """
        is_drawn = self.openings in ("policy", "random") or self.openings.startswith("policy:")
        if is_drawn and self.drawn > (most := self.size**2 // 3):
            board = f"{self.size}x{self.size}"
            raise RecipeError(
                f"an opening on {board} has at most {most} moves, a third of its points, not {self.drawn}"
            )

    @property
    def longest(self) -> int:
        """Moves after which a game is stopped and counted."""
        return 2 * self.turns or 3 * self.size**2

    @property
    def drawn(self) -> int:
        """Moves of an opening that is drawn."""
        return DRAWN if self.opening is None else self.opening

    def new_game(self) -> Game:
        return Game(self.size, self.rules, self.komi)

    def player_seed(self, fixture: Fixture) -> int:
        """What the players of this game draw by."""
        return fixture.round + 1 if self.numbered else self.seed * 1_000_003 + fixture.index
