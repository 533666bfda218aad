"""Closed forms, published values and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tengen.statistics import Tally, binomial_tail, design_effect, elo, expected_score, student95, wilson


def test_wilson_against_published_values() -> None:
    # Newcombe 1998, table I: 81 of 263, 1 of 29 and 0 of 20, method 3.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson(28, 29) == pytest.approx((0.8282, 0.9939), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert all(wilson(0, n)[0] == 0 and wilson(n, n)[1] == 1 for n in range(1, 200))


@pytest.mark.parametrize("games", [30, 100, 400])
@pytest.mark.parametrize(("truth", "drawn"), [(0.5, 0), (0.8, 0), (0.5, 0.5), (0.6, 0.9), (0.8, 1)])
def test_an_interval_covers_the_truth_of_2000_simulated_matches_about_as_often_as_it_says(
    games: int, truth: float, drawn: float
) -> None:
    """A game is drawn with the chance 2 drawn p (1 - p): at 1 a game is two halves that are won one by one."""
    half = drawn * truth * (1 - truth)
    matches = np.random.default_rng(7).multinomial(games, [truth - half, 2 * half, 1 - truth - half], size=2000)
    ends = np.array([Tally(*match).interval() for match in matches.tolist()])
    assert 0.935 <= np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) <= 0.975
    if drawn:
        blind = np.array([wilson(wins + draws / 2, games) for wins, draws, _ in matches.tolist()])
        assert np.all(blind[:, 0] <= ends[:, 0]) and np.all(ends[:, 1] <= blind[:, 1]), "draws make it narrower"


def test_nothing_but_draws_leaves_a_doubt_that_shrinks() -> None:
    # In none of n games a winner: the share of decided games may still be 3 / n, by the rule of three.
    for games in (10, 100, 1000):
        low, high = Tally(draws=games).interval()
        assert low == pytest.approx(1 - high)
        assert 0.5 * 1.96 * math.sqrt(3 / games / 4 / games) < high - 0.5 < 2 * 1.96 * math.sqrt(3 / games / 4 / games)


def test_elo() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.24) == pytest.approx(-elo(0.76))
    assert elo(1.0) == math.inf and elo(0.0) == -math.inf
    for score in (0.0, 0.24, 0.5, 10 / 11, 1.0):
        assert expected_score(elo(score)) == pytest.approx(score)


def test_superiority_is_the_integral_of_the_beta_density() -> None:
    a, b, steps = 9, 4, 20_000
    density = [((i + 0.5) / steps) ** (a - 1) * (1 - (i + 0.5) / steps) ** (b - 1) for i in range(steps)]
    assert Tally(a - 1, 0, b - 1).superiority() == pytest.approx(sum(density[steps // 2 :]) / sum(density), abs=1e-6)
    for wins, losses in ((0, 0), (0, 29), (59, 40), (799, 899)):
        exact = sum(math.comb(wins + losses + 1, k) for k in range(wins + 1)) / 2 ** (wins + losses + 1)
        assert Tally(wins, 3, losses).superiority() == pytest.approx(exact, rel=1e-9)


def test_the_tail_of_the_binomial_distribution_is_its_sum() -> None:
    for wins, games in ((0, 0), (0, 10), (10, 10), (9, 10), (142, 256)):
        exact = sum(math.comb(games, k) for k in range(wins, games + 1)) / 2**games
        assert binomial_tail(wins, games) == pytest.approx(exact, rel=1e-9)


def test_a_tally() -> None:
    tally = Tally(wins=7, draws=2, losses=1)
    assert (tally.games, tally.points, tally.score) == (10, 8.0, 0.8)
    assert tally.superiority() == pytest.approx(1 - Tally(wins=1, losses=7).superiority())
    assert tally + Tally(1, 2, 3) == sum([Tally(1, 2, 3), tally], Tally()) == Tally(8, 4, 4)
    assert tally.turned == Tally(wins=1, draws=2, losses=7)
    assert Tally().interval() == (0.0, 1.0)
    assert Tally().score == 0.5


@pytest.mark.parametrize("size", [1, 5, 50])
def test_the_design_effect_of_groups_of_one_size(size: int) -> None:
    """Kish's 1 + (m - 1) r for groups of m values whose correlation is r."""
    random, groups, correlation = np.random.default_rng(5), 200, 0.2
    found = []
    for _ in range(50):
        of_group = random.normal(0, correlation**0.5, (groups, 1))
        values = of_group + random.normal(0, (1 - correlation) ** 0.5, (groups, size))
        order = random.permutation(groups * size)
        found.append(design_effect(values.ravel()[order], np.arange(groups).repeat(size)[order]))
    assert np.mean(found) == pytest.approx(1 + (size - 1) * correlation, rel=0.05 if size > 1 else 0)


def test_the_design_effect_of_two_groups_by_hand() -> None:
    """The cluster-robust variance of the mean is 2 (2² + 2²) / 4² = 1, that of 4 independent values (4 / 3) / 4."""
    assert design_effect(np.array([1.0, 1, -1, -1]), np.array([7, 7, 3, 3])) == pytest.approx(3)


def test_where_nothing_shows_a_dependence_each_group_is_one_value() -> None:
    random, three = np.random.default_rng(6), np.arange(3).repeat(4)
    assert design_effect(np.ones(12), three) == 4 and design_effect(random.random(12), np.zeros(12, np.int64)) == 12
    assert design_effect(np.tile([0.0, 1, 2, 3], 3), three) == 1  # less than independent values would differ
    assert design_effect(np.empty(0), np.empty(0, np.int64)) == 1


def test_the_quantile_of_student() -> None:
    """Against published tables, and the normal distribution's."""
    known = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 9: 2.2622, 30: 2.0423, 120: 1.9799, 10**9: 1.9600}
    assert {degrees: student95(degrees) for degrees in known} == pytest.approx(known, rel=0.0013)
    with pytest.raises(ValueError, match=r"degrees of freedom = 0: give 1 or more"):
        student95(0)
