"""What holds for every game of a match."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.arena.schedule import Fixture
from tengen.game import Game


@dataclass(frozen=True)
class Conditions:
    """What holds for every game of a match. The games of a pair share their opening.

    With `turns` above 0 a game ends when each side has had so many turns, passes included, and not before; then the
    board is counted as it stands. With `numbered` the players' seed is 1 in the first pair, 2 in the second and so on;
    else it is made of `seed` and the number of the game.
    """

    size: int = 19
    komi: float = 7.5
    rules: str = "chinese"
    opening: int = 4  # moves drawn before the players take over
    seed: int = 1
    turns: int = 0
    numbered: bool = False

    @property
    def longest(self) -> int:
        """Moves after which a game is stopped and counted."""
        return 2 * self.turns or 3 * self.size**2

    def new_game(self) -> Game:
        return Game(self.size, self.rules, self.komi)

    def player_seed(self, fixture: Fixture) -> int:
        """What the players of this game draw by."""
        return fixture.round + 1 if self.numbered else self.seed * 1_000_003 + fixture.index
