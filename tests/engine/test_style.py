"""Temperatures of play, and when games are given up."""

from __future__ import annotations

import pytest

from tengen.engine.style import ResignJudge, Style
from tengen.errors import RecipeError
from tengen.game import BLACK, WHITE


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


@pytest.mark.parametrize(
    "wrong",
    [
        *({"temperature": -1}, {"late_temperature": -0.1}, {"halflife": 0.0}, {"policy_temperature": 0}),
        *({"resign_threshold": 0.6}, {"resign_moves": 0}),
    ],
)
def test_an_impossible_style_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(RecipeError, match=next(iter(wrong))):
        Style(**wrong)  # type: ignore[arg-type]


# When games are given up.

QUICK = Style(resign_moves=2)


def verdicts(
    winrates: list[float], color: int = BLACK, start: int = 100, handicap: int = 0, **style: float
) -> list[bool]:
    judge, manners = ResignJudge(), Style(**style)  # type: ignore[arg-type]
    return [judge.judge(manners, color, start + 2 * n, w, 19, handicap) for n, w in enumerate(winrates)]


def test_several_hopeless_moves_in_a_row_are_needed() -> None:
    assert verdicts([0.01] * 5) == [False, False, False, True, True]
    assert verdicts([0.01, 0.01, 0.5, 0.01, 0.01, 0.01, 0.01]) == [False] * 6 + [True]


def test_a_move_that_was_not_looked_at_breaks_the_row() -> None:
    judge = ResignJudge()
    assert [judge.judge(QUICK, BLACK, n, 0.01, 19) for n in (100, 104, 106)] == [False, False, True]


def test_the_same_move_looked_at_again_is_no_new_move() -> None:
    judge = ResignJudge()
    assert not any(judge.judge(QUICK, BLACK, 100, 0.01, 19) for _ in range(5))


def test_nothing_is_resigned_early() -> None:
    assert not any(verdicts([0.0] * 30, start=0))
    assert any(verdicts([0.0] * 40, start=0))


def test_white_is_patient_in_a_handicap_game() -> None:
    assert not any(verdicts([0.01] * 9, WHITE, handicap=5))
    assert any(verdicts([0.001] * 9, WHITE, handicap=5))
    assert any(verdicts([0.01] * 9, BLACK, handicap=5))


def test_colors_are_judged_apart_and_a_new_game_begins_anew() -> None:
    judge = ResignJudge()
    assert not judge.judge(QUICK, BLACK, 100, 0.01, 19) and not judge.judge(QUICK, WHITE, 101, 0.01, 19)
    assert judge.judge(QUICK, BLACK, 102, 0.01, 19)
    judge.forget()
    assert not judge.judge(QUICK, WHITE, 103, 0.01, 19)
