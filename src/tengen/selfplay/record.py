"""From a finished game of self-play to a row of the run's store."""

from __future__ import annotations

import math

import numpy as np

from tengen import _native
from tengen.data.record import GameRecord, game_hash
from tengen.selfplay.plan import GamePlan

# How a game of self-play ended, in the words of the store.
_ENDINGS = {
    "passes": "count",
    "move limit": "count",
    "settled": "count",
    "resignation": "resign",
    "long cycle": "void",
}


def to_record(played: _native.PlayedGame, plan: GamePlan) -> GameRecord:
    """The record of the game that was played by this plan; its source names cycle and game."""
    moves = played.moves
    none = np.empty(0, np.uint16)
    counted = not math.isnan(played.score)
    return GameRecord(
        size=played.size,
        moves=moves,
        rules=plan.rules,
        komi=plan.komi,
        winner=None if played.winner < 0 else played.winner,
        score=played.score if counted else None,
        ending=_ENDINGS[played.ending],
        source=plan.source,
        hash=game_hash(played.size, moves, none, none),
        ownership=played.ownership if counted else None,
        visits=tuple(played.targets),
        root_values=played.root_values,
        surprises=played.surprises,
    )
