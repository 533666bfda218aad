"""When a match ends, and which of its games count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tengen.match.outcome import Outcome
from tengen.match.schedule import Pairing
from tengen.match.sprt import SprtState
from tengen.statistics import Z95, Tally, wilson


def games_left(
    pairings: Sequence[Pairing], games: int, within: float | None, outcomes: Mapping[int, Outcome]
) -> Iterator[int]:
    """The numbers of the games to play, in order; each pairing meets at most `games` times.

    With `within`, in percentage points, a pairing ends as soon as both ends of the 95% interval of its score are that
    close to the score; a pair of games that was begun is finished. `outcomes` are the games played so far; they
    may grow, and are read again for every number.
    """
    begun = {outcome.pair for outcome in outcomes.values()}
    watches = [ScoreWatch(pairings, place, within, outcomes) for place in range(len(pairings))]
    for index in range(games // 2 * 2 * len(pairings)):
        pair = index // 2
        if index not in outcomes and (pair in begun or not watches[pair % len(pairings)].is_known()):
            begun.add(pair)
            yield index


def games_that_count(
    pairings: Sequence[Pairing], within: float | None, test: SprtState | None, outcomes: Mapping[int, Outcome]
) -> list[Outcome]:
    """The games that count, by their numbers: those of a pairing up to the round that ends it, with `within` or `test`.

    Games of later rounds do not count, so the figures do not depend on how many are played at once.
    """
    if test is not None and test.accepted is not None:
        ends: list[float] = [sum(test.counts)]
    else:
        ends = [ScoreWatch(pairings, place, within, outcomes).end for place in range(len(pairings))]
    return [outcomes[index] for index in sorted(outcomes) if index // 2 < ends[index // 2 % len(ends)]]


class ScoreWatch:
    """Whether the score of the pairing at this place is known well enough.

    Rounds count in their order up to the first incomplete one, and those after the deciding one do not count, so that
    neither games that end out of order nor an interruption change the result.
    """

    def __init__(
        self, pairings: Sequence[Pairing], place: int, within: float | None, outcomes: Mapping[int, Outcome]
    ) -> None:
        self._pairings = len(pairings)
        self._first = pairings[place][0]
        self._pair = place  # of the next round to look at
        self._within = within
        self._outcomes = outcomes
        self._tally = Tally()
        self._is_known = False

    def is_known(self) -> bool:
        """Whether it is known by now, from the rounds completed since the last call too."""
        while self._within is not None and not self._is_known:
            both = [self._outcomes.get(2 * self._pair), self._outcomes.get(2 * self._pair + 1)]
            winners = [outcome.winner for outcome in both if outcome is not None]
            if len(winners) < 2:
                break
            wins, draws = winners.count(self._first), winners.count(None)
            self._tally += Tally(wins, draws, 2 - wins - draws)
            self._pair += self._pairings
            self._is_known = interval_reach(self._tally) <= self._within / 100
        return self._is_known

    @property
    def end(self) -> float:
        """The pairing's first pair of games that does not count; infinite as long as the score is not known."""
        return self._pair if self.is_known() else math.inf


def games_enough(within: float) -> int:
    """Games after which the score of any pairing is known within `within` percentage points, even without draws.

    Slightly more than between equals: the interval of a share near one half is not centred on it. Of very few games
    that of a player that won all reaches farthest.
    """
    games = 2 * math.ceil(max(0.0, Z95**2 / (4 * (within / 100) ** 2) - Z95**2) / 2)
    shares = [0.0, *np.linspace(0.3, 0.5, 41)]
    while any(wilson(share * games, games)[1] - share > within / 100 for share in shares):
        games += 2
    return games


def interval_reach(tally: Tally) -> float:
    """How far the 95% interval reaches from the score, on its wider side; 0..1."""
    low, high = tally.interval()
    return max(high - tally.score, tally.score - low)
