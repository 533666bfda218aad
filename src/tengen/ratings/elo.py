"""Elo ratings of all players of a pool by maximum likelihood, with warnings about what the games leave open.

Bradley and Terry's model: Black beats White with chance 1 / (1 + 10^(-d / 400)), where d is the difference of their
ratings, plus what the first move is worth where that is asked for. A draw counts as half a win and half a loss
(Glickman, 1999), which leaves the expected score what the formula says, and makes results less noisy than wins and
losses alone are: the likelihood is a quasi-likelihood (Wedderburn, 1974), its scale the variance that the draws leave
in the games that a rating rests on (Kent, 1982). A weak normal prior around the mean of the pool keeps the ratings of
players that never lost or never won finite. The intervals are those of the profile likelihood, so that they are
one-sided where the games are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tengen.errors import RecipeError
from tengen.ratings.open_ends import OpenEnds, unconnected
from tengen.ratings.score import Score, merged, points_of
from tengen.statistics import Z95, noise

Doubles = NDArray[np.float64]
ELO = 400 / math.log(10)  # points of Elo in one unit of the logarithm of the odds
FIRST_MOVE_DEVIATION = 300.0  # of the prior of the first move's worth, in Elo
_POOLED = 1.0  # variance, that of four games between equals, that a pairing takes over with the pool's share of draws
_FARTHEST = 40.0  # units of log odds, some 7,000 Elo: a bound beyond counts as infinite
_EXACT = 1e-3  # of a bound, in units of log odds
_LEVEL = 1e-9  # of the log likelihood: a smaller gain ends the search
_STEP = 1e-4  # of the gain of a step of Newton's method that may be left: the next step makes it up
_MAX_STEPS = 100


@dataclass(frozen=True)
class Rating:
    """Elo, counted from the anchor's, with its 95% interval; `points` of `games` were won in all.

    An end of the interval that is `open` is a guess of the prior: no game bounds the rating there.
    """

    player: str
    elo: float
    low: float
    high: float
    games: float
    points: float
    open_low: bool = False
    open_high: bool = False

    def __str__(self) -> str:
        elo, low, high = (f"{end:+z.0f}" for end in (self.elo, self.low, self.high))
        return f"{elo} [{'?' if self.open_low else low} to {'?' if self.open_high else high}]"


@dataclass(frozen=True)
class Ratings:
    """The ratings of all players that games connect with the anchor, best first. The anchor has `anchor_elo` by
    definition.

    `first_move` is what Black's first move is worth in Elo, with its interval, where that was asked for. `warnings` say
    what the games leave open.
    """

    anchor: str
    players: tuple[Rating, ...]
    first_move: Rating | None
    warnings: tuple[str, ...]
    anchor_elo: float = 0.0

    def __getitem__(self, player: str) -> Rating:
        """Raises KeyError for a player that no games connect with the anchor."""
        rating = self.get(player)
        if rating is None:
            raise KeyError(player)
        return rating

    def get(self, player: str) -> Rating | None:
        return next((rating for rating in self.players if rating.player == player), None)

    def __contains__(self, player: object) -> bool:
        return any(rating.player == player for rating in self.players)


def fit(
    scores: Iterable[Score],
    anchor: str,
    *,
    anchor_elo: float = 0.0,
    first_move: bool = False,
    intervals: Collection[str] | None = None,
    deviation: float = 2000.0,
    first_move_deviation: float = FIRST_MOVE_DEVIATION,
    track: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> Ratings:
    """Rate all players of these games; `anchor` has `anchor_elo`.

    `intervals` names the players whose intervals are wanted, since these take most of the time: all where it is None;
    the others' are infinite. The deviations of the priors are in Elo: that of players around the mean of the pool, and
    that of the first move's worth around 0, without which a player that always has one color could not be rated.
    `track` gives the players one by one as they are rated, for a display of progress.
    Players whom no chain of games joins to the anchor are left out with a warning. Raises RecipeError when the anchor
    has no games or a score is impossible.
    """
    games = merged(scores)
    players = sorted({name for score in games for name in (score.black, score.white)})
    if anchor not in players:
        raise RecipeError(f"{anchor!r} cannot be the anchor: it has no games; there are {', '.join(players) or 'none'}")
    beyond = unconnected(players, games, anchor)
    here = [anchor, *(name for name in players if name != anchor and name not in beyond)]
    inside = [score for score in games if score.black not in beyond]
    likelihood = _Likelihood(here, inside, deviation / ELO, first_move_deviation / ELO if first_move else None)
    points, open_ends = points_of(inside), OpenEnds.of(here, inside, first_move)
    warnings = [f"{'; '.join(sorted(beyond))}: no chain of games leads to {anchor}, not rated"] if beyond else []

    def elos(i: int, interval: bool) -> tuple[float, float, float]:
        low, high = (-math.inf, math.inf)
        if i == 0:
            low, high = 0.0, 0.0
        elif interval:
            low, high = likelihood.bound(i, -1), likelihood.bound(i, 1)
        shift = anchor_elo if i < len(here) else 0.0  # the first move's worth is a difference
        return ELO * float(likelihood.best[i]) + shift, ELO * low + shift, ELO * high + shift

    made = [
        Rating(name, *elos(i, intervals is None or name in intervals), *points[name], *open_ends.players[name])
        for i, name in enumerate(track(here))
    ]
    advantage = None
    if first_move:
        advantage = Rating("first move", *elos(len(here), intervals is None), 0.0, 0.0, *open_ends.first_move)
    ranked = tuple(sorted(made, key=lambda rating: (-rating.elo, rating.player)))
    return Ratings(anchor, ranked, advantage, (*warnings, *open_ends.warnings), anchor_elo)


class _Likelihood:
    """Minus the logarithm of the posterior as a function of the ratings [n] (the anchor first, held at 0).

    All in units of log odds. With the first move its worth follows as the last entry. A row of games is a sum of two or
    three ratings with signs, so sums over rows go by index.
    """

    def __init__(
        self, players: Sequence[str], scores: Sequence[Score], deviation: float, first_move_deviation: float | None
    ) -> None:
        first_move = first_move_deviation is not None
        number = {name: i for i, name in enumerate(players)}
        n = self._n = len(players) + first_move
        columns = [(number[score.black], number[score.white], n - 1)[: 2 + first_move] for score in scores]
        self._columns = np.array(columns, np.intp)
        self._signs = np.array([1.0, -1.0, 1.0][: 2 + first_move])
        self._cells = (self._columns[:, :, None] * n + self._columns[:, None, :]).ravel()
        self._products = np.outer(self._signs, self._signs).ravel()
        self._won = np.array([score.wins + score.draws / 2 for score in scores])
        self._games = np.array([score.games for score in scores])
        self._draws = np.array([score.draws for score in scores])
        pairings: dict[frozenset[str], int] = {}
        pairs = (frozenset((score.black, score.white)) for score in scores)
        self._pairings = np.array([pairings.setdefault(pair, len(pairings)) for pair in pairs], np.intp)
        self._players = len(players)
        self._precision = np.full(n, 1 / deviation**2)  # of the prior
        if first_move_deviation is not None:
            self._precision[-1] = 1 / first_move_deviation**2

    def _odds(self, ratings: Doubles) -> Doubles:
        odds: Doubles = ratings[self._columns] @ self._signs
        return odds

    def _by_rating(self, rows: Doubles) -> Doubles:
        """The sum of the rows of games that each rating is part of, with its sign."""
        return np.asarray(np.bincount(self._columns.ravel(), np.outer(rows, self._signs).ravel(), self._n), np.float64)

    def _pull(self, ratings: Doubles) -> Doubles:
        """The slope of the prior, of one vector of ratings [n] or of several [n, k]."""
        away = ratings.copy()
        away[: self._players] -= ratings[: self._players].mean(axis=0)
        pull: Doubles = (self._precision * away.T).T
        return pull

    def value(self, ratings: Doubles) -> float:
        odds = self._odds(ratings)
        loss = self._games * np.logaddexp(0, odds) - self._won * odds
        return float(loss.sum() + ratings @ self._pull(ratings) / 2)

    def gradient(self, ratings: Doubles) -> Doubles:
        surplus = self._games / (1 + np.exp(-self._odds(ratings))) - self._won
        return self._by_rating(surplus) + self._pull(ratings)

    def _weights(self, ratings: Doubles) -> Doubles:
        """The second derivative of minus the log likelihood by the odds, for each row of games."""
        chance = 1 / (1 + np.exp(-self._odds(ratings)))
        weights: Doubles = self._games * chance * (1 - chance)
        return weights

    def curvature(self, ratings: Doubles) -> Doubles:
        weights = np.outer(self._weights(ratings), self._products).ravel()
        curve = np.bincount(self._cells, weights, self._n**2).reshape(self._n, self._n)
        return curve + self._pull(np.eye(self._n))

    @cached_property
    def best(self) -> Doubles:
        """The most likely ratings; the anchor's is 0."""
        return self.best_with(np.zeros(self._n))

    @cached_property
    def _best_value(self) -> float:
        return self.value(self.best)

    @cached_property
    def _noises(self) -> Doubles:
        """For each row of games, the variance of its pairing's results as a share of what it were without draws.

        At the best ratings. Each pairing has its own, since the draws of one would make the intervals of players
        without draws too narrow. That of a pairing with few games is averaged with the pool's. More weight of the pool
        makes the interval of a few decided games beside many draws too narrow; less makes those of a pool of many short
        pairings too wide.
        """
        weights = self._weights(self.best)
        drawn = 1 - noise(float(self._draws.sum()), float(weights.sum()))
        draws, variances = (np.bincount(self._pairings, rows).tolist() for rows in (self._draws, weights))
        found = [noise(d + 4 * _POOLED * drawn, v + _POOLED) for d, v in zip(draws, variances, strict=True)]
        return np.array(found)[self._pairings]

    def _noise(self, i: int) -> float:
        """The scale of the likelihood ratio of rating i: its variance by the sandwich estimator over that of no draws.

        That is the mean of the pairings' noises, weighted by their parts in its variance. The prior has a part too; no
        draw makes it surer, so its noise is 1.
        """
        covariance = self._covariance[i]
        parts = self._weights(self.best) * self._odds(covariance) ** 2 / covariance[i]
        return float(1 - parts @ (1 - self._noises))

    @cached_property
    def _covariance(self) -> Doubles:
        """The covariance of all ratings, at the best ones; the anchor's row and column are 0."""
        covariance = np.zeros((self._n, self._n))
        covariance[1:, 1:] = np.linalg.inv(self.curvature(self.best)[1:, 1:])
        return covariance

    def best_with(self, start: Doubles, held: int = 0) -> Doubles:
        """The most likely ratings when that of `held` and the anchor's are as in `start`.

        Newton's method, which converges on a convex function when no step may climb.
        """
        free = np.ones(self._n)
        free[[0, held]] = 0
        ratings, value = start.copy(), self.value(start)
        for _ in range(_MAX_STEPS if free.any() else 0):
            slope = self.gradient(ratings) * free
            step = self._step_near_best(ratings, slope, held) if held else self._step(ratings, slope)
            expected = gain = float(slope @ step)
            trial = ratings - step
            while (after := self.value(trial)) > value and gain > _LEVEL:
                step, gain = step / 2, gain / 2
                trial = ratings - step
            ratings, value = trial, after
            if expected < _LEVEL:
                break
        return ratings

    def _step(self, ratings: Doubles, slope: Doubles) -> Doubles:
        """The step of Newton's method, with the anchor held."""
        step = np.zeros(self._n)
        step[1:] = np.linalg.solve(self.curvature(ratings)[1:, 1:], slope[1:])
        return step

    def _step_near_best(self, ratings: Doubles, slope: Doubles, held: int) -> Doubles:
        """The same with another rating held too, all but a share of `_STEP` of its gain.

        By conjugate gradients: with the covariance at the best ratings they need a few rounds of n squared products. To
        solve the equations takes n cubed, for each of the many steps of each end of an interval.
        """
        covariance, weights = self._covariance, self._weights(ratings)
        along = covariance[held] / covariance[held, held]

        def led(residual: Doubles) -> Doubles:
            """What the covariance makes of it, of all ratings while that of `held` stays."""
            moved = covariance @ residual
            return np.asarray(moved - along * moved[held], np.float64)

        step, residual = np.zeros(self._n), slope
        direction = led(residual)
        first = left = float(residual @ direction)
        for _ in range(self._n):
            if left <= _STEP * first:
                break
            curved = self._by_rating(weights * self._odds(direction)) + self._pull(direction)
            curved[[0, held]] = 0
            length = left / float(direction @ curved)
            step, residual = step + length * direction, residual - length * curved
            onward = led(residual)
            left, before = float(residual @ onward), left
            direction = onward + left / before * direction
        return step

    def bound(self, i: int, side: int) -> float:
        """Where rating i is just not refused at 95%: twice the log likelihood ratio over the noise is 1.96 squared."""
        best, best_value, noise = self.best, self._best_value, self._noise(i)
        covariance = self._covariance[i]
        along = covariance / covariance[i]  # how the others follow rating i

        def excess(distance: float) -> float:
            """How many standard errors too far; nearly a straight line."""
            nonlocal along
            there = self.best_with(best + side * distance * along, held=i)
            along = side * (there - best) / distance
            return math.sqrt(max(0.0, 2 * (self.value(there) - best_value) / noise)) - Z95

        far = Z95 * math.sqrt(noise * covariance[i])
        while (above := excess(far)) < 0:
            far *= 1.5
            if far > _FARTHEST:
                return side * math.inf
        # The root between 0 and `far` by false position, in the Illinois form (Dowell and Jarratt, 1971).
        near, below, at, error = 0.0, -Z95, far, above
        while abs(error) * at > _EXACT * Z95:  # the slope is about Z95 / at
            at = near - below * (far - near) / (above - below)
            side_before, error = error > 0, excess(at)
            if error > 0:
                far, above, below = at, error, below / 2 if side_before else below
            else:
                near, below, above = at, error, above if side_before else above / 2
        return float(best[i] + side * at)
