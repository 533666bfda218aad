"""Which games of a match are left: all that it asks for, but those of pairings whose score is known well enough."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tengen.match.outcome import Outcome
from tengen.statistics import Z95, Tally, wilson

Pairing = tuple[str, str]


def left(
    pairings: Sequence[Pairing], games: int, within: float | None, outcomes: Mapping[int, Outcome]
) -> Iterator[int]:
    """The numbers of the games to play, in their order, where each pairing meets `games` times at most.

    With `within`, in percentage points, a pairing ends as soon as the 95% interval of its score reaches no further
    than that to either side; a pair of games that was begun is played to its end. `outcomes` are the games that were
    played; they may grow while this goes on, and are looked at again for every number.
    """
    begun = {outcome.pair for outcome in outcomes.values()}
    watches = [ScoreWatch(pairings, place, within, outcomes) for place in range(len(pairings))]
    for index in range(games // 2 * 2 * len(pairings)):
        pair = index // 2
        if index not in outcomes and (pair in begun or not watches[pair % len(pairings)].is_known()):
            begun.add(pair)
            yield index


class ScoreWatch:
    """Watches whether the score of the pairing at this place is known well enough.

    Rounds count in their order up to the first that is not complete, and what follows the deciding one changes
    nothing: so neither games that end out of turn nor an interruption can.
    """

    def __init__(
        self, pairings: Sequence[Pairing], place: int, within: float | None, outcomes: Mapping[int, Outcome]
    ) -> None:
        self._pairings = len(pairings)
        self._first = pairings[place][0]
        self._pair = place  # of the next round to look at
        self._within = within
        self._outcomes = outcomes
        self._wins = self._draws = self._losses = 0
        self._is_known = False

    def is_known(self) -> bool:
        """Whether it is by now: looks at the rounds that were completed since it was last asked."""
        while self._within is not None and not self._is_known:
            both = [self._outcomes.get(2 * self._pair), self._outcomes.get(2 * self._pair + 1)]
            winners = [outcome.winner for outcome in both if outcome is not None]
            if len(winners) < 2:
                break
            self._wins += winners.count(self._first)
            self._draws += winners.count(None)
            self._losses += 2 - winners.count(self._first) - winners.count(None)
            self._pair += self._pairings
            self._is_known = reach(Tally(self._wins, self._draws, self._losses)) <= self._within / 100
        return self._is_known


def games_enough(within: float) -> int:
    """Games after which the score of any pairing is known within so many percentage points, even if none is drawn.

    It is those of equals and a few more: the interval of a share near one half is not centred on it.
    """
    games = 2 * math.ceil(max(0.0, Z95**2 / (4 * (within / 100) ** 2) - Z95**2) / 2)
    while any(wilson(share * games, games)[1] - share > within / 100 for share in np.linspace(0.3, 0.5, 41)):
        games += 2
    return games


def reach(tally: Tally) -> float:
    """How far the 95% interval reaches from the score, on its wider side; 0..1."""
    low, high = tally.interval()
    return max(high - tally.score, tally.score - low)
