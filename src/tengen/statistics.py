"""Statistics of game results: score, Wilson interval, Elo, probability of superiority, sign test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Z95 = 1.959963984540054  # the normal distribution's 97.5% point
_DECIDED = 2 * 0.25  # the variance of two decided games between equals


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of one player against another; a draw is half a point."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __add__(self, other: Tally) -> Tally:
        """The games of both."""
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    @property
    def turned(self) -> Tally:
        """The same games from the side of the other player."""
        return Tally(self.losses, self.draws, self.wins)

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Share of the points, in 0..1; 0.5 before the first game."""
        return self.points / self.games if self.games else 0.5

    def interval(self) -> tuple[float, float]:
        """95% Wilson interval of the score, in 0..1; (0, 1) before the first game."""
        return wilson(self.points, self.games, self.draws)

    def elo(self) -> tuple[float, float, float]:
        """Elo difference with the ends of its 95% interval; infinite where the score's end is 0 or 1."""
        low, high = self.interval()
        return elo(self.score), elo(low), elo(high)

    def superiority(self) -> float:
        """Probability in 0..1 that the player is the stronger one, from the decided games (Beta, uniform prior).

        The integral of the Beta density with whole parameters is a binomial tail.
        """
        return binomial_tail(self.losses + 1, self.wins + self.losses + 1)


def wilson(points: float, games: float, draws: float = 0) -> tuple[float, float]:
    """95% Wilson score interval (Wilson 1927) of a share `points / games`.

    `draws` games gave half a point each. Draws reduce the variance, so that a game counts as `1 / noise` games. The
    interval is (0, 1) without games.
    """
    if games == 0:
        return 0.0, 1.0
    share, z = points / games, Z95
    n = games / noise(draws, games * share * (1 - share))
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = (centre - spread) / scale if points > 0 else 0.0  # exact, so that its Elo is infinite
    high = (centre + spread) / scale if points < games else 1.0
    return max(0.0, low), min(1.0, high)


def design_effect(values: npt.NDArray[np.float64], groups: npt.NDArray[np.int64]) -> float:
    """How many times as large the variance of the mean of `values` [n] is as that of n independent values, at least 1.

    Values of one group, such as the positions of a game, may depend on each other; groups do not. The variance is the
    cluster-robust one; it is noisy with few groups, so that no less than that of independent values is taken. Where
    nothing shows a dependence, as all values are equal or of one group, each group counts as one value.
    """
    n = len(values)
    _, group = np.unique(groups, return_inverse=True)
    number = int(group.max(initial=-1)) + 1
    if number == n:
        return 1.0
    if number == 1 or np.ptp(values) == 0:
        return n / number
    deviations = values - values.mean()
    sums = np.bincount(group, deviations)
    return max(1.0, float(number / (number - 1) * (n - 1) / n * (sums @ sums) / (deviations @ deviations)))


def student95(degrees: int) -> float:
    """The 97.5% point of Student's t: `Z95` for a variance that is itself estimated, with so many degrees of freedom.

    Closed forms for 1 and 2 degrees; then the expansion by 1 / degrees (Abramowitz and Stegun, 26.7.5), off by 0.12% or
    less. Raises ValueError below 1.
    """
    if degrees < 1:
        raise ValueError(f"degrees of freedom = {degrees}: give 1 or more")
    if degrees == 1:
        return math.tan(0.475 * math.pi)
    if degrees == 2:
        return 0.95 / math.sqrt((1 - 0.95**2) / 2)
    z = Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, 1))


def noise(draws: float, variance: float) -> float:
    """Variance of results with `draws` draws, as a share in 0..1 of their `variance` without draws.

    A result of expectation s has variance s (1 - s) when it is 0 or 1, and less by a quarter of the probability of a
    draw when it may be a half. Two decided games are added, so that a match of draws alone has an interval. Where
    `variance` is estimated from other games and is smaller than the draws alone take away (a quarter each), all of it
    counts as taken by draws.
    """
    return 1 - min(draws / 4, variance) / (variance + _DECIDED)


def elo(score: float) -> float:
    """The Elo difference of a score in 0..1; infinite at the ends."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def expected_score(difference: float) -> float:
    """The score in 0..1 of a player that is so many Elo stronger: the inverse of `elo`."""
    return float(1 / (1 + 10 ** (-difference / 400)))


def binomial_tail(wins: int, games: int) -> float:
    """The probability that at least `wins` of `games` fair coins show heads: a one-sided sign test."""
    if wins <= 0:
        return 1.0
    heads = np.arange(1, games + 1)
    logs = np.cumsum(np.log(games + 1 - heads) - np.log(heads)) - games * math.log(2)
    return float(np.exp(logs[wins - 1 :]).sum())
