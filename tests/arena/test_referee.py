"""Counts that were made by hand, and what happens when the players disagree."""

from __future__ import annotations

import pytest

from tengen.arena import referee
from tengen.game import Game

# Black holds the left three columns but for C5, 14 points, White the two on the right, 10; C5 is neutral. All live.
FINISHED = """
. X . O .
X X X O O
. X X O .
X X X O O
X . X O .
"""


def finished(komi: float = 0.5) -> Game:
    return Game.from_diagram(FINISHED, "chinese", komi)


def test_a_settled_board_counts_by_area() -> None:
    game = finished()
    assert game.score() == 14 - 10 - 0.5
    nobody: frozenset[int] = frozenset()
    verdict = referee.count(game, {"A": nobody, "B": nobody})
    assert (verdict.score, verdict.disputed) == (3.5, False)
    assert set(verdict.counts) == {"A", "B"}


def test_one_opinion_is_enough_and_none_is_mended_by_playouts() -> None:
    game = finished()
    assert referee.count(game, {"A": None, "B": frozenset()}).counts == {"B": 3.5}
    verdict = referee.count(game, {"A": None, "B": None})
    assert set(verdict.counts) == {"playouts"}


def test_playouts_decide_where_the_players_disagree() -> None:
    game = finished()
    white = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 1)
    verdict = referee.count(game, {"A": frozenset(), "B": white})
    assert verdict.counts["A"] == 3.5 and verdict.counts["B"] == 24.5
    assert set(verdict.counts) == {"A", "B", "playouts"}
    assert not verdict.disputed, "both counts name Black"
    black = frozenset(p for p in range(25) if game.board[divmod(p, 5)] == 0)
    assert referee.count(game, {"A": frozenset(), "B": black}).disputed


@pytest.mark.parametrize(
    ("komi", "margin"),
    [
        (0.5, 14 - 11 - 0.5),  # Black's 14 against all the rest
        (3.5, None),  # Black leads by half a point, but only if C5 stays neutral
        (9.5, 15 - 10 - 9.5),  # White's 10 against all the rest
    ],
)
def test_a_win_is_sure_when_living_points_alone_make_it(komi: float, margin: float | None) -> None:
    assert referee.sure_margin(finished(komi=komi)) == margin


def test_nothing_is_sure_on_an_open_board_or_under_territory_rules() -> None:
    assert referee.sure_margin(Game(9)) is None
    assert referee.sure_margin(Game.from_diagram(FINISHED, "japanese", 0.5)) is None
