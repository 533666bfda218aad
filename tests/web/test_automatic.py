"""The automatic level: its rule, what a browser keeps of it, and where it settles."""

from __future__ import annotations

import random

import pytest

from tengen.web.automatic import GENTLE, AutomaticLevel


def after(results: str, start: int = 6, highest: int = 12) -> list[int]:
    """The levels after each of these results, W or L."""
    level, numbers = AutomaticLevel(start), []
    for result in results:
        level = level.after(result == "W", highest)
        numbers.append(level.number)
    return numbers


def test_two_levels_until_the_first_turn_then_one() -> None:
    assert after("WWLWWL") == [8, 10, 9, 10, 11, 10]
    assert after("LLWLL") == [4, 2, 3, 2, 1]


def test_the_ladder_has_two_ends() -> None:
    assert after("WWWWW", start=8) == [10, 12, 12, 12, 12]
    assert after("LLL", start=2) == [1, 1, 1]
    assert AutomaticLevel().number == GENTLE


@pytest.mark.parametrize("player", [2.0, 5.5, 9.0])
def test_it_settles_where_a_player_wins_half(player: float) -> None:
    """A level is worth 150 Elo; the mean of the last 150 of 200 games is within a level of the player's."""
    rng, level, seen = random.Random(3), AutomaticLevel(), []
    for _ in range(200):
        chance = 1 / (1 + 10 ** (150 * (level.number - player) / 400))
        level = level.after(rng.random() < chance, 12)
        seen.append(level.number)
    assert abs(sum(seen[50:]) / 150 - player) < 1


def test_what_the_browser_keeps_comes_back_and_nonsense_does_not() -> None:
    level = AutomaticLevel(7, 1, False)
    assert AutomaticLevel.parse(level.as_dict()) == level
    wrong = [(0, 1, None), ("7", 1, None), (True, 1, None), (3, 5, None), (3, 1, "yes")]
    for values in (None, [], {"number": 7}, *({"number": n, "step": step, "won": won} for n, step, won in wrong)):
        assert AutomaticLevel.parse(values) == AutomaticLevel()
