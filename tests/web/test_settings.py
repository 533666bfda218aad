"""The settings of a game on the page: which cannot be played."""

from __future__ import annotations

import pytest

from tengen.coords import MAX_SIZE
from tengen.errors import TengenError
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, PageAnalysis


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 1},
        {"size": MAX_SIZE + 1},
        {"komi": 7.3},
        {"komi": float("nan")},
        {"komi": 1e9},
        {"handicap": 1},
        {"handicap": 99},
        {"rules": "chess"},
    ],
)
def test_settings_that_cannot_be_played_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(TengenError):
        GameSession(GameSettings(**{"size": 9, **wrong}))


def test_a_review_tries_a_move_at_least() -> None:
    assert PageAnalysis("", 1, 2).review_visits == 2
    with pytest.raises(TengenError, match=r"^1 visits .* choose 2 to"):
        PageAnalysis("", 1, 1)
