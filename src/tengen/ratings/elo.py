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
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tengen.errors import RecipeError
from tengen.statistics import Z95, noise

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
ELO = 400 / math.log(10)  # points of Elo in one unit of the logarithm of the odds
_POOLED = 1.0  # variance, that of four games between equals, that a pairing takes over with the pool's share of draws
_FARTHEST = 40.0  # units of log odds, some 7,000 Elo: a bound beyond counts as infinite
_EXACT = 1e-3  # of a bound, in units of log odds
_LEVEL = 1e-9  # of the log likelihood: a smaller gain ends the search
_STEP = 1e-4  # of the gain of a step of Newton's method that may be left: the next step makes it up
_MAX_STEPS = 100


@dataclass(frozen=True)
class Score:
    """The games between two players with these colors; `wins` and `losses` are Black's."""

    black: str
    white: str
    wins: float = 0
    draws: float = 0
    losses: float = 0

    @property
    def games(self) -> float:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class Rating:
    """Elo above the anchor with its 95% interval; `points` of `games` were won in all.

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
    """The ratings of all players that games connect with the anchor, best first. The anchor has 0 by definition.

    `first_move` is what Black's first move is worth in Elo, with its interval, where that was asked for. `warnings` say
    what the games leave open.
    """

    anchor: str
    players: tuple[Rating, ...]
    first_move: Rating | None
    warnings: tuple[str, ...]

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
    first_move: bool = False,
    intervals: Collection[str] | None = None,
    deviation: float = 2000.0,
    first_move_deviation: float = 300.0,
) -> Ratings:
    """Rate all players of these games; `anchor` is 0.

    `intervals` names the players whose intervals are wanted, since these take most of the time: all where it is None;
    the others' are infinite. The deviations of the priors are in Elo: that of players around the mean of the pool, and
    that of the first move's worth around 0, without which a player that always has one color could not be rated.
    Players whom no chain of games joins to the anchor are left out with a warning. Raises RecipeError when the anchor
    has no games or a score is impossible.
    """
    games = _merged(_checked(score) for score in scores)
    players = sorted({name for score in games for name in (score.black, score.white)})
    if anchor not in players:
        raise RecipeError(f"{anchor!r} cannot be the anchor: it has no games; there are {', '.join(players) or 'none'}")
    beyond = _unreached(players, games, anchor)
    here = [anchor, *(name for name in players if name != anchor and name not in beyond)]
    inside = [score for score in games if score.black not in beyond]
    likelihood = _Likelihood(here, inside, deviation / ELO, first_move_deviation / ELO if first_move else None)
    points, ends = _points(inside), _open_ends(here, inside, anchor)
    warnings = [f"{'; '.join(sorted(beyond))}: no chain of games leads to {anchor}, not rated"] if beyond else []
    warnings += _open_warnings(ends, anchor)
    first_move_ends = (False, False)
    if first_move:
        first_move_ends, widened = _open_with_first_move(here, inside, ends)
        along = [name for name in here if widened[name] != ends[name]]
        warnings += _first_move_warnings(first_move_ends, along, inside)
        ends = widened

    def elos(i: int, interval: bool) -> tuple[float, float, float]:
        low, high = (-math.inf, math.inf)
        if i == 0:
            low, high = 0.0, 0.0
        elif interval:
            low, high = likelihood.bound(i, -1), likelihood.bound(i, 1)
        return float(ELO * likelihood.best[i]) + 0.0, ELO * low, ELO * high

    made = [
        Rating(name, *elos(i, intervals is None or name in intervals), *points[name], *ends[name])
        for i, name in enumerate(here)
    ]
    advantage = None
    if first_move:
        advantage = Rating("first move", *elos(len(here), intervals is None), 0.0, 0.0, *first_move_ends)
    ranked = tuple(sorted(made, key=lambda rating: (-rating.elo, rating.player)))
    return Ratings(anchor, ranked, advantage, tuple(warnings))


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

    def _odds(self, ratings: Floats) -> Floats:
        odds: Floats = ratings[self._columns] @ self._signs
        return odds

    def _by_rating(self, rows: Floats) -> Floats:
        """The sum of the rows of games that each rating is part of, with its sign."""
        return np.asarray(np.bincount(self._columns.ravel(), np.outer(rows, self._signs).ravel(), self._n), np.float64)

    def _pull(self, ratings: Floats) -> Floats:
        """The slope of the prior, of one vector of ratings [n] or of several [n, k]."""
        away = ratings.copy()
        away[: self._players] -= ratings[: self._players].mean(axis=0)
        pull: Floats = (self._precision * away.T).T
        return pull

    def value(self, ratings: Floats) -> float:
        odds = self._odds(ratings)
        loss = self._games * np.logaddexp(0, odds) - self._won * odds
        return float(loss.sum() + ratings @ self._pull(ratings) / 2)

    def gradient(self, ratings: Floats) -> Floats:
        surplus = self._games / (1 + np.exp(-self._odds(ratings))) - self._won
        return self._by_rating(surplus) + self._pull(ratings)

    def _weights(self, ratings: Floats) -> Floats:
        """The second derivative of minus the log likelihood by the odds, for each row of games."""
        chance = 1 / (1 + np.exp(-self._odds(ratings)))
        weights: Floats = self._games * chance * (1 - chance)
        return weights

    def curvature(self, ratings: Floats) -> Floats:
        weights = np.outer(self._weights(ratings), self._products).ravel()
        curve = np.bincount(self._cells, weights, self._n**2).reshape(self._n, self._n)
        return curve + self._pull(np.eye(self._n))

    @cached_property
    def best(self) -> Floats:
        """The most likely ratings; the anchor's is 0."""
        return self.best_with(np.zeros(self._n))

    @cached_property
    def _best_value(self) -> float:
        return self.value(self.best)

    @cached_property
    def _noises(self) -> Floats:
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
    def _covariance(self) -> Floats:
        """The covariance of all ratings, at the best ones; the anchor's row and column are 0."""
        covariance = np.zeros((self._n, self._n))
        covariance[1:, 1:] = np.linalg.inv(self.curvature(self.best)[1:, 1:])
        return covariance

    def best_with(self, start: Floats, held: int = 0) -> Floats:
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

    def _step(self, ratings: Floats, slope: Floats) -> Floats:
        """The step of Newton's method, with the anchor held."""
        step = np.zeros(self._n)
        step[1:] = np.linalg.solve(self.curvature(ratings)[1:, 1:], slope[1:])
        return step

    def _step_near_best(self, ratings: Floats, slope: Floats, held: int) -> Floats:
        """The same with another rating held too, all but a share of `_STEP` of its gain.

        By conjugate gradients: with the covariance at the best ratings they need a few rounds of n squared products. To
        solve the equations takes n cubed, for each of the many steps of each end of an interval.
        """
        covariance, weights = self._covariance, self._weights(ratings)
        along = covariance[held] / covariance[held, held]

        def led(residual: Floats) -> Floats:
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


