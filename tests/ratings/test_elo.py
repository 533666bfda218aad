"""The ratings of a pool: closed forms, and simulated pools whose truth is known."""

from __future__ import annotations

import math
from itertools import combinations
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.optimize import minimize

from tengen.errors import RecipeError
from tengen.ratings.elo import Rating, fit
from tengen.ratings.score import Score
from tengen.statistics import elo

FLAT = 1e6  # a prior that is none


def test_two_players_have_the_logit_of_the_score() -> None:
    ratings = fit([Score("a", "b", 30, 5, 10), Score("b", "a", 20, 5, 30)], "b", deviation=FLAT)
    assert ratings["a"].elo == pytest.approx(elo((30 + 30 + 5) / 100), abs=0.01)
    assert (ratings["b"].elo, ratings["b"].low, ratings["b"].high) == (0, 0, 0)
    assert (ratings["a"].games, ratings["a"].points) == (100, 65)
    assert [rating.player for rating in ratings.players] == ["a", "b"]
    assert ratings.warnings == ()


def test_the_interval_of_two_players_is_where_the_likelihood_ratio_says() -> None:
    ratings = fit([Score("a", "b", 70, 0, 30)], "b", deviation=FLAT)

    def likelihood(rating: float) -> float:
        p = 1 / (1 + 10 ** (-rating / 400))
        return 70 * math.log(p) + 30 * math.log(1 - p)

    for end in (ratings["a"].low, ratings["a"].high):
        assert 2 * (likelihood(elo(0.7)) - likelihood(end)) == pytest.approx(1.96**2, abs=0.01)
    assert ratings["a"].low < elo(0.7) < ratings["a"].high


def test_a_chain_adds_up() -> None:
    scores = [Score("a", "b", 60, 0, 40), Score("b", "c", 60, 0, 40), Score("d", "c", 25, 50, 25)]
    ratings = fit(scores, "c", deviation=FLAT)
    assert ratings["a"].elo == pytest.approx(2 * elo(0.6), abs=0.01)
    assert ratings["d"].elo == pytest.approx(0, abs=0.01)
    # Errors of independent matches add up in squares.
    width = [(ratings[name].high - ratings[name].low) / 2 for name in "ab"]
    assert width[0] == pytest.approx(width[1] * math.sqrt(2), rel=0.02)
    only = fit(scores, "c", deviation=FLAT, intervals=["a"])
    assert only["a"] == ratings["a"]
    assert (only["b"].elo, only["b"].low, only["b"].high) == (ratings["b"].elo, -math.inf, math.inf)


def test_the_intervals_of_a_pool_are_those_of_a_slow_twin() -> None:
    rng = np.random.default_rng(2)
    names = ["anchor", "b", "c", "d", "e"]
    scores = [Score(i, j, *map(int, rng.integers(0, 9, 3))) for i in names for j in names if i != j]
    ratings = fit(scores, "anchor", first_move=True, deviation=FLAT, first_move_deviation=FLAT)

    def chance(score: Score, values: list[float]) -> float:
        """That Black wins, by the Elo [4] above the anchor and of the first move."""
        elos = dict(zip(names, [0.0, *values[:4]], strict=True))
        return float(1 / (1 + 10 ** (-(elos[score.black] - elos[score.white] + values[4]) / 400)))

    def deviance(values: list[float]) -> float:
        """Minus twice the log likelihood, game by game."""
        total = 0.0
        for score in scores:
            p = chance(score, values)
            total += (score.wins + score.draws / 2) * math.log(p) + (score.losses + score.draws / 2) * math.log(1 - p)
        return -2 * total

    def lowest(held: int | None, at: float) -> float:
        def free(x: np.ndarray) -> float:
            values = list(100 * x)
            return deviance(values if held is None else [*values[:held], at, *values[held:]])

        return float(minimize(free, np.zeros(5 - (held is not None)), method="BFGS").fun)

    assert ratings.first_move is not None
    found = [*(ratings[name].elo for name in names[1:]), ratings.first_move.elo]

    def variance_and_draws(games: list[Score]) -> tuple[float, float]:
        """The variance of the results without draws, and what the draws take of it."""
        variance = sum(score.games * chance(score, found) * (1 - chance(score, found)) for score in games)
        return variance, sum(score.draws for score in games) / 4

    variance, drawn = variance_and_draws(scores)
    information, spread = np.zeros((5, 5)), np.zeros((5, 5))
    for one, other in combinations(names, 2):
        both = [score for score in scores if {score.black, score.white} == {one, other}]
        of_pair, drawn_of_pair = variance_and_draws(both)
        noise = 1 - (drawn_of_pair + drawn / (variance + 1 / 2)) / (of_pair + 1 + 1 / 2)
        for score in both:
            row = np.array([(score.black == name) - (score.white == name) for name in names[1:]] + [1.0])
            part = variance_and_draws([score])[0] * np.outer(row, row)
            information, spread = information + part, spread + noise * part
    covariance = np.linalg.inv(information)
    robust = covariance @ spread @ covariance  # the sandwich estimator
    least = lowest(None, 0.0)
    for i, rating in enumerate([*(ratings[name] for name in names[1:]), ratings.first_move]):
        for end in (rating.low, rating.high):
            scale = robust[i, i] / covariance[i, i]
            assert (lowest(i, end) - least) / scale == pytest.approx(1.96**2, abs=0.02)


