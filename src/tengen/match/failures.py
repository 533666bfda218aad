"""Players that can no longer start a game: their games are left out, and those of the others go on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tengen.errors import TengenError
from tengen.match.folder import PlayedRecord
from tengen.match.outcome import FAILURES, Outcome
from tengen.match.schedule import Pairing, fixture

_PATIENCE = 3  # games in a row that a player may fail to start


class FailedPlayers(TengenError):
    """Players failed to start several games in a row; all games of others were played.

    `failed` has the last failure of each, `left` are their games that were not played, and `figures` those of the match
    as `play_match` returns them.
    """

    def __init__(self, failed: Mapping[str, str], left: int, figures: dict[str, Any]) -> None:
        what = "; ".join(f"{name} failed to start {_PATIENCE} games in a row: {why}" for name, why in failed.items())
        games = "1 game was" if left == 1 else f"{left} games were"
        super().__init__(f"{what}; {games} not played, and the same command plays what is missing")
        self.figures = figures


class FailureWatch:
    """Finds players that can no longer start: lost games would say nothing about their strength.

    A game that a player failed to start is held back until the player starts another one, and then lost. After several
    in a row the player has `failed`, with its last failure: those games are not kept, and it plays no more.
    """

    def __init__(self, pairings: Sequence[Pairing]) -> None:
        self._pairings = pairings
        self._held_back: dict[str, list[PlayedRecord]] = defaultdict(list)
        self.failed: dict[str, str] = {}

    def can_play(self, index: int) -> bool:
        """Whether no player of the game with this number has failed."""
        return self.failed.keys().isdisjoint(fixture(self._pairings, index).pairing)

    def kept(self, games: Iterator[Sequence[PlayedRecord]]) -> Iterator[list[PlayedRecord]]:
        """The games of these to be kept, as they come; at the end those that are still held back."""
        for batch in games:
            if found := self._take(batch):
                yield found
        if rest := [played for name in list(self._held_back) for played in self._held_back.pop(name)]:
            yield rest

    def _take(self, batch: Sequence[PlayedRecord]) -> list[PlayedRecord]:
        found: list[PlayedRecord] = []
        for played in batch:
            loser = _loser_at_start(played.outcome)
            if loser is None:
                for name in (played.outcome.black, played.outcome.white):
                    found += self._held_back.pop(name, [])
                found.append(played)
            elif loser not in self.failed:
                self._held_back[loser].append(played)
                if len(self._held_back[loser]) >= _PATIENCE:
                    self.failed[loser] = played.outcome.detail
                    del self._held_back[loser]
        return found


def _loser_at_start(outcome: Outcome) -> str | None:
    """The player that failed to start this game, if one did."""
    # With one move after the opening it was the opponent's.
    is_at_start = outcome.moves <= outcome.opening + 1
    return outcome.loser if is_at_start and outcome.reason in FAILURES else None
