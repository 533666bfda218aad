"""When a game of computers is over, and what it then counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.data.record import GameRecord
from tengen.game import BLACK, EMPTY, WHITE


@dataclass(frozen=True, eq=False)
class Ending:
    """How a game ended: `winner` 0 black, 1 white, 2 draw, None without result; `score` Black minus White with komi.

    `owners` [points] is who owns each point (2 neutral); None where nothing was counted, as is the score.
    """

    winner: int | None
    score: float | None
    owners: NDArray[np.uint8] | None

    def record(self, game: _native.Game, source: str) -> GameRecord:
        """The game, which began on an empty board, as a row of a store."""
        return GameRecord(
            size=game.size,
            moves=game.move_codes(),
            rules=game.rules,
            komi=game.komi,
            winner=self.winner,
            score=self.score,
            ending="void" if self.winner is None else "draw" if self.winner == 2 else "count",
            source=source,
            ownership=self.owners,
        )


def ending_of(game: _native.Game, settle: bool, as_it_stands: bool = False) -> Ending | None:
    """How the game has ended by its rules, or None while it goes on.

    What the rules end is counted as searches and self-play count it: stones in the opponent's pass-alive territory are
    dead and everything else lives, or `as_it_stands` all lives. With `settle` (area scoring only) a game also ends when
    every point is pass-alive area, and then belongs to its owner.
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
    return _counted(area - game.komi - game.white_bonus, alive)


def _counted(score: float, owners: NDArray[np.int8]) -> Ending:
    winner = 2 if score == 0 else BLACK if score > 0 else WHITE
    return Ending(winner, score, owners.astype(np.uint8).ravel())
