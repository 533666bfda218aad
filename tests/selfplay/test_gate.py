"""The gate: the binomial test by hand, and a network against itself and against a better one."""

import pytest

from tengen.selfplay.config import GateConfig
from tengen.selfplay.gate import judge
from tengen.statistics import Tally, binomial_tail


def test_the_binomial_tail_by_hand() -> None:
    assert binomial_tail(0, 10) == 1.0
    assert binomial_tail(10, 10) == pytest.approx(2**-10)
    assert binomial_tail(9, 10) == pytest.approx(11 / 1024)


def test_the_published_gate_of_256_games() -> None:
    """One-sided p < 0.05 of 256 games asks for 142 wins."""
    assert binomial_tail(142, 256) < 0.05 < binomial_tail(141, 256)


def test_draws_say_nothing() -> None:
    """256 games at a whole fair komi, 110 of them drawn, are judged by the other 146, of which 84 are enough."""
    rules = GateConfig(games=256, confidence=0.95)
    assert judge(Tally(84, 110, 62), rules) == (binomial_tail(84, 146), True)
    assert not judge(Tally(83, 110, 63), rules)[1]
    assert not judge(Tally(0, 256, 0), rules)[1]
    assert judge(Tally(73, 110, 73), GateConfig(games=256, score=0.5))[1]
