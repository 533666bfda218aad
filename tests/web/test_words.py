"""Results and illegal moves in words."""

import pytest

from tengen.errors import IllegalMove
from tengen.game import Game
from tengen.sgf.values import score_text
from tengen.web.words import explain, in_words


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


def test_an_illegal_move_is_explained_by_its_reason() -> None:
    game = Game(9)
    game.play("D4")
    with pytest.raises(IllegalMove) as caught:
        game.play("D4")
    assert explain(caught.value) == "there is already a stone on this point"
    assert explain(IllegalMove("something new")) == "something new"
