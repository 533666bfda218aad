"""Two players at one table: started once, they meet for one game after the other."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from tengen.arena.conditions import Conditions
from tengen.arena.contest import Contest
from tengen.arena.outcome import FAILURES, Outcome
from tengen.arena.player import Player
from tengen.arena.players import open_player
from tengen.arena.record import sgf_of
from tengen.arena.schedule import fixture
from tengen.arena.spec import PlayerSpec
from tengen.errors import RecipeError


@dataclass(frozen=True)
class Strength:
    """How long those think who search and do not say it themselves: visits, or seconds when they are given."""

    visits: int = 400
    seconds: float | None = None
    symmetries: bool = False

    def defaults(self) -> dict[str, Any]:
        """As `PlayerSpec.parse` takes them."""
        limit = {"visits": self.visits} if self.seconds is None else {"seconds": self.seconds}
        return {**limit, "symmetries": self.symmetries}


@dataclass(frozen=True)
class MatchSettings:
    """Who plays whom, how often and how. `a` and `b` are words as `PlayerSpec.parse` reads them."""

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

    def about(self, names: tuple[str, str]) -> dict[str, Any]:
        """What the match's folder says of it; the players have these names."""
        words = zip(names, (self.a, self.b), strict=True)
        return {
            "schedule": {"kind": "head-to-head"},
            "players": [{"name": name, "player": word, **asdict(self.strength)} for name, word in words],
            "conditions": asdict(self.conditions),
            "games": self.games,
            "move_seconds": self.move_seconds,
        }


class Table:
    """The two players of a match. A player that failed in a game is started afresh for the next.

    Raises TengenError when a player does not exist or refuses size or komi, before the first game.
    """

    def __init__(self, settings: MatchSettings) -> None:
        self._settings = settings
        self._players: list[Player | None] = [None, None]
        try:
            players = self._seat()
            a, b = (player.name for player in players)
            self.names = (a, b if b != a else f"{b} (2)")
            for player in players:
                player.begin(settings.conditions.new_game(), seed=0)
        except BaseException:
            self.close()
            raise

    def play(self, index: int) -> tuple[Outcome, bytes]:
        """Play the game of this number; its outcome and its record as SGF."""
        players = dict(zip(self.names, self._seat(), strict=True))
        contest = Contest(self._settings.conditions, fixture([self.names], index), players)
        outcome = contest.play()
        record = sgf_of(contest, outcome)
        if outcome.loser is not None and outcome.reason in FAILURES:
            self._players[self.names.index(outcome.loser)] = None
            players[outcome.loser].close()
        return outcome, record

    def close(self) -> None:
        for player in self._players:
            if player is not None:
                player.close()
        self._players = [None, None]

    def _seat(self) -> list[Player]:
        """Both players, those started that are not there."""
        for i, word in enumerate((self._settings.a, self._settings.b)):
            if self._players[i] is None:
                defaults = {**self._settings.strength.defaults(), "move_seconds": self._settings.move_seconds}
                self._players[i] = open_player(PlayerSpec.parse(word, defaults))
        return [player for player in self._players if player is not None]
