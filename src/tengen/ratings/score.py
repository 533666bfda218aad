"""The results of the games between two players, from which ratings follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tengen.errors import RecipeError
from tengen.statistics import Tally


@dataclass(frozen=True)
class Score:
    """The games between two players with these colors; `wins` and `losses` are Black's.

    The games that a prior stands for may be parts of games; those that were played are whole.
    """

    black: str
    white: str
    wins: float = 0
    draws: float = 0
    losses: float = 0

    @property
    def games(self) -> float:
        return self.wins + self.draws + self.losses

    @property
    def tally(self) -> Tally:
        """The games that were played, from Black's side."""
        return Tally(int(self.wins), int(self.draws), int(self.losses))


def merged(scores: Iterable[Score]) -> list[Score]:
    """One score for each pair and colors; scores without games are dropped.

    Raises RecipeError for a player against itself and for a negative number of games.
    """
    found: dict[tuple[str, str], Score] = {}
    for new in map(_checked, scores):
        old = found.get((new.black, new.white), Score(new.black, new.white))
        sums = (old.wins + new.wins, old.draws + new.draws, old.losses + new.losses)
        found[new.black, new.white] = Score(new.black, new.white, *sums)
    return [score for score in found.values() if score.games > 0]


def points_of(scores: Sequence[Score]) -> dict[str, tuple[float, float]]:
    """The games and the points of every player."""
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for score in scores:
        for name, won in ((score.black, score.wins), (score.white, score.losses)):
            found[name][0] += score.games
            found[name][1] += won + score.draws / 2
    return {name: (games, points) for name, (games, points) in found.items()}


def _checked(score: Score) -> Score:
    if score.black == score.white:
        raise RecipeError(f"{score.black!r} cannot be rated by games against itself")
    if min(score.wins, score.draws, score.losses) < 0:
        raise RecipeError(f"{score.black} against {score.white}: {score} has a negative number of games")
    return score
