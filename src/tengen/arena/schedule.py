"""Who plays whom in which game: a pure function of the players and the number of the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fixture:
    """One game of a schedule. The games of a `pair` share their opening; the players swap colours between them.

    `round` counts how often all pairings of the schedule have met before; it is the number of the opening as well, so
    that every pairing plays the same ones.
    """

    index: int
    round: int
    pair: int
    black: str
    white: str

    @property
    def pairing(self) -> tuple[str, str]:
        """The two players, the one first who has Black in the first game of the pair."""
        return (self.white, self.black) if self.index % 2 else (self.black, self.white)


def fixture(pairings: Sequence[tuple[str, str]], index: int) -> Fixture:
    """The game of this number, from 0, where these pairings meet in turn, for two games each time, without end."""
    pair = index // 2
    first, second = pairings[pair % len(pairings)]
    black, white = (second, first) if index % 2 else (first, second)
    return Fixture(index, pair // len(pairings), pair, black, white)