def test_the_anchor_only_shifts() -> None:
    scores = [Score("a", "b", 9, 1, 4), Score("b", "c", 3, 3, 6), Score("c", "a", 5, 0, 5)]
    by_b, by_c = fit(scores, "b"), fit(scores, "c")
    for name in "abc":
        assert by_b[name].elo - by_b["c"].elo == pytest.approx(by_c[name].elo, abs=0.01)
    assert by_b["c"].low == pytest.approx(-by_c["b"].high, abs=0.5)


def test_the_anchor_may_have_an_elo_of_its_own() -> None:
    scores = [Score("a", "b", 9, 1, 4), Score("b", "c", 3, 3, 6), Score("c", "a", 5, 0, 5)]
    plain, offset = (fit(scores, "b", first_move=True, anchor_elo=elo) for elo in (0.0, 1800.0))
    for rating in plain.players:
        there = offset[rating.player]
        found = (there.elo, there.low, there.high)
        assert found == pytest.approx((rating.elo + 1800, rating.low + 1800, rating.high + 1800), abs=1e-9)
    assert (offset["b"].elo, offset["b"].low, offset["b"].high, offset.anchor_elo) == (1800, 1800, 1800, 1800)
    assert offset.first_move == plain.first_move


def test_the_first_move_is_disambiguated_from_strength() -> None:
    # Both directions of a pairing: logit(p) = d + m and logit(q) = -d + m give both in closed form.
    ratings = fit(
        [Score("a", "b", 80, 0, 20), Score("b", "a", 60, 0, 40)],
        "b",
        first_move=True,
        deviation=FLAT,
        first_move_deviation=FLAT,
    )
    assert ratings.first_move is not None
    assert ratings["a"].elo == pytest.approx((elo(0.8) - elo(0.6)) / 2, abs=0.01)
    assert ratings.first_move.elo == pytest.approx((elo(0.8) + elo(0.6)) / 2, abs=0.01)
    assert ratings.first_move.low < ratings.first_move.elo < ratings.first_move.high


def test_who_always_had_the_same_color_is_rated_less_surely() -> None:
    # Nothing in the games tells White's strength from the loss of the first move; 300 Elo of it are one deviation.
    games = [Score("a", "b", 50, 0, 50), Score("a", "c", 50, 0, 50), Score("c", "a", 50, 0, 50)]
    without, with_ = fit(games, "a"), fit(games, "a", first_move=True)
    assert abs(with_["b"].elo) < 20
    assert with_["b"].high - with_["b"].low > 1.2 * (without["b"].high - without["b"].low)
    alone = fit(games[:1], "a", first_move=True)
    assert alone["b"].high == pytest.approx(1.96 * 300, rel=0.1)


def test_who_never_lost_stays_finite_and_is_told() -> None:
    ratings = fit([Score("a", "b", 50), Score("b", "a", 0, 0, 50), Score("b", "c", 5, 0, 5)], "b")
    a = ratings["a"]
    # The lowest rating that is not refused: 100 wins of 100 with half of 1.96 squared of log likelihood below the best.
    assert a.low == pytest.approx(elo(math.exp(-(1.96**2) / 2 / 100)), abs=60)
    assert a.low < 800 < a.elo < a.high
    assert (a.open_low, a.open_high) == (False, True)
    assert (ratings["c"].open_low, ratings["c"].open_high) == (False, False)
    assert len(ratings.warnings) == 1 and ratings.warnings[0].startswith("a: ") and "low end" in ratings.warnings[0]
    loser = fit([Score("a", "b", 50), Score("b", "c", 5, 0, 5)], "a")
    assert "b; c: " in loser.warnings[0] and "high end" in loser.warnings[0]
    assert (loser["c"].open_low, loser["c"].open_high) == (True, False)


