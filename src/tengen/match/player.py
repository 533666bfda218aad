"""The interface of a player: it plays many games at once, and one game is a batch of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.engine.clock import Clock
from tengen.errors import TengenError
from tengen.game import COLOR_NAMES, DeadStones, Game
from tengen.gtp.client import ProgramError

Probabilities = NDArray[np.float32]


@dataclass(frozen=True)
class Turn:
    """A position in which a player is to move. `id` is that of `start_game`.

    `game` has all moves so far and must not be changed. `clock` is what the side to move has left, where the player is
    held to a time, and `lag` are the seconds of the move that it does not charge. `dead_stones` is the rule of the
    match, the same in all its games: it decides for the pass policy `no-useful-move` which moves are useful.
    """

    id: int
    game: Game
    clock: Clock | None = None
    lag: float = 0.0
    dead_stones: DeadStones = "pass-alive"


@dataclass(frozen=True)
class Choice:
    """A move, or a resignation.

    `comment` is written into the record of the game, `visits` count the search. `seconds` are the time that this move
    took; None stands for an even share of the batch.
    """

    point: int
    resign: bool = False
    comment: str = ""
    visits: int = 0
    seconds: float | None = None


Reply: TypeAlias = Choice | ProgramError
"""A player's answer to a turn. A ProgramError loses that game; the other games go on."""


class Player(ABC):
    """Base class of all players. A subclass must override `choose`; the other methods have defaults.

    name: what the match calls the player.
    external: the player computes outside this process. Its `choose` may run in a thread while other players compute.
    max_games: games that the player can play at once, None for any number.
    evaluations: positions that a network has evaluated for the player.
    program: name and version that the program of a player gives, known once a game has started; empty without one.
    """

    name: str = ""
    external: bool = False
    max_games: int | None = None
    evaluations: int = 0
    program: str = ""

    def start_game(self, id: int, game: Game, seed: int) -> None:
        """Begin the game `id`, which no other game under way has. `game` has no moves yet and must not be kept.

        All chance in the player's moves must follow from `seed`. Raises ProgramError when a program fails, which loses
        the game, and TengenError when the conditions are refused.
        """

    @abstractmethod
    def choose(self, turns: Sequence[Turn]) -> Sequence[Reply]:
        """A reply for each of these turns (one or more), of different games of one match, on boards of one size."""

    def opening_policy(self, games: Sequence[Game]) -> Probabilities | None:
        """Probabilities [games, size * size + 1] of the next opening move; None from a player without a policy."""
        return None

    def dead(self, id: int, game: Game) -> frozenset[int] | None:
        """The dead stones of a finished game, None when the player cannot say. May raise ProgramError."""
        return None

    def score(self, id: int, game: Game) -> float | None:
        """Black minus White of a finished game by a player that cannot name dead stones. May raise ProgramError."""
        return None

    def end_game(self, id: int) -> None:
        """The game is over and will not be asked about again. It may never have started."""

    def close(self) -> None:
        """Free everything, also while games are under way. May be called again."""


class PlayerError(TengenError):
    """A player cannot be opened or refuses the conditions. The message begins with the name of the `player`."""

    def __init__(self, player: str, detail: str) -> None:
        super().__init__(f"{player}: {detail}")
        self.player = player


@contextmanager
def errors_named(name: str) -> Iterator[None]:
    """Raise a TengenError as the PlayerError of the player of this name, or as it is where it names that player."""
    try:
        yield
    except TengenError as error:
        if isinstance(error, PlayerError) and error.player == name:
            raise
        if isinstance(error, ProgramError) and error.program == name:
            raise
        raise PlayerError(name, str(error)) from error


def comment_of(color: int, winrate: float | None, score: float | None, visits: int | None) -> str:
    """The comment on a move: winrate (0..1) and score (points) of this color, and visits; without what is None."""
    parts = [] if winrate is None else [f"{COLOR_NAMES[color]} wins {winrate:.1%}"]
    if score is not None:
        parts.append(f"score {score:+.1f}")
    if visits is not None:
        parts.append(f"{visits} visit{'' if visits == 1 else 's'}")
    return ", ".join(parts)
