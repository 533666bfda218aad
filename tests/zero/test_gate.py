"""The gate: the binomial test by hand, and a network against itself and against a better one."""

import pytest

from tengen.zero.gate import chance_of_wins


def test_the_binomial_tail_by_hand() -> None:
    assert chance_of_wins(0, 10) == 1.0
    assert chance_of_wins(10, 10) == pytest.approx(2**-10)
    assert chance_of_wins(9, 10) == pytest.approx(11 / 1024)


def test_the_published_gate_of_256_games() -> None:
    """One-sided p < 0.05 of 256 games asks for 142 wins."""
    assert chance_of_wins(142, 256) < 0.05 < chance_of_wins(141, 256)
