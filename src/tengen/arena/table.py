"""Two players at one table: started once, they meet for one game after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from tengen.arena.contest import Conditions, Contest, Outcome, Side
from tengen.arena.players import Player, Strength, open_player
from tengen.arena.record import sgf_of
from tengen.errors import RecipeError

_FAILURES = frozenset({"died", "timeout", "refused", "nonsense", "not found"})


@dataclass(frozen=True)
class MatchSettings:
    """Who plays whom, how often and how. `a` and `b` are words as `open_player` reads them."""

    a: str
    b: str
    games: int = 60
    conditions: Conditions = field(default_factory=Conditions)
    strength: Strength = field(default_factory=Strength)
    move_seconds: float = 180.0  # that a GTP program may take for a move

    def __post_init__(self) -> None:
        if self.games < 1:
            raise RecipeError(f"games must be 1 or more, not {self.games}")
        if self.move_seconds <= 0:
            raise RecipeError(f"the time for a move must be above 0 s, not {self.move_seconds:g}")


class Table:
    """The two players of a match. A player that failed in a game is started afresh for the next.

    Raises TengenError when a player does not exist or refuses size or komi, before the first game.
    """

    def __init__(self, settings: MatchSettings) -> None:
        self._settings = settings
        self._players: dict[Side, Player] = {}
        try:
            self._seat()
            for player in self._players.values():
                player.begin(settings.conditions.new_game(), seed=0)
        except BaseException:
            self.close()
            raise

    @property
    def names(self) -> dict[Side, str]:
        return {side: player.name for side, player in self._players.items()}

    def play(self, index: int) -> tuple[Outcome, bytes]:
        """Play the game of this number; its outcome and its record as SGF."""
        self._seat()
        contest = Contest(self._settings.conditions, index, dict(self._players))
        outcome = contest.play()
        record = sgf_of(contest, outcome)
        if outcome.reason in _FAILURES and outcome.winner is not None:
            self._players.pop("B" if outcome.winner == "A" else "A").close()
        return outcome, record

    def close(self) -> None:
        for player in self._players.values():
            player.close()
        self._players.clear()

    def _seat(self) -> None:
        words: dict[Side, str] = {"A": self._settings.a, "B": self._settings.b}
        for side, word in words.items():
            if side not in self._players:
                self._players[side] = open_player(word, self._settings.strength, self._settings.move_seconds)
