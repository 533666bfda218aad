"""Closed forms, published values and simulation."""

from __future__ import annotations

import math
import random

import pytest

from tengen.arena.statistics import Tally, beta_above_half, elo, wilson


def test_wilson_against_published_values() -> None:
    # Newcombe 1998, table I: 81 of 263, and 0 of 20, method 3.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_wilson_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = random.Random(7)
    for truth in (0.5, 0.8):
        inside = 0
        for _ in range(2000):
            low, high = wilson(sum(rng.random() < truth for _ in range(60)), 60)
            inside += low <= truth <= high
        assert 0.93 <= inside / 2000 <= 0.98


def test_elo() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.24) == pytest.approx(-elo(0.76))
    assert elo(1.0) == math.inf and elo(0.0) == -math.inf


def test_superiority_is_the_integral_of_the_beta_density() -> None:
    a, b, steps = 9, 4, 20_000
    density = [((i + 0.5) / steps) ** (a - 1) * (1 - (i + 0.5) / steps) ** (b - 1) for i in range(steps)]
    assert beta_above_half(a, b) == pytest.approx(sum(density[steps // 2 :]) / sum(density), abs=1e-6)


def test_a_tally() -> None:
    tally = Tally(wins=7, draws=2, losses=1)
    assert (tally.games, tally.points, tally.score) == (10, 8.0, 0.8)
    assert tally.superiority() == pytest.approx(1 - Tally(wins=1, losses=7).superiority())
    assert Tally().interval() == (0.0, 1.0)
    assert Tally().score == 0.5
