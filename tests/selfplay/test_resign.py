"""When giving up would have been wrong, counted by hand."""

import numpy as np
import pytest

from tengen.data.record import GameRecord, pack_moves
from tengen.selfplay.conditions import lowest, resign_threshold
from tengen.selfplay.config import ResignConfig

CONFIG = ResignConfig(false_positives=0.1, max_threshold=0.2, turns=2)


def game(black: list[float], winner: int | None = 0, ending: str = "count") -> GameRecord:
    """A game in which Black's turns had these winrates, and White's the opposite of the one before."""
    values = np.array([v for w in black for v in (2 * w - 1, 1 - 2 * w)], np.float32)
    moves = pack_moves(np.arange(len(values)) % 2, np.arange(len(values)))
    return GameRecord(7, moves, winner=winner, ending=ending, root_values=values)


def test_the_lowest_threshold_is_that_of_the_best_of_two_turns_in_a_row() -> None:
    assert lowest(game([0.5, 0.1, 0.3, 0.04, 0.06, 0.5]), 2) == pytest.approx(0.06)
    assert lowest(game([0.5, 0.1, 0.3, 0.04, 0.06, 0.5]), 1) == pytest.approx(0.04)


def test_only_the_winners_turns_count() -> None:
    assert lowest(game([0.01, 0.01, 0.01], winner=1), 2) == pytest.approx(0.99)


def test_draws_and_unknown_winners_say_nothing() -> None:
    assert lowest(game([0.1, 0.1], winner=2), 2) is None
    assert lowest(game([0.1, 0.1], winner=None), 2) is None


def test_turns_without_a_value_are_passed_over() -> None:
    record = game([0.1, 0.9, 0.1])
    assert record.root_values is not None
    record.root_values[2] = np.nan
    assert lowest(record, 2) == pytest.approx(0.1)


def test_the_threshold_lets_the_wanted_share_through() -> None:
    games = [game([i / 100, i / 100]) for i in range(100)]
    found = resign_threshold(games, CONFIG)
    assert found == pytest.approx(0.09)
    assert sum((lowest(one, 2) or 0) < found for one in games) <= 10


def test_never_above_the_most_and_never_from_few_or_resigned_games() -> None:
    assert resign_threshold([game([0.9, 0.9])] * 60, CONFIG) == 0.2
    assert resign_threshold([game([0.9, 0.9])] * 49, CONFIG) == 0.0
    assert resign_threshold([game([0.9, 0.9], ending="resign")] * 60, CONFIG) == 0.0
