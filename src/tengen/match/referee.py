"""The referee: when a game is over and how it is counted. The native rules decide what is legal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.game import Game

Opinion = frozenset[int] | float | None
"""A player's opinion on a finished game: its dead stones or, if it cannot name them, the score; None without either."""

PLAYOUTS = 256  # from a finished position: enough that the owner of a point is not left to chance


@dataclass(frozen=True)
class Verdict:
    """A counted game. `score` is Black minus White, komi included.

    `counts` holds the score by each opinion, under the player's name, and under `playouts` where the players disagree
    or have no opinion; the playouts then decide. `disputed`: the players' counts name different winners.
    """

    score: float
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False


def count(game: Game, opinions: Mapping[str, Opinion]) -> Verdict:
    """Count a game that ended by two passes, by its rules.

    The score is that of the players when all opinions lead to the same one and at least one of them names dead stones,
    by which we count ourselves. Otherwise random playouts decide, which know neither player.
    """
    counts = {
        who: game.score(sorted(opinion)) if isinstance(opinion, frozenset) else float(opinion)
        for who, opinion in opinions.items()
        if opinion is not None
    }
    if len(set(counts.values())) == 1 and any(isinstance(opinion, frozenset) for opinion in opinions.values()):
        return Verdict(next(iter(counts.values())), counts)
    decided = float(game.score(game.dead_by_playouts(PLAYOUTS)))
    disputed = len({np.sign(score) for score in counts.values()}) > 1
    return Verdict(decided, {**counts, "playouts": decided}, disputed)


@dataclass(frozen=True, eq=False)
class Ending:
    """How a game ended by its rules alone: `winner` 0 black, 1 white, 2 draw, None without result.

    `score` is Black minus White with komi, `owners` uint8 [points] the owner of each point (2 neutral); None for a game
    without result. `settled`: every point was pass-alive area, and the players could have gone on.
    """

    winner: int | None
    score: float | None
    owners: NDArray[np.uint8] | None
    settled: bool = False


def ending_of(game: _native.Game, settle: bool, as_it_stands: bool = False) -> Ending | None:
    """How the game has ended by its rules, None while it goes on.

    A game that the rules end is counted as in search and self-play: stones in the opponent's pass-alive territory are
    dead and all others live; `as_it_stands` all stones live. With `settle` (area scoring only) a game also ends when
    every point is pass-alive area.
    """
    end = game.game_end(settle, dead_stones="none" if as_it_stands else "pass-alive")
    if end is None:
        return None
    owners = None if end.owners is None else end.owners.astype(np.uint8).ravel()
    return Ending(end.winner, end.score, owners, end.reason == "settled")
