"""The standings on one board size: ratings, results by color and by pairing, and warnings."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tengen.errors import RecipeError
from tengen.ratings.duplicate_games import duplicate_games
from tengen.ratings.elo import FIRST_MOVE_DEVIATION, Rating, Ratings, fit
from tengen.ratings.pool import GameRules, Pool
from tengen.ratings.score import Score
from tengen.statistics import Tally, expected_score

ANCHOR = "GNU Go level 10"
"""The anchor where it took part."""

_MIN_SHARE = 0.2  # of a player's games with each color, below which there is a warning
_MIN_GAMES = 8  # of a player with such a warning
_HANDICAP_DEVIATION = 2000.0  # of the prior of the worth of handicap stones, in Elo: that of a player's rating


@dataclass(frozen=True)
class PairResult:
    """All games between two players, the better one first; `expected` is the score that the ratings give the first."""

    first: str
    second: str
    tally: Tally
    expected: float | None


@dataclass(frozen=True)
class Standings:
    """The ratings on boards of one size. `by_color` has the games of each player with Black and with White."""

    size: int
    rules: dict[GameRules, float]
    ratings: Ratings
    by_color: dict[str, tuple[Tally, Tally]]
    pairs: tuple[PairResult, ...]
    warnings: tuple[str, ...]

    @property
    def players(self) -> list[str]:
        """Best first, those without a rating last."""
        rated = [rating.player for rating in self.ratings.players]
        return rated + sorted(name for name in self.by_color if name not in self.ratings)

    @property
    def games(self) -> int:
        return sum(pair.tally.games for pair in self.pairs)

    @property
    def black(self) -> Tally:
        """Black's wins, draws and losses in all games."""
        return total(black for black, _ in self.by_color.values())

    @property
    def has_handicap(self) -> bool:
        """Whether Black had handicap stones, whose worth is then that of the first move."""
        return any(rules.handicap for rules in self.rules)

    def text(self, player: str) -> tuple[str, str]:
        """The rating of a player and its interval as text, with signs where they are differences from 0."""
        return elo_text(self.ratings.get(player), signed=not self.ratings.anchor_elo)

    def whole(self, player: str) -> Tally:
        """A player's games with both colors."""
        return total(self.by_color[player])

    def pair(self, one: str, other: str) -> Tally | None:
        """The games between two players from the side of the first, None if there are none."""
        if (tally := self._tallies.get((one, other))) is not None:
            return tally
        found = self._tallies.get((other, one))
        return found and found.turned

    @cached_property
    def _tallies(self) -> dict[tuple[str, str], Tally]:
        return {(pair.first, pair.second): pair.tally for pair in self.pairs}

    def top(self, count: int) -> Standings:
        """The first `count` players and their games with each other, where there is no room for all."""
        names = self.players[:count]
        rated = tuple(rating for rating in self.ratings.players if rating.player in names)
        return replace(
            self,
            ratings=replace(self.ratings, players=rated),
            by_color={name: self.by_color[name] for name in names},
            pairs=tuple(pair for pair in self.pairs if pair.first in names and pair.second in names),
        )

    def as_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON; an Elo without bound is null."""
        advantage = self.ratings.first_move
        return {
            "size": self.size,
            "rules": [{"rules": t.rules, "komi": t.komi, "games": int(n)} for t, n in self.rules.items()],
            "games": self.games,
            "anchor": self.ratings.anchor,
            "anchor_elo": self.ratings.anchor_elo,
            "first_move": None if advantage is None else _elos(advantage),
            "black": tally_figures(self.black),
            "players": list(self.rows()),
            "pairs": [
                {
                    "player": pair.first,
                    "opponent": pair.second,
                    **tally_figures(pair.tally),
                    "expected": None if pair.expected is None else round(pair.expected, 4),
                    "superiority": round(pair.tally.superiority(), 4),
                }
                for pair in self.pairs
            ],
            "warnings": list(self.warnings),
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row of figures for each player, best first."""
        for rank, name in enumerate(self.players, 1):
            rating = self.ratings.get(name)
            black, white = self.by_color[name]
            elos = {"elo": None, "low": None, "high": None} if rating is None else _elos(rating)
            sides = {"as_black": black, "as_white": white}
            shares = {key: round(tally.score, 4) if tally.games else None for key, tally in sides.items()}
            yield {"rank": rank, "player": name, **elos, **tally_figures(self.whole(name)), **shares}