def test_who_won_all_games_is_where_the_prior_stops_the_likelihood() -> None:
    """Normal, of 2,000 Elo around the mean of both: the slopes of 10 log(1 + exp(-t)) and t²/4 d² meet."""
    unit = 400 / math.log(10)
    t, d = fit([Score("a", "b", 10, 0, 0)], "b")["a"].elo / unit, 2000 / unit
    assert 10 / (1 + math.exp(t)) == pytest.approx(t / 2 / d**2, rel=1e-4)


def test_players_without_a_chain_of_games_to_the_anchor_are_left_out() -> None:
    ratings = fit([Score("a", "b", 3, 0, 4), Score("x", "y", 3, 0, 4)], "a")
    assert "x" not in ratings and "b" in ratings
    assert ratings.warnings == ("x; y: no chain of games leads to a, not rated",)
    with pytest.raises(KeyError):
        ratings["x"]


def test_impossible_input_is_named() -> None:
    with pytest.raises(RecipeError, match=r"'gnugo' cannot be the anchor.*there are a, b"):
        fit([Score("a", "b", 1, 0, 1)], "gnugo")
    with pytest.raises(RecipeError, match="against itself"):
        fit([Score("a", "a", 1, 0, 1)], "a")
    with pytest.raises(RecipeError, match="negative number of games"):
        fit([Score("a", "b", -1, 0, 1)], "a")


@pytest.mark.parametrize("drawn", [0.0, 0.5, 1.0])
def test_intervals_cover_the_truth_about_as_often_as_they_say(drawn: float) -> None:
    """Four players, both colors, 15 games each; of those between equals the share `drawn` / 2 is a draw."""
    rng = np.random.default_rng(11)
    truth = {"anchor": 0.0, "b": -150.0, "c": 120.0, "d": 350.0}
    names, first = list(truth), 40.0
    inside = {name: 0 for name in (*names[1:], "first move")}
    pools = 100
    for _ in range(pools):
        scores = []
        for one in names:
            for other in names:
                if one != other:
                    chance = 1 / (1 + 10 ** (-(truth[one] - truth[other] + first) / 400))
                    scores.append(Score(one, other, *simulated(chance, drawn, 15, rng)))
        ratings = fit(scores, "anchor", first_move=True)
        assert ratings.first_move is not None
        inside["first move"] += ratings.first_move.low <= first <= ratings.first_move.high
        for name in names[1:]:
            inside[name] += ratings[name].low <= truth[name] <= ratings[name].high
    assert 0.93 <= sum(inside.values()) / (4 * pools) <= 0.975, inside
    assert min(inside.values()) / pools >= 0.90, inside


def test_players_with_and_without_draws_are_rated_side_by_side() -> None:
    """One noise for all games made C's interval 0.57 times and B's 1.8 times as wide."""
    decided = [Score("c", "a", 25, 0, 25), Score("a", "c", 25, 0, 25)]
    drawish = [Score("b", "a", 8, 135, 7), Score("a", "b", 7, 135, 8)]
    both = fit([*decided, *drawish], "a")
    for name, games in (("b", drawish), ("c", decided)):
        alone = fit(games, "a")[name]
        assert both[name].low == pytest.approx(alone.low, rel=0.05)
        assert both[name].high == pytest.approx(alone.high, rel=0.05)
        assert both[name].elo == pytest.approx(alone.elo, abs=0.1)


