"""The count of a game between players who name dead stones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tengen.game import Game

Opinion = frozenset[int] | float | None
"""A player's opinion on a finished game: its dead stones or, if it cannot name them, the score; None without either."""

PLAYOUTS = 256  # from a finished position: enough that the owner of a point is not left to chance


@dataclass(frozen=True)
class Verdict:
    """A counted game. `score` is Black minus White, komi included.

    `counts` holds the score by each opinion, under the player's name, and under `playouts` where the players disagree
    or not all have an opinion; the playouts then decide. `disputed`: the counts of the players, or that of a single one
    and the playouts, name different winners.
    """

    score: float
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False


def count_by_opinions(game: Game, opinions: Mapping[str, Opinion]) -> Verdict:
    """Count a game that ended by two passes, by its rules, under which the players agree on dead stones.

    The score is that of the players when all have an opinion, all opinions lead to the same score and at least one of
    them names dead stones, by which we count ourselves. Otherwise random playouts decide, which know neither player: a
    single opinion may be that of the player whom it favors.
    """
    counts = {
        who: game.score(sorted(opinion)) if isinstance(opinion, frozenset) else float(opinion)
        for who, opinion in opinions.items()
        if opinion is not None
    }
    is_unanimous = len(counts) == len(opinions) and len(set(counts.values())) == 1
    if is_unanimous and any(isinstance(opinion, frozenset) for opinion in opinions.values()):
        return Verdict(next(iter(counts.values())), counts)
    decided = float(game.score(game.dead_by_playouts(PLAYOUTS)))
    compared = [*counts.values(), decided] if len(counts) == 1 else counts.values()
    disputed = len({np.sign(score) for score in compared}) > 1
    return Verdict(decided, {**counts, "playouts": decided}, disputed)
