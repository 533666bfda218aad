"""A sequential test between two players that ends by itself: the generalised SPRT over pairs of games.

Wald (1945) adds up the logarithm of the likelihood ratio of two hypotheses, here that the first player is `elo0` or
`elo1` better, and stops once it leaves an interval. How often pairs end with 0, 1/2, 1, 3/2 or 2 points is not known,
so each hypothesis takes the most likely distribution with its mean: the generalised ratio of Van den Bergh's notes for
Stockfish's Fishtest (hardy.uhasselt.be/Fishtest/support_MLE_multinomial.pdf, proposition 1.1). A pair is the unit,
since its two games share an opening and are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from tengen.errors import RecipeError
from tengen.match.outcome import Outcome
from tengen.statistics import expected_score

Doubles = NDArray[np.float64]
_SCORES = np.linspace(0, 1, 5)  # of a pair of games
_UNSEEN = 1e-3  # pairs that stand for a result which has not come yet, so that no likelihood is 0
_HALVINGS = 60  # of the interval of a multiplier: as exact as numbers are


class Sprt(BaseModel):
    """Hypotheses in Elo (logistic) of the first player over the second, and the error probabilities.

    `alpha` is the probability of accepting elo1 where elo0 is true, `beta` that of the opposite error; both in 0..0.5.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    elo0: float
    elo1: float
    alpha: Annotated[float, Gt(0), Lt(0.5)] = 0.05
    beta: Annotated[float, Gt(0), Lt(0.5)] = 0.05

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not -2000 <= self.elo0 < self.elo1 <= 2000:
            raise RecipeError(f"elo0 must be below elo1, both within 2000, not {self.elo0:g} and {self.elo1:g}")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the log likelihood ratio: at the first elo0 is accepted, at the second elo1 (Wald, 1945)."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def judge(self, pairs: Iterable[float], open_after: int = 0) -> SprtState:
        """The test after these pairs, in their order; each is the first player's score of a pair: 0, 1/4, ... 1.

        Pairs after the deciding one are ignored, so games that end out of order change nothing. After the first
        `open_after` pairs the test was open, as an earlier call has found: they are not judged again.
        """
        results = np.array([round(4 * score) for score in pairs], np.intp)
        if not len(results):
            return SprtState(self, 0.0, (0,) * 5, None)
        counts = np.cumsum(np.eye(5)[results], axis=0)[min(open_after, len(results) - 1) :]
        ratios = self.ratio(counts)
        lower, upper = self.bounds
        outside = (ratios <= lower) | (ratios >= upper)
        last = int(outside.argmax()) if outside.any() else len(ratios) - 1
        accepted = None if not outside[last] else "elo1" if ratios[last] >= upper else "elo0"
        return SprtState(self, float(ratios[last]), tuple(int(count) for count in counts[last]), accepted)

    def ratio(self, counts: ArrayLike) -> Doubles:
        """Logarithm of the generalised likelihood ratio [...] for counts [..., 5] of pairs with 0, 1/4, ... 1."""
        seen = np.maximum(np.asarray(counts, np.float64), _UNSEEN)
        likely0, likely1 = (_most_likely(seen, expected_score(elo)) for elo in (self.elo0, self.elo1))
        ratio: Doubles = (seen * (np.log(likely1) - np.log(likely0))).sum(axis=-1)
        return ratio


@dataclass(frozen=True)
class SprtState:
    """How far a test is. `counts` are pairs with 0, 1/2, 1, 3/2 and 2 points of the first player.

    `accepted` is `elo0`, `elo1`, or None as long as nothing is decided.
    """

    test: Sprt
    ratio: float
    counts: tuple[int, ...]
    accepted: str | None

    def __str__(self) -> str:
        lower, upper = self.test.bounds
        now = f"LLR {self.ratio:.2f} [{lower:.2f} to {upper:.2f}] after {sum(self.counts)} pairs"
        if self.accepted is None:
            return f"SPRT of Elo {self.test.elo0:g} against {self.test.elo1:g}: {now}"
        elo = self.test.elo0 if self.accepted == "elo0" else self.test.elo1
        return f"SPRT of Elo {self.test.elo0:g} against {self.test.elo1:g} accepts {elo:g}: {now}"

    def figures(self) -> dict[str, Any]:
        """The figures of the test, for JSON."""
        lower, upper = self.test.bounds
        return {
            **self.test.model_dump(),
            "llr": round(self.ratio, 4),
            "bounds": [round(lower, 4), round(upper, 4)],
            "pairs": list(self.counts),
            "accepted": self.accepted,
            "words": str(self),
        }


def pair_scores(outcomes: Iterable[Outcome], player: str) -> list[float]:
    """The player's score, 0..1, of pair 0, 1, ... up to the first pair that is not complete; a void game is a draw."""
    points: dict[int, list[float]] = {}
    for outcome in outcomes:
        point = 0.5 if outcome.winner is None else float(outcome.winner == player)
        points.setdefault(outcome.pair, []).append(point)
    scores: list[float] = []
    while len(found := points.get(len(scores), [])) == 2:
        scores.append(sum(found) / 2)
    return scores


def _most_likely(counts: Doubles, mean: float) -> Doubles:
    """The distribution [..., 5] over scores with this mean under which the counts [..., 5] are most likely.

    Its probabilities are p / (1 + x (score - mean)) with the empirical p, where x makes the mean right; the sum that
    must vanish falls in x, so halving its interval finds it.
    """
    share = counts / counts.sum(axis=-1, keepdims=True)
    beside = _SCORES - mean
    low = np.full(counts.shape[:-1], -1 / beside[-1])
    high = np.full(counts.shape[:-1], -1 / beside[0])
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        above = (share * beside / (1 + x[..., None] * beside)).sum(axis=-1) > 0
        low, high = np.where(above, x, low), np.where(above, high, x)
    found: Doubles = share / (1 + ((low + high) / 2)[..., None] * beside)
    return found