def _checked(score: Score) -> Score:
    if score.black == score.white:
        raise RecipeError(f"{score.black!r} cannot be rated by games against itself")
    if min(score.wins, score.draws, score.losses) < 0:
        raise RecipeError(f"{score.black} against {score.white}: {score} has a negative number of games")
    return score


def _merged(scores: Iterable[Score]) -> list[Score]:
    """One score for each pair and colors; scores without games are dropped."""
    found: dict[tuple[str, str], Score] = {}
    for new in scores:
        old = found.get((new.black, new.white), Score(new.black, new.white))
        merged = (old.wins + new.wins, old.draws + new.draws, old.losses + new.losses)
        found[new.black, new.white] = Score(new.black, new.white, *merged)
    return [score for score in found.values() if score.games > 0]


def _points(scores: Sequence[Score]) -> dict[str, tuple[float, float]]:
    """Games and points of every player."""
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for score in scores:
        for name, won in ((score.black, score.wins), (score.white, score.losses)):
            found[name][0] += score.games
            found[name][1] += won + score.draws / 2
    return {name: (games, points) for name, (games, points) in found.items()}


# What the games connect: the players and ratings that chains of games, and chains of points, join to the anchor.

_Ends = tuple[bool, bool]
"""Whether the low and the high end of a rating are open: bounded by no game."""

_WORDS = {
    (False, True): "no point was lost on the way to {}: only the low end of the interval comes from games",
    (True, False): "no point was won on the way to {}: only the high end of the interval comes from games",
    (True, True): "no chain of points either way to {}: the interval is a guess",
}


def _unreached(players: Sequence[str], scores: Sequence[Score], anchor: str) -> set[str]:
    """The players that no chain of games connects with the anchor."""
    return set(players) - _reached(((score.black, score.white) for score in scores), anchor, both_ways=True)


def _open_ends(players: Sequence[str], scores: Sequence[Score], anchor: str) -> dict[str, _Ends]:
    """For each player, which ends of its distance from the anchor no game bounds.

    A rating has two ends when a chain of points leads from the player to the anchor and another one back (Ford, 1957).
    """
    points = []  # (who lost it, who won it)
    for score in scores:
        if score.wins or score.draws:
            points.append((score.white, score.black))
        if score.losses or score.draws:
            points.append((score.black, score.white))
    above = _reached(points, anchor)
    below = _reached([(winner, loser) for loser, winner in points], anchor)
    return {name: (name not in above, name not in below) for name in players}


def _open_warnings(ends: Mapping[str, _Ends], anchor: str) -> list[str]:
    """A sentence for each kind of open end."""
    grouped = ((sorted(name for name, open_ in ends.items() if open_ == kind), why) for kind, why in _WORDS.items())
    return [f"{'; '.join(names)}: {why.format(anchor)}" for names, why in grouped if names]


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


# The first move's worth beside the ratings: how far the players must rise or fall when it goes to one side.


def _open_with_first_move(
    players: Sequence[str], scores: Sequence[Score], ends: Mapping[str, _Ends]
) -> tuple[_Ends, dict[str, _Ends]]:
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


def _rises(players: Sequence[str], scores: Sequence[Score], way: int) -> tuple[Numbers, Numbers, Numbers]:
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


def _longest_paths(start: Floats, sources: Numbers, targets: Numbers, lengths: Numbers) -> Floats | None:
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


def _first_move_warnings(ends: _Ends, along: Collection[str], scores: Sequence[Score]) -> list[str]:
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
