"""What a player of a match is, and what it says at its turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tengen.engine.clock import Clock
from tengen.game import COLOR_NAMES, Game

Probabilities = NDArray[np.float32]


@dataclass(frozen=True)
class Choice:
    """What a player does at its turn; `comment` goes into the record of the game, `visits` count its search."""

    point: int
    resign: bool = False
    comment: str = ""
    visits: int = 0


class Player(Protocol):
    """Plays one game after the other; may raise ProgramError, which loses the game that it plays.

    `name` is what the match calls it.
    """

    name: str

    def begin(self, game: Game, seed: int) -> None:
        """A new game: `game` has no moves yet and is not kept. Raises TengenError when its conditions are refused."""

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        """A move for the side to move; `game` has all moves so far and is not changed.

        `clock` is what the side to move has left, where the player is held to a time.
        """

    def policy(self, game: Game) -> Probabilities | None:
        """Probabilities [size * size + 1] of an opening move; None from a player that has none to give."""

    def dead(self, game: Game) -> frozenset[int] | None:
        """The dead stones of a finished game as this player sees them; None when it cannot say."""

    def score(self, game: Game) -> float | None:
        """Black minus White of a finished game by a player that cannot name dead stones; None when it cannot say."""

    def close(self) -> None: ...


def comment_of(color: int, winrate: float, score: float | None, visits: int | None) -> str:
    """What a player thinks of its move, in the words of a record; winrate 0..1 and score are this colour's."""
    parts = [f"{COLOR_NAMES[color]} wins {winrate:.1%}"]
    if score is not None:
        parts.append(f"score {score:+.1f}")
    if visits is not None:
        parts.append(f"{visits} visits")
    return ", ".join(parts)