def standings(
    pool: Pool,
    size: int,
    anchor: str | None = None,
    *,
    anchor_elo: float = 0.0,
    first_move: bool = True,
    track: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> Standings:
    """Rate the players of a pool's games on boards of this size.

    `anchor` has `anchor_elo`; where it is None, it is GNU Go level 10 if it took part, else the player with most games,
    of equals the one whose score is nearest to a half, then the first by name. `track` is that of `fit`. Raises
    RecipeError without games, or without games of the anchor.
    """
    here = pool.at(size)
    scores = [score for score in here.scores if score.games]
    if not scores:
        found = ", ".join(f"{n}x{n}" for n in pool.sizes) or "no finished games"
        raise RecipeError(f"there are no games on {size}x{size}; there are {found}")
    by_color = _by_color(scores)
    chosen = anchor or (
        ANCHOR if ANCHOR in by_color else max(sorted(by_color), key=lambda name: _worth(total(by_color[name])))
    )
    rules = here.rules
    deviation = _HANDICAP_DEVIATION if any(terms.handicap for terms in rules) else FIRST_MOVE_DEVIATION
    ratings = fit(
        scores, chosen, anchor_elo=anchor_elo, first_move=first_move, first_move_deviation=deviation, track=track
    )
    one_sided = _one_sided(by_color) if first_move else []
    warnings = (*pool.notes, *_mixed(rules), *one_sided, *ratings.warnings, *duplicate_games(here))
    return Standings(size, rules, ratings, by_color, _pairs(scores, ratings), warnings)


def elo_text(rating: Rating | None, *, signed: bool = True) -> tuple[str, str]:
    """A rating and its interval as text, also above 0 with a sign if `signed`; an end that no game bounds is `?`."""
    if rating is None:
        return "?", "not rated"
    sign = "+" if signed else ""
    low, high = (
        "?" if open_ or math.isinf(end) else f"{round(end):{sign},}"
        for open_, end in ((rating.open_low, rating.low), (rating.open_high, rating.high))
    )
    if rating.low == rating.high:
        return f"{round(rating.elo):,}", "anchor"
    if rating.open_low and rating.open_high:
        return "?", "anywhere"
    if rating.open_high:
        return f"> {low}", f"{low} to ?"
    if rating.open_low:
        return f"< {high}", f"? to {high}"
    return f"{round(rating.elo):{sign},}", f"{low} to {high}"


def tally_figures(tally: Tally) -> dict[str, Any]:
    """A tally with its score and interval, for tables and JSON."""
    low, high = tally.interval()
    return {
        "games": tally.games,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "score": round(tally.score, 4),
        "score_low": round(low, 4),
        "score_high": round(high, 4),
    }


def total(tallies: Iterable[Tally]) -> Tally:
    """All games of several tallies."""
    return sum(tallies, Tally())


def _worth(tally: Tally) -> tuple[int, float]:
    """How suitable an anchor is: a player that lost every game bounds no rating from above."""
    return tally.games, -abs(tally.score - 0.5)


def _by_color(scores: list[Score]) -> dict[str, tuple[Tally, Tally]]:
    black: dict[str, list[Tally]] = defaultdict(list)
    white: dict[str, list[Tally]] = defaultdict(list)
    for score in scores:
        black[score.black].append(score.tally)
        white[score.white].append(score.tally.turned)
    names = dict.fromkeys(name for score in scores for name in (score.black, score.white))
    return {name: (total(black[name]), total(white[name])) for name in names}


def _pairs(scores: list[Score], ratings: Ratings) -> tuple[PairResult, ...]:
    order = {rating.player: i for i, rating in enumerate(ratings.players)}
    last = len(order)
    met: dict[tuple[str, str], list[Tally]] = defaultdict(list)
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for score in scores:
        first, second = sorted((score.black, score.white), key=lambda name: (order.get(name, last), name))
        black = first == score.black
        met[first, second].append(score.tally if black else score.tally.turned)
        chance = _chance(score, ratings)
        expected[first, second] += score.games * (chance if black else 1 - chance)
    found = []
    for (first, second), tallies in met.items():
        whole = total(tallies)
        rated = first in order and second in order
        found.append(PairResult(first, second, whole, expected[first, second] / whole.games if rated else None))
    return tuple(sorted(found, key=lambda p: (order.get(p.first, last), order.get(p.second, last), p.first, p.second)))


def _chance(score: Score, ratings: Ratings) -> float:
    """The chance of Black by the ratings; 0.5 where one of the players has none."""
    black, white = ratings.get(score.black), ratings.get(score.white)
    if black is None or white is None:
        return 0.5
    ahead = black.elo - white.elo + (ratings.first_move.elo if ratings.first_move else 0.0)
    return expected_score(ahead)


def _mixed(rules: dict[GameRules, float]) -> list[str]:
    if len(rules) < 2:
        return []
    each = "; ".join(f"{t.rules} with komi {t.komi:g}{_stones(t)} ({games:g} games)" for t, games in rules.items())
    return [f"games under different rules or komi are rated together: {each}"]


def _stones(rules: GameRules) -> str:
    return f" and handicap {rules.handicap}" if rules.handicap else ""


def _one_sided(by_color: dict[str, tuple[Tally, Tally]]) -> list[str]:
    """A warning about players whose strength is hard to separate from the worth of the first move."""
    found = [
        name
        for name, sides in by_color.items()
        if total(sides).games >= _MIN_GAMES and min(tally.games for tally in sides) < _MIN_SHARE * total(sides).games
    ]
    if not found:
        return []
    return [f"{'; '.join(found)}: nearly always the same color, so strength includes the worth of the first move"]


def _elos(rating: Rating) -> dict[str, float | None]:
    low = -math.inf if rating.open_low else rating.low
    high = math.inf if rating.open_high else rating.high
    return {
        name: round(value, 1) if math.isfinite(value) else None
        for name, value in (("elo", rating.elo), ("low", low), ("high", high))
    }
