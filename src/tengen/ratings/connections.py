"""What the games of a pool connect: whom chains of games, and chains of points, join to the anchor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

if TYPE_CHECKING:
    from tengen.ratings.elo import Score

Ends = tuple[bool, bool]
"""Whether the low and the high end of a rating are open: bounded by no game."""

_WORDS = {
    (False, True): "no point was lost on the way to {}: only the low end of the interval comes from games",
    (True, False): "no point was won on the way to {}: only the high end of the interval comes from games",
    (True, True): "no chain of points either way to {}: the interval is a guess",
}


def unreached(players: Sequence[str], scores: Sequence[Score], anchor: str) -> list[str]:
    """The players from whom no chain of games leads to the anchor."""
    joined = _reached(players, ((score.black, score.white) for score in scores), anchor, both_ways=True)
    return [name for name in players if name not in joined]


def open_ends(players: Sequence[str], scores: Sequence[Score], anchor: str) -> dict[str, Ends]:
    """For each player, which ends of its distance from the anchor no game bounds.

    A rating has two ends when a chain of points leads from the player to the anchor and another one back (Ford, 1957).
    """
    points = []  # (who lost it, who won it)
    for score in scores:
        if score.wins or score.draws:
            points.append((score.white, score.black))
        if score.losses or score.draws:
            points.append((score.black, score.white))
    above = _reached(players, points, anchor)
    below = _reached(players, [(winner, loser) for loser, winner in points], anchor)
    return {name: (name not in above, name not in below) for name in players}


def told(ends: Mapping[str, Ends], anchor: str) -> list[str]:
    """The open ends in sentences."""
    grouped = ((sorted(name for name, open_ in ends.items() if open_ == kind), why) for kind, why in _WORDS.items())
    return [f"{'; '.join(names)}: {why.format(anchor)}" for names, why in grouped if names]


def _reached(players: Sequence[str], edges: Iterable[tuple[str, str]], start: str, both_ways: bool = False) -> set[str]:
    """The players whom steps along these edges lead to from `start`, itself included."""
    number = {name: i for i, name in enumerate(players)}
    graph = np.zeros((len(players), len(players)))
    for one, other in edges:
        graph[number[one], number[other]] = 1
    order = breadth_first_order(graph, number[start], directed=not both_ways, return_predecessors=False)
    return {players[i] for i in order}
