"""The players of a match in one process: each is started when it is first needed and plays game after game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tengen.errors import TengenError
from tengen.match.game import Contest
from tengen.match.openings import open_openings
from tengen.match.outcome import FAILURES, Outcome
from tengen.match.player import Player
from tengen.match.players import open_player
from tengen.match.record import sgf_of
from tengen.match.schedule import fixture
from tengen.match.settings import MatchSettings

_PATIENCE = 3  # games in a row that a player may fail to begin


class Table:
    """Plays the games of a match by their numbers. Raises TengenError when the openings are not there."""

    def __init__(self, settings: MatchSettings) -> None:
        self._settings = settings
        self._specs = {spec.name: spec for spec in settings.players}
        self._controls = {spec.name: spec.control for spec in settings.players if spec.control is not None}
        self._openings = open_openings(settings.conditions)
        self._players: dict[str, Player] = {}
        self._failed: Counter[str] = Counter()

    def check(self, names: Iterable[str]) -> None:
        """Start these players; TengenError names one that is not there or refuses size, komi or rules."""
        for name in names:
            try:
                self._player(name).begin(self._settings.conditions.new_game(), seed=0)
            except TengenError as error:
                if str(error).startswith(f"{name}: "):
                    raise
                raise TengenError(f"{name}: {error}") from error

    def play(self, index: int) -> tuple[Outcome, bytes]:
        """Play the game of this number; its outcome and its record as SGF.

        Raises TengenError when a player that could be started before fails to begin again and again.
        """
        game = fixture(self._settings.pairings, index)
        players = {name: self._player(name) for name in game.pairing}
        contest = Contest(self._settings.conditions, game, players, self._controls, self._openings)
        outcome = contest.play()
        self._watch(outcome)
        return outcome, sgf_of(contest, outcome)

    def close(self) -> None:
        for player in self._players.values():
            player.close()
        self._players.clear()

    def _player(self, name: str) -> Player:
        if name not in self._players:
            self._players[name] = open_player(self._specs[name])
        return self._players[name]

    def _watch(self, outcome: Outcome) -> None:
        """A player that is gone for good ends the match: to lose all its games would say nothing."""
        if outcome.moves or outcome.reason not in FAILURES or outcome.loser is None:
            for name in (outcome.black, outcome.white):
                self._failed[name] = 0
            return
        self._failed[outcome.loser] += 1
        if self._failed[outcome.loser] >= _PATIENCE:
            raise TengenError(
                f"{outcome.loser} could not begin {_PATIENCE} games one after the other: {outcome.detail}; the same "
                "command goes on with the games left"
            )
