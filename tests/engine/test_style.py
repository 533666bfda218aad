"""Variety of play: the rule of the mobile networks' tournament."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.engine import Candidate, SearchResult
from tengen.engine.style import Style, second_best, varied_move
from tengen.errors import RecipeError


def result(*visits: int, move: int = 0) -> SearchResult:
    """A search that gave point 0 the first number of visits, point 1 the second and so on."""
    candidates = tuple(Candidate(point, count, 0.5, 0.0, 0.1, 0.4) for point, count in enumerate(visits))
    return SearchResult(move, False, 0, candidates, 0.5, 0.0, np.zeros((5, 5), np.float32), sum(visits), 0, 0.0)


def test_the_second_move_counts_with_more_than_half_of_the_visits() -> None:
    assert second_best(result(100, 50)) == (0, None)
    assert second_best(result(100, 51, 51)) == (0, 1)
    assert second_best(result(10, 100, 60)) == (1, 2)
    assert second_best(result(100)) == (0, None)


def test_diversity_plays_the_second_move_half_of_the_time_by_the_seed() -> None:
    def drawn(found: SearchResult) -> list[int]:
        random = np.random.default_rng(7)
        return [varied_move(found, 5, random) for _ in range(400)]

    near = drawn(result(100, 51))
    assert 160 < sum(near) < 240  # four standard deviations of 400 throws of a coin
    assert drawn(result(100, 51)) == near
    assert set(drawn(result(100, 50))) == {0}
    assert set(drawn(result(100, 90, move=25))) == {25}, "a pass that the rules advise is not varied"


def test_the_temperature_falls_by_half_in_a_halflife_scaled_by_the_board() -> None:
    """KataGo's defaults: 0.5 at the start, 0.1 in the end, and half of the way down at move 19 of 19x19."""
    style = Style(temperature=0.5, late_temperature=0.1, halflife=19)
    assert [style.temperature_at(n, 19) for n in (0, 19, 38)] == pytest.approx([0.5, 0.3, 0.2])
    assert [style.temperature_at(n, 9) for n in (0, 9, 18, 900)] == pytest.approx([0.5, 0.3, 0.2, 0.1])
    assert Style(temperature=0.5, halflife=1).temperature_at(40, 19) == 0, "as small as this is the best move"


def test_without_a_halflife_the_temperature_changes_once() -> None:
    style = Style(temperature=1.0, opening=0.1, late_temperature=0.2)
    assert [style.temperature_at(n, 10) for n in (0, 9, 10, 99)] == [1.0, 1.0, 0.2, 0.2]
    assert Style().temperature_at(0, 19) == 0


@pytest.mark.parametrize("wrong", [{"late_temperature": -0.1}, {"halflife": 0.0}])
def test_an_impossible_temperature_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(RecipeError, match=next(iter(wrong))):
        Style(**wrong)