@pytest.mark.parametrize("games", [150, 15])
def test_intervals_cover_the_truth_with_unequal_shares_of_draws(games: int) -> None:
    """Beside 300 or 30 games of which nine in ten are draws, C has a third as many without a draw, and D both kinds."""
    rng = np.random.default_rng(12)
    truth = {"a": 0.0, "b": 0.0, "c": 30.0, "d": -60.0}
    drawn = [
        ("a", "b", 1.8, games),
        ("a", "c", 0.0, games // 3),
        ("a", "d", 0.0, games // 3),
        ("b", "d", 1.0, games // 3),
    ]
    inside = {name: 0 for name in "bcd"}
    pools = 300
    for _ in range(pools):
        scores = []
        for one, other, share, number in drawn:
            for black, white in ((one, other), (other, one)):
                chance = 1 / (1 + 10 ** (-(truth[black] - truth[white]) / 400))
                scores.append(Score(black, white, *simulated(chance, share, number, rng)))
        ratings = fit(scores, "a")
        for name in inside:
            inside[name] += ratings[name].low <= truth[name] <= ratings[name].high
    assert 0.93 <= sum(inside.values()) / (3 * pools) <= 0.975, inside
    assert min(inside.values()) / pools >= 0.90 and max(inside.values()) / pools <= 0.99, inside


def test_draws_of_players_whom_other_games_rate_far_apart_leave_an_interval() -> None:
    """They take more from the variance of the results than there is by the ratings."""
    ratings = fit([Score("a", "b", 100, 0, 0), Score("b", "c", 0, 10, 0), Score("c", "a", 0, 10, 0)], "b")
    for name in "ac":
        assert ratings[name].low + 50 < ratings[name].elo < ratings[name].high - 50


def test_draws_do_not_narrow_what_the_prior_alone_tells() -> None:
    """Of who always had the same color only the deviation of the first move's worth bounds the rating."""
    alone = fit([Score("a", "b", 100, 800, 100)], "a", first_move=True)
    assert alone["b"].high == pytest.approx(1.96 * 300, rel=0.05)


def simulated(chance: float, drawn: float, games: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Wins, draws and losses of games whose expected score is `chance`: a draw has the chance 2 drawn p (1 - p)."""
    half = drawn * chance * (1 - chance)
    wins, draws, losses = map(float, rng.multinomial(games, [chance - half, 2 * half, 1 - chance - half]))
    return wins, draws, losses


def test_a_rating_in_words_has_no_zero_below_zero() -> None:
    assert str(Rating("A", -0.3, -12.4, math.inf, 9, 4)) == "+0 [-12 to +inf]"


def test_a_player_of_any_name_is_rated_beside_the_first_move() -> None:
    found = fit([Score("first move", "b", 30, 0, 10), Score("b", "first move", 10, 0, 10)], "b", first_move=True)
    rating, advantage = found["first move"], found.first_move
    assert advantage is not None and (rating.games, rating.points, advantage.games) == (60, 40, 0)
    assert rating.elo > 50 and abs(advantage.elo - rating.elo) > 1


def test_what_all_intervals_share_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Mock(side_effect=np.linalg.inv)
    monkeypatch.setattr(np.linalg, "inv", calls)
    fit([Score(name, "b", 3, 1, 2) for name in "acdef"], "b", first_move=True)
    assert calls.call_count == 1


def test_the_intervals_of_many_players_solve_no_equations_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equations of n unknowns take n cubed: an hour for the intervals of 1,000 players."""
    rng = np.random.default_rng(3)
    pairs = [tuple(map(int, rng.choice(40, 2, replace=False))) for _ in range(60)]
    games = [(a, b) for i in range(40) for a, b in [(i, (i + 1) % 40), ((i + 1) % 40, i), *pairs[:i]]]
    scores = [Score(f"{a}", f"{b}", *map(int, rng.integers(1, 3, 3) * [1, 0, 1])) for a, b in games]
    calls = Mock(side_effect=np.linalg.solve)
    monkeypatch.setattr(np.linalg, "solve", calls)
    fit(scores, "0", intervals=[], deviation=FLAT)
    without = calls.call_count
    ratings = fit(scores, "0", deviation=FLAT)
    assert calls.call_count == 2 * without

    black, white = (np.array([int(getattr(score, color)) for score in scores]) for color in ("black", "white"))
    won, lost = (np.array([getattr(score, kind) for score in scores]) for kind in ("wins", "losses"))

    def deviance(values: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus twice the log likelihood, and its slope."""
        p = 1 / (1 + np.exp(values[white] - values[black]))
        slope = np.zeros(40)
        np.add.at(slope, black, 2 * ((won + lost) * p - won))
        np.add.at(slope, white, 2 * (won - (won + lost) * p))
        return float(-2 * (won * np.log(p) + lost * np.log(1 - p)).sum()), slope

    def lowest(held: dict[int, float]) -> float:
        free = [i for i in range(40) if i not in held]

        def part(x: np.ndarray) -> tuple[float, np.ndarray]:
            values = np.zeros(40)
            values[free], values[list(held)] = x, list(held.values())
            value, slope = deviance(values)
            return value, slope[free]

        return float(minimize(part, np.zeros(len(free)), method="BFGS", jac=True).fun)

    least = lowest({0: 0.0})
    for name in ("1", "20"):
        for end in (ratings[name].low, ratings[name].high):
            assert lowest({0: 0.0, int(name): end * math.log(10) / 400}) - least == pytest.approx(1.96**2, abs=0.01)
