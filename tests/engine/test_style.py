"""Variety of play: the rule of the mobile networks' tournament."""

from __future__ import annotations

import numpy as np

from tengen.engine import Candidate, SearchResult
from tengen.engine.style import second_best, varied_move


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
