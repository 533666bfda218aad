"""What a match says about strength: score, Wilson interval, Elo, likelihood of superiority."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z95 = 1.959963984540054  # the normal distribution's 97.5% point
_DECIDED = 2 * 0.25  # the variance of two decided games between equals


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of one player against another; a draw is half a point."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

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
        """Probability in 0..1 that the player is the stronger one, from the decided games alone (uniform prior)."""
        return beta_above_half(self.wins + 1, self.losses + 1)


def wilson(points: float, games: int, draws: float = 0, z: float = Z95) -> tuple[float, float]:
    """Wilson score interval of a share `points / games`, of which `draws` games gave half a point each.

    A game that may be drawn says more about the share than one that is won or lost: it counts as `1 / noise` games.
    """
    if games == 0:
        return 0.0, 1.0
    share = points / games
    n = games / noise(draws, games * share * (1 - share))
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = (centre - spread) / scale if points > 0 else 0.0  # exact, so that its Elo is infinite
    high = (centre + spread) / scale if points < games else 1.0
    return max(0.0, low), min(1.0, high)


def noise(draws: float, variance: float) -> float:
    """Variance of results of which so many are draws, as a share in 0..1 of their `variance` were there none.

    A result of expectation s varies by s (1 - s) when it is 0 or 1, and by a quarter of the chance of a draw less when
    it may be a half. Two decided games are put in, so that a match of nothing but draws is not beyond doubt.
    """
    return 1 - draws / 4 / (variance + _DECIDED)


def elo(score: float) -> float:
    """Elo difference that a score in 0..1 stands for; infinite at the ends."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def beta_above_half(a: int, b: int) -> float:
    """P(x > 1/2) for x from the Beta distribution with whole a, b >= 1, summed exactly.

    It equals the chance that at most a - 1 of a + b - 1 fair coins show heads.
    """
    n = a + b - 1
    term = total = 1
    for k in range(1, a):  # each binomial coefficient from the last: thousands of games take a moment
        term = term * (n - k + 1) // k
        total += term
    return float(total / 2**n)
