"""The sequential test against closed forms, a general optimiser and simulation of its error rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.optimize import minimize

from tengen.match.outcome import Outcome
from tengen.match.schedule import fixture
from tengen.match.sprt import Sprt, pair_scores
from tengen.statistics import Tally

SCORES = np.linspace(0, 1, 5)


def expected(elo: float) -> float:
    return float(1 / (1 + 10 ** (-elo / 400)))


def test_the_bounds_are_walds() -> None:
    assert Sprt(elo0=0, elo1=5).bounds == pytest.approx((-2.944439, 2.944439))
    assert Sprt(elo0=0, elo1=5, alpha=0.01, beta=0.1).bounds == pytest.approx((math.log(10 / 99), math.log(90)))


def test_the_ratio_of_pairs_won_or_lost_is_the_binomial_one() -> None:
    test = Sprt(elo0=0, elo1=40)
    wins, losses = 63, 41
    closed = wins * math.log(expected(40) / 0.5) + losses * math.log((1 - expected(40)) / 0.5)
    assert float(test.ratio([losses, 0, 0, 0, wins])) == pytest.approx(closed, abs=0.01)


@pytest.mark.parametrize("counts", [[4, 11, 30, 17, 6], [1, 2, 90, 5, 3], [40, 20, 9, 2, 1]])
def test_the_ratio_is_that_of_the_most_likely_distributions(counts: list[int]) -> None:
    test = Sprt(elo0=-10, elo1=60)

    def likelihood(elo: float) -> float:
        """The largest log likelihood under a mean, found by a general optimiser."""
        found = minimize(
            lambda p: -float(np.dot(counts, np.log(p))),
            np.array(counts) / sum(counts),
            bounds=[(1e-5, 1)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p: p @ SCORES - expected(elo)},
            ],
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert found.success
        return -float(found.fun)

    assert float(test.ratio(counts)) == pytest.approx(likelihood(60) - likelihood(-10), abs=1e-3)


def decisions(test: Sprt, truth: list[float], matches: int, seed: int) -> tuple[float, float]:
    """The share of matches in which elo1 was accepted, and the mean number of pairs; all must end."""
    rng = np.random.default_rng(seed)
    lower, upper = test.bounds
    counts = np.zeros((matches, 5))
    accepted, pairs = 0, 0
    for _ in range(2000):
        counts[np.arange(len(counts)), rng.choice(5, len(counts), p=truth)] += 1
        pairs += len(counts)
        ratio = test.ratio(counts)
        accepted += int((ratio >= upper).sum())
        counts = counts[(ratio > lower) & (ratio < upper)]
        if not len(counts):
            return accepted / matches, pairs / matches
    raise AssertionError(f"{len(counts)} matches did not end")


def with_mean(base: list[float], mean: float) -> list[float]:
    """The distribution of this shape with this mean: it leans by a straight line."""
    shape, beside = np.array(base), SCORES - 0.5
    return list(shape * (1 + (mean - 0.5) / (shape @ beside**2) * beside))


@pytest.mark.parametrize("base", [[0.12, 0.2, 0.36, 0.2, 0.12], [0.2, 0, 0.6, 0, 0.2]])
def test_the_error_rates_hold_in_simulated_matches(base: list[float]) -> None:
    """Once with draws, once where the opening decides most pairs."""
    test = Sprt(elo0=0, elo1=100, alpha=0.05, beta=0.1)
    wrong1, pairs0 = decisions(test, with_mean(base, expected(0)), 2000, seed=1)
    right1, pairs1 = decisions(test, with_mean(base, expected(100)), 2000, seed=2)
    # Two standard deviations of 2,000 matches are 1.0% and 1.3%; overshoot makes Wald's bounds a little too careful.
    assert 0.02 < wrong1 < 0.06
    assert 0.88 < right1 < 0.96
    variance = float(base @ (SCORES - 0.5) ** 2)
    fixed = (1.645 + 1.282) ** 2 * variance / (expected(100) - 0.5) ** 2  # pairs of a test of fixed length
    assert max(pairs0, pairs1) < 0.75 * fixed, "a test that stops by itself should need fewer games"


@pytest.mark.slow
def test_the_score_at_the_end_leans_towards_the_decision_as_the_guide_says() -> None:
    test, random = Sprt(elo0=0, elo1=100), np.random.default_rng(4)
    for truth, leans in ((0.5, (-0.05, -0.015)), (expected(50), (-0.015, 0.015)), (expected(100), (0.015, 0.05))):
        covered, beside = 0, []
        for _ in range(300):
            pairs = (random.random((200, 2)) < truth).mean(axis=1)
            ended = test.judge(pairs.tolist())
            games = 2 * sum(ended.counts)
            wins = round(float(pairs[: games // 2].sum()) * 2)
            low, high = Tally(wins, 0, games - wins).interval()
            covered += low <= truth <= high
            beside.append(wins / games - truth)
        assert 0.86 < covered / 300 < 0.95
        assert leans[0] < np.mean(beside) < leans[1]


def test_the_decision_does_not_depend_on_later_pairs() -> None:
    test = Sprt(elo0=0, elo1=100)
    pairs = [1.0] * 40
    decided = test.judge(pairs)
    assert decided.accepted == "elo1" and sum(decided.counts) < 40
    assert test.judge(pairs + [0.0] * 400) == decided
    assert test.judge([0.0] * 40).accepted == "elo0"
    assert test.judge([]).ratio == 0 and test.judge([]).accepted is None
    assert "accepts 100: LLR" in str(decided) and "accepts 0: LLR" in str(test.judge([0.0] * 40))
    assert decided.figures()["pairs"][4] == sum(decided.counts)


def test_a_match_judges_each_pair_about_once_as_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = list(np.random.default_rng(2).integers(0, 5, 400) / 4)
    test, judged, judged_rows, open_after = Sprt(elo0=-5, elo1=60), [], 0, 0
    fresh = [test.judge(pairs[:n]) for n in range(len(pairs))]
    ratio = Sprt.ratio

    def counted(self: Sprt, counts: np.ndarray) -> np.ndarray:
        nonlocal judged_rows
        judged_rows += len(counts)
        return ratio(self, counts)

    monkeypatch.setattr(Sprt, "ratio", counted)
    for n in range(len(pairs)):
        judged.append(test.judge(pairs[:n], open_after))
        if judged[-1].accepted:
            break
        open_after = sum(judged[-1].counts)
    assert judged == fresh[: len(judged)] and judged[-1].accepted and len(judged) > 20
    assert judged_rows < 2 * len(judged)
    assert test.judge(pairs, open_after) == test.judge(pairs) == judged[-1]  # of many new pairs the first that decides


def test_an_undecided_test_counts_all_pairs() -> None:
    test = Sprt(elo0=0, elo1=100)
    now = test.judge([0.75, 0.25, 0.75, 1.0])
    assert (now.counts, now.accepted) == ((0, 1, 0, 2, 1), None)
    assert now.ratio == pytest.approx(float(test.ratio([0, 1, 0, 2, 1])))
    assert str(now) == f"SPRT of Elo 0 against 100: LLR {now.ratio:.2f} [-2.94 to 2.94] after 4 pairs"
    assert test.judge([]).counts == (0, 0, 0, 0, 0)


def test_pairs_count_in_their_order_once_complete() -> None:
    def outcome(index: int, winner: str | None) -> Outcome:
        game = fixture([("a", "b")], index)
        return Outcome(index, game.round, game.pair, game.black, game.white, winner, "B+R", "resign", 9)

    games = [outcome(5, "a"), outcome(1, "a"), outcome(0, "b"), outcome(3, None), outcome(2, "a"), outcome(4, "a")]
    assert pair_scores(games, "a") == [0.5, 0.75, 1.0]
    assert pair_scores(games, "b") == [0.5, 0.25, 0.0]
    assert pair_scores(games[:3], "a") == [0.5]
    assert pair_scores(games[:2], "a") == []


@pytest.mark.parametrize(
    "fields",
    [{"elo0": 5, "elo1": 5}, {"elo0": 0, "elo1": 5, "alpha": 0.5}, {"elo0": 0, "elo1": 5, "beta": 0}, {"elo0": 0}],
)
def test_impossible_tests_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Sprt.model_validate(fields)
