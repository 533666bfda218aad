"""What holds for every game of a match: seeds, where openings come from, which stones are dead."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tengen.game import BLACK, WHITE, Game
from tengen.match.conditions import Conditions
from tengen.match.schedule import fixture


def test_numbered_games_have_the_number_of_their_round_as_seed() -> None:
    games = [fixture([("A", "B")], index) for index in range(5)]
    assert [Conditions(numbered=True).player_seed(one) for one in games] == [1, 1, 2, 2, 3]
    assert len({Conditions().player_seed(one) for one in games}) == 5


def test_a_handicap_is_set_up_before_the_first_move() -> None:
    game, expected = Conditions(size=9, handicap=3).new_game(), Game(9)
    expected.place_handicap(3)
    assert (game.handicap, game.to_play, game.komi) == (3, WHITE, 7.5)
    assert game.setup_stones == expected.setup_stones
    even = Conditions.model_validate({"handicap": 0})
    assert even == Conditions() and even.new_game().to_play == BLACK
    limited = Conditions(size=5, handicap=2, dead_stones="none").new_game()
    assert (limited.move_limit, len(limited.setup_stones)) == (50, 2)


@pytest.mark.parametrize("stones", [1, 25, -2])
def test_an_impossible_handicap_is_named(stones: int) -> None:
    with pytest.raises(ValidationError, match=r"allowed: 2 to 24|greater than or equal to 0"):
        Conditions(size=5, handicap=stones)


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
    ("rules", "rule", "given"),
    [
        ("chinese", "agreement", "pass-alive"),
        ("tromp-taylor", "agreement", "none"),  # they can agree on nothing
        ("tromp-taylor", "pass-alive", "pass-alive"),
        ("chinese", "none", "none"),
    ],
)
def test_players_agree_that_stones_in_pass_alive_territory_are_dead(rules: str, rule: str, given: str) -> None:
    assert Conditions.model_validate({"rules": rules, "dead_stones": rule}).dead_for_players == given
