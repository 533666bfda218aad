"""Who owned each point at the end of a counted game, where playouts and the recorded score agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.data.record import GameRecord
from tengen.rules import Rules

TOLERANCE = 1.0
"""Points by which the playouts' count may miss the recorded score: a last dame, or a seki counted the other way."""


def final_owners(row: GameRecord, playouts: int) -> GameRecord:
    """Return the row with `ownership` where the playouts' count agrees with its score, else as it is.

    Few playouts settle most games; a game on which they disagree with the record gets `playouts` more. A row without
    score or komi stays as it is. The seed is the game's hash.
    """
    if row.score is None or row.komi is None:
        return row
    game = _native.Game(row.size, row.rules, row.komi)
    for color, stones in enumerate((row.black_stones, row.white_stones)):
        for point in stones.tolist():
            game.setup(point, color)
    game.play_moves(row.moves)
    for tries in (max(1, playouts // 3), playouts):
        owner = np.asarray(_native.final_ownership(game, tries, row.hash)).astype(np.uint8).ravel()
        if abs(count(row, owner) - row.score) <= TOLERANCE:
            return replace(row, ownership=owner)
    return row


def count(row: GameRecord, owner: npt.NDArray[np.uint8]) -> float:
    """Count a finished game from its owners by its rules: Black minus White, with komi.

    Territory follows from area exactly: a stone put on the board is worth a point of area alive and costs one dead, so
    the two differ by the stones that each side has put down.
    """
    area = int(np.count_nonzero(owner == 0)) - int(np.count_nonzero(owner == 1))
    komi = row.komi or 0.0
    if Rules.parse(row.rules).scoring == "area":
        return area - komi
    played = row.points < row.size * row.size
    white = int(np.count_nonzero(played & (row.colors == 1)))
    black = int(np.count_nonzero(played)) - white
    return area - (black + len(row.black_stones)) + (white + len(row.white_stones)) - komi
