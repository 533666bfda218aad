"""Regions, results in words, and what a page may send."""

import numpy as np
import pytest

from tengen.errors import IllegalMove
from tengen.game import Game
from tengen.sgf.values import score_text
from tengen.web.counting import explain, group_of, in_words, territory


@pytest.mark.parametrize(
    ("score", "result", "words"),
    [(3.5, "B+3.5", "Black wins by 3.5"), (-12.0, "W+12", "White wins by 12"), (0.0, "0", "The game is a draw")],
)
def test_a_score_becomes_a_result_and_words(score: float, result: str, words: str) -> None:
    assert score_text(score) == result and in_words(result) == words


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("B+R", "Black wins by resignation"),
        ("W+Resign", "White wins by resignation"),
        ("W+T", "White wins on time"),
        ("B+F", "Black wins by forfeit"),
        ("B+", "Black wins"),
        ("Void", "The game has no result"),
    ],
)
def test_other_results_in_words(result: str, words: str) -> None:
    assert in_words(result) == words


def test_a_group_reaches_over_empty_points_but_not_past_the_other_side() -> None:
    board = Game.from_diagram("X.XO.\n..XOX\n..XO.\n..XO.\n..XO.\n").board
    assert group_of(board, 0) == {0, 2, 7, 12, 17, 22}
    assert group_of(board, 9) == {9}


def test_territory_has_a_letter_a_point_and_none_for_living_stones() -> None:
    game = Game.from_diagram("X.XO.\n..XOX\n..XO.\n..XO.\n..XO.\n")
    text = territory(game, {9})
    assert len(text) == 25 and text[4] == text[9] == text[14] == "w"
    assert all(text[point] == "." for point in np.flatnonzero(game.board.ravel() == 0) if point != 9)
    assert territory(game, set())[4] == "."


def test_an_illegal_move_is_explained_by_its_reason() -> None:
    game = Game(9)
    game.play("D4")
    with pytest.raises(IllegalMove) as caught:
        game.play("D4")
    assert explain(caught.value) == "there is already a stone on this point"
    assert explain(IllegalMove("something new")) == "something new"
