"""The referee: when a game is over and how it is counted. The native rules decide what is legal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.game import BLACK, EMPTY, WHITE, Game

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


def sure_margin(game: Game) -> float | None:
    """Black minus White, at the worst for the leader, when unconditionally alive points alone win an even game.

    Benson's points cannot be taken even by a player who moves twice in a row: a leader whose share of them beats the
    rest of the board and komi has won whatever follows. None as long as neither side has so much, and under territory
    rules, where living stones are no points.
    """
    if game.rules.scoring != "area":
        return None
    owner = np.asarray(game.pass_alive())
    black, white, points = int((owner == 0).sum()), int((owner == 1).sum()), game.size**2
    if (margin := 2 * black - points - game.komi) > 0:
        return margin
    if (margin := points - 2 * white - game.komi) < 0:
        return margin
    return None


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
    if game.is_no_result:
        return Ending(None, None, None)
    if game.is_over:
        dead = [] if as_it_stands else game.pass_dead()
        return _counted(game.score(dead), game.owners(dead))
    if not settle:
        return None
    alive = game.pass_alive()
    if (alive == EMPTY).any():
        return None
    area = int((alive == BLACK).sum()) - int((alive == WHITE).sum())
    return _counted(area - game.komi - game.white_bonus, alive, settled=True)


def _counted(score: float, owners: NDArray[np.int8], settled: bool = False) -> Ending:
    winner = 2 if score == 0 else BLACK if score > 0 else WHITE
    return Ending(winner, score, owners.astype(np.uint8).ravel(), settled)
