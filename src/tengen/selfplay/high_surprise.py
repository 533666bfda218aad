"""Hard positions of earlier games: where the search found something that the network had not expected."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tengen.data.record import GameRecord
from tengen.selfplay.plan import Start

KEPT = 256


def hard_starts(games: Iterable[GameRecord], kept: int = KEPT) -> list[Start]:
    """The `kept` most surprising positions, at most one of a game, the most surprising first."""
    found: list[tuple[float, int, Start]] = []
    for number, game in enumerate(games):
        if game.surprises is None or np.all(np.isnan(game.surprises)):
            continue
        ply = int(np.nanargmax(game.surprises))
        moves = tuple(int(move) for move in game.moves[:ply])
        found.append((-float(game.surprises[ply]), number, Start(game.size, moves)))
    return [start for _, _, start in sorted(found, key=lambda item: item[:2])[:kept]]
