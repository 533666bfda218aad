"""The interface of a player: its errors name it once."""

from __future__ import annotations

import pytest

from tengen.errors import RecipeError, TengenError
from tengen.gtp.client import ProgramError
from tengen.match.player import PlayerError, errors_named


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RecipeError("no network"), "bot: no network"),
        (RecipeError("bot: no network"), "bot: bot: no network"),  # of a network that is called as the player is
        (PlayerError("bot", "no network"), "bot: no network"),
        (PlayerError("other", "no network"), "bot: other: no network"),
        (ProgramError("bot", "crash", "it ended"), "bot: it ended"),
        (ProgramError("gnugo", "crash", "it ended"), "bot: gnugo: it ended"),
    ],
)
def test_an_error_names_its_player_once(error: TengenError, says: str) -> None:
    with pytest.raises(TengenError) as caught, errors_named("bot"):
        raise error
    assert str(caught.value) == says
    assert isinstance(caught.value, PlayerError) or caught.value is error


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(TypeError, match=r"^no number$"), errors_named("bot"):
        raise TypeError("no number")
