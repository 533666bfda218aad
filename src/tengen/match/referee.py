"""The referee: our native rules decide what is legal, when a game is over, and how it is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tengen.game import Game

Opinion = frozenset[int] | float | None
"""What a player says of a finished game: its dead stones or, if it cannot name them, the score; None if neither."""

PLAYOUTS = 256  # from a finished position: enough that a point's owner is not left to chance


@dataclass(frozen=True)
class Verdict:
    """A counted game. `score` is Black minus White, komi included.

    `counts` holds the score that each opinion about the dead stones leads to, by who held it: a player's name and,
    where the players disagree or say nothing, `playouts`, which then decides. `disputed` says that the players' counts
    name different winners.
    """

    score: float
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False


def count(game: Game, opinions: Mapping[str, Opinion]) -> Verdict:
    """Count a game that ended by two passes, by its rules.

    Where all players who have an opinion come to the same score, and one of them named dead stones by which we count
    ourselves, that is the score; else random playouts decide, which know neither player.
    """
    counts = {
        who: game.score(sorted(said)) if isinstance(said, frozenset) else float(said)
        for who, said in opinions.items()
        if said is not None
    }
    if len(set(counts.values())) == 1 and any(isinstance(said, frozenset) for said in opinions.values()):
        return Verdict(next(iter(counts.values())), counts)
    decided = float(game.score(game.dead_by_playouts(PLAYOUTS)))
    disputed = len({np.sign(score) for score in counts.values()}) > 1
    return Verdict(decided, {**counts, "playouts": decided}, disputed)


def sure_margin(game: Game) -> float | None:
    """Black minus White, at the worst for the leader, when unconditionally alive points alone win an even game.

    Benson's points cannot be taken even by a player who moves twice running: a leader whose share of them beats the
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
