"""Which ends of the ratings no game bounds: chains of games, and chains of points, between the players of a pool.

A rating counts from the anchor. It has two ends when a chain of points leads from the player to the anchor and another
one back (Ford, 1957). Where the worth of the first move is rated too, it may rise or fall without limit and take
ratings along.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.ratings.score import Score

Doubles = NDArray[np.float64]
Indices = NDArray[np.intp]
Ends = tuple[bool, bool]
"""Whether the low and the high end of a rating are open: bounded by no game."""

_WORDS = {
    (False, True): "no point was lost on the way to {}: only the low end of the interval comes from games",
    (True, False): "no point was won on the way to {}: only the high end of the interval comes from games",
    (True, True): "no chain of points either way to {}: the interval is a guess",
}


@dataclass(frozen=True)
class OpenEnds:
    """The open ends of the ratings of all players and of the first move's worth, with `warnings` that explain them."""

    players: dict[str, Ends]
    first_move: Ends
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, players: Sequence[str], scores: Sequence[Score], first_move: bool) -> OpenEnds:
        """The open ends after these games, which connect all players; the first player is the anchor.

        Without `first_move` its worth is not rated, and has no open end.
        """
        anchor = players[0]
        ends = _ends(players, scores, anchor)
        warnings = _warnings(ends, anchor)
        if not first_move:
            return cls(ends, (False, False), tuple(warnings))
        first_move_ends, widened = _with_first_move(players, scores, ends)
        along = [name for name in players if widened[name] != ends[name]]
        warnings += _first_move_warnings(first_move_ends, along, scores)
        return cls(widened, first_move_ends, tuple(warnings))


def unconnected(players: Sequence[str], scores: Sequence[Score], anchor: str) -> set[str]:
    """The players that no chain of games connects with the anchor."""
    return set(players) - _reached(((score.black, score.white) for score in scores), anchor, both_ways=True)


def _ends(players: Sequence[str], scores: Sequence[Score], anchor: str) -> dict[str, Ends]:
    """For each player, which ends of its distance from the anchor no game bounds if the first move's worth is fixed."""
    points = []  # (who lost it, who won it)
    for score in scores:
        if score.wins or score.draws:
            points.append((score.white, score.black))
        if score.losses or score.draws:
            points.append((score.black, score.white))
    above = _reached(points, anchor)
    below = _reached([(winner, loser) for loser, winner in points], anchor)
    return {name: (name not in above, name not in below) for name in players}


def _reached(edges: Iterable[tuple[str, str]], start: str, both_ways: bool = False) -> set[str]:
    """The players that steps along these edges reach from `start`, itself included."""
    steps: dict[str, set[str]] = defaultdict(set)
    for one, other in edges:
        steps[one].add(other)
        if both_ways:
            steps[other].add(one)
    found, waiting = {start}, [start]
    while waiting:
        new = steps[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _warnings(ends: Mapping[str, Ends], anchor: str) -> list[str]:
    """A sentence for each kind of open end."""
    grouped = ((sorted(name for name, open_ in ends.items() if open_ == kind), why) for kind, why in _WORDS.items())
    return [f"{'; '.join(names)}: {why.format(anchor)}" for names, why in grouped if names]


# The first move's worth beside the ratings: how far the players must rise or fall when it goes to one side.


def _with_first_move(
    players: Sequence[str], scores: Sequence[Score], ends: Mapping[str, Ends]
) -> tuple[Ends, dict[str, Ends]]:
    """The open ends of the first move's worth, and those of the players, which are `ends` without the first move.

    An end is open when the worth can go there without limit, and the ratings along with it, while no game becomes less
    likely. Where both ends are open, the games do not separate the first move from strength, as when each player always
    has one color: the prior of the first move decides there, and the players keep their ends.
    """
    origin = np.zeros(len(players))
    low, high = (_longest_paths(origin, *_rises(players, scores, way)) is not None for way in (-1, 1))
    if low == high:
        return (low, high), dict(ends)
    losers, winners, rises = _rises(players, scores, 1 if high else -1)
    origin[1:] = -math.inf
    rise, fall = (_longest_paths(origin, *way, rises) for way in ((losers, winners), (winners, losers)))
    assert rise is not None and fall is not None
    return (low, high), {
        name: (ends[name][0] or bool(rise[i] < 0), ends[name][1] or bool(fall[i] < 0)) for i, name in enumerate(players)
    }


def _rises(players: Sequence[str], scores: Sequence[Score], way: int) -> tuple[Indices, Indices, Indices]:
    """For each kind of point who lost it, who won it, and how far at least the winner must rise above the loser.

    When the first move's worth rises by `way`, Black may lose as much on White, and White must gain as much on Black,
    for the point not to become less likely.
    """
    number = {name: i for i, name in enumerate(players)}
    points = []
    for score in scores:
        black, white = number[score.black], number[score.white]
        if score.wins or score.draws:
            points.append((white, black, -way))
        if score.losses or score.draws:
            points.append((black, white, way))
    losers, winners, rises = np.array(points, np.intp).T
    return losers, winners, rises


def _longest_paths(start: Doubles, sources: Indices, targets: Indices, lengths: Indices) -> Doubles | None:
    """The length of the longest path to each player, which has that of its first one in `start`.

    None where a cycle makes paths longer and longer (Bellman, 1958; Ford, 1956).
    """
    found = start
    for _ in start:
        longer = found.copy()
        np.maximum.at(longer, targets, found[sources] + lengths)
        if np.array_equal(longer, found):
            return found
        found = longer
    return None


def _first_move_warnings(ends: Ends, along: Collection[str], scores: Sequence[Score]) -> list[str]:
    """A sentence where no game bounds the first move's worth, and with it the ratings of `along`."""
    if not any(ends):
        return []
    if all(ends):
        return ["the games do not separate the worth of the first move from strength: its interval is a guess"]
    color, side = ("Black", "above") if ends[1] else ("White", "below")
    won = sum(score.wins if ends[1] else score.losses for score in scores)
    every = f"{color} won every game: " if won == sum(score.games for score in scores) else ""
    also = f", nor the ratings that depend on it: {'; '.join(sorted(along))}" if along else ""
    return [f"{every}no game bounds the worth of the first move from {side}{also}"]
