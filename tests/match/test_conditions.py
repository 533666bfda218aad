"""What holds for every game of a match: seeds, where openings come from, which stones are dead."""

from __future__ import annotations

import pytest

from tengen.match.conditions import Conditions
from tengen.match.schedule import fixture


def test_numbered_games_have_the_number_of_their_round_as_seed() -> None:
    games = [fixture([("A", "B")], index) for index in range(5)]
    assert [Conditions(numbered=True).player_seed(one) for one in games] == [1, 1, 2, 2, 3]
    assert len({Conditions().player_seed(one) for one in games}) == 5


@pytest.mark.parametrize(
    ("openings", "network", "listed"),
    [
        ("policy", None, False),
        ("players", None, False),
        ("random", None, False),
        ("policy:default", "default", False),
        ("policy:", "", False),
        ("openings.txt", None, True),
        ("./policy", None, True),
    ],
)
def test_openings_are_drawn_or_come_from_a_list(openings: str, network: str | None, listed: bool) -> None:
    conditions = Conditions(openings=openings)
    assert (conditions.opening_network, conditions.are_openings_listed) == (network, listed)


@pytest.mark.parametrize(
    ("rule", "given"), [("agreement", "pass-alive"), ("pass-alive", "pass-alive"), ("none", "none")]
)
def test_players_agree_that_stones_in_pass_alive_territory_are_dead(rule: str, given: str) -> None:
    assert Conditions.model_validate({"dead_stones": rule}).dead_for_players == given
