"""What holds for every game of a match: board, rules, openings, the end and the count of a game."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from tengen.coords import MAX_SIZE, MIN_SIZE, SIZES
from tengen.errors import RecipeError
from tengen.game import DeadStones, Game
from tengen.handicap import free_handicap
from tengen.match.schedule import Fixture
from tengen.rules import Rules

OPENING = 4
"""Default number of moves of an opening that is drawn."""


def longest_opening(size: int) -> int:
    """The largest number of moves of an opening that is drawn: a third of the points, so that a game is left."""
    return size**2 // 3


def _check_size(size: int) -> int:
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(f"choose {SIZES}")
    return size


def _check_rules(rules: str) -> str:
    Rules.parse(rules)
    return rules


BoardSize = Annotated[int, AfterValidator(_check_size)]
"""A field for the size of a board that this build plays."""
RuleSet = Annotated[str, AfterValidator(_check_rules)]
"""A field for the text of a rule set."""


class Conditions(BaseModel):
    """What holds for every game of a match. The games of a pair share their opening. `komi` is the usual one of the
    rules unless it is given. With a `handicap` Black has that many stones on the usual points, and White plays first.

    `openings` are drawn from the `policy` of a player, from those of both `players` in turn (see `openings.Drawn`) or
    from that of the network in `policy:NETWORK`, or are `random`, or come from a list: the path of SGF files or of
    lines of moves. `opening` is the number of moves: 4 where they are drawn, on tiny boards a third of their points;
    from a list all unless it is given. `opening_temperature` sharpens (below 1) or flattens the policy. `seed` decides
    the openings, their order, and the random numbers of the players.

    The first `lag` seconds of a move, which may be the machine's, are not charged to a player's clock.

    `dead_stones` says which stones are dead when a game is counted. `agreement`: those on which the players agree, else
    by playouts, and none under rules that know no agreement (`Rules.dead_are_agreed`); a game also ends when pass-alive
    area alone decides it. `pass-alive`, as in self-play: stones in the opponent's pass-alive territory. `none`: no
    stone. Without agreement a game under area scoring also ends, with `settle`, when all area is pass-alive.
    `max_moves` end a game: 3 x size x size by agreement, else 2 x size x size unless given.

    With `turns` above 0 a game ends when each side has had that many turns, passes included, and not before; then the
    board is counted as it stands. With `numbered` the players' seed is 1 in the first round, 2 in the second and so on;
    otherwise it is made of `seed` and the number of the game.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    size: BoardSize = 19
    rules: RuleSet = "chinese"
    komi: float = Field(None, multiple_of=0.5, ge=-400, le=400, validate_default=True)
    handicap: int | None = Field(None, ge=0)
    openings: str = "policy"
    opening: int | None = Field(None, ge=0)
    opening_temperature: float = Field(1.0, gt=0, le=100)
    seed: int = Field(1, ge=0)
    lag: float = Field(0.1, ge=0)
    dead_stones: DeadStones | Literal["agreement"] = "agreement"
    settle: bool = True
    max_moves: int | None = Field(None, ge=1, le=2**31 - 1)
    turns: int = Field(0, ge=0)
    numbered: bool = False

    @field_validator("komi", mode="before")
    @classmethod
    def _default_komi(cls, komi: Any, info: ValidationInfo) -> Any:
        """By default the usual one of the rules."""
        return Rules.parse(info.data.get("rules", "chinese")).usual_komi if komi is None else komi

    @field_validator("handicap")
    @classmethod
    def _check_handicap(cls, handicap: int | None, info: ValidationInfo) -> int | None:
        """None without stones, as in folders of versions that know no handicap."""
        if handicap and "size" in info.data:
            free_handicap(info.data["size"], handicap)
        return handicap or None

    def check_opening(self, key: str = "") -> None:
        """Raise RecipeError for a drawn opening that leaves no game; those of a list may have any length.

        The message begins with the `key` of the recipe that gives the opening.
        """
        if not self.are_openings_listed and self.drawn > (limit := longest_opening(self.size)):
            place, board = f"{key}: " if key else "", f"{self.size}x{self.size}"
            raise RecipeError(
                f"{place}an opening on {board} has at most {limit} moves, a third of its points, not {self.drawn}"
            )

    @property
    def opening_network(self) -> str | None:
        """The network from whose policy openings are drawn; None where they come from elsewhere."""
        prefix = "policy:"
        return self.openings.removeprefix(prefix) if self.openings.startswith(prefix) else None

    @property
    def are_openings_listed(self) -> bool:
        """Whether openings come from a list, whose path `openings` is."""
        return self.openings not in ("policy", "players", "random") and self.opening_network is None

    @property
    def dead_for_players(self) -> DeadStones:
        """Which stones the players may take for dead: they agree on those in the opponent's pass-alive territory, where
        the rules have an agreement."""
        if self.dead_stones != "agreement":
            return self.dead_stones
        return "pass-alive" if Rules.parse(self.rules).dead_are_agreed else "none"

    @property
    def limit(self) -> int:
        """Moves after which a game is stopped and counted."""
        return 2 * self.turns or self.max_moves or (3 if self.dead_stones == "agreement" else 2) * self.size**2

    @property
    def drawn(self) -> int:
        """Moves of an opening that is drawn."""
        return min(OPENING, longest_opening(self.size)) if self.opening is None else self.opening

    def new_game(self) -> Game:
        game = Game(self.size, self.rules, self.komi)
        if self.handicap:
            game.place_handicap(self.handicap)
        # Searches count a game at its limit as we do, but for dead stones on which players agree.
        return game if self.dead_stones == "agreement" else game.limit_moves(self.limit)

    def player_seed(self, fixture: Fixture) -> int:
        """The seed of both players of this game."""
        return fixture.round + 1 if self.numbered else (self.seed * 1_000_003 + fixture.index) % 2**63
