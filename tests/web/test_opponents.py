"""The opponents of a page: the ladder by board size, and the automatic level that follows the results."""

from __future__ import annotations

import random
from contextvars import copy_context
from typing import Any

import pytest

from tengen.engine import Style
from tengen.engine.levels import levels_on
from tengen.errors import TengenError
from tengen.web.language import LANGUAGES, use
from tengen.web.opponents import FIRST_LEVEL, AutomaticLevel, Opponents
from tengen.web.players import PERSON, PlayerChoice, facing, level_of_visits, own_player, player_of, program_player
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, first_game


def measured(size: int) -> str:
    """The network of a board size with which the levels were measured."""
    return levels_on(size)[0].network


def finished(result: str, opponents: Opponents, human: int = 0, size: int = 9, **more: Any) -> GameSession:
    settings = GameSettings(size=size, players=facing(opponents.automatic(size), human), **more)
    session = GameSession(settings)
    session.settle(result)
    return session


@pytest.mark.parametrize("size", [9, 13, 19])
def test_the_ladder_plays_as_measured_and_says_its_rank(size: int) -> None:
    levels = Opponents(measured).choices(size)
    for one in levels_on(size):
        shown = levels[f"level-{one.number}"]
        assert (shown.visits, shown.style) == (one.visits, one.style)
        assert "kyu" in shown.title or "dan" in shown.title
        assert "between" in shown.about and str(one.games) in shown.about
    assert next(iter(levels)) == "auto" and levels["visits-400"].visits == 400


def test_ranks_are_those_of_the_network_and_the_board_that_were_measured() -> None:
    other = Opponents(lambda size: "other").choices(9)["level-3"]
    assert (other.title, other.about) == ("Level 3", "Strength not measured here.")
    assert Opponents(measured).choices(7)["level-3"].title == "Level 3"
    assert set(Opponents(lambda size: "").choices(9)) == {"visits-16", "visits-100", "visits-400", "visits-1600", "own"}


def test_levels_play_with_the_network_that_was_measured_where_the_page_has_a_newer_one() -> None:
    levels = Opponents(lambda size: "newer", ladder_network=measured).choices(19)
    assert levels["level-5"].network == levels["auto"].network == measured(19) and "about" in levels["level-5"].title
    assert levels["visits-400"].network == ""
    assert player_of(levels["level-5"].state, 19) == levels["level-5"]
    assert Opponents(measured).choices(19)["level-5"].network == ""


def test_the_automatic_level_follows_the_results_of_each_board() -> None:
    opponents = Opponents(measured)
    assert opponents.first_game().size == 9 and opponents.first_game().opponent.key == f"auto-{FIRST_LEVEL}"
    assert opponents.count(finished("B+R", opponents)).startswith(f"Next opponent: Level {FIRST_LEVEL + 2}")
    assert opponents.automatic(9).key == f"auto-{FIRST_LEVEL + 2}"
    opponents.count(finished("B+3.5", opponents, human=1))
    assert (opponents.automatic(9).key, opponents.automatic(13).key) == (
        f"auto-{FIRST_LEVEL + 1}",
        f"auto-{FIRST_LEVEL}",
    )
    again = Opponents(measured)
    again.kept = opponents.kept
    assert again.automatic(9).key == f"auto-{FIRST_LEVEL + 1}", "the browser remembers"


def test_without_a_network_the_first_game_is_against_an_opponent_that_is_offered() -> None:
    opponents = Opponents(lambda size: "")
    assert opponents.first_game().opponent == opponents.choices(9)["visits-16"]


def test_a_game_counts_once_and_others_do_not() -> None:
    opponents = Opponents(measured)
    session = finished("B+R", opponents)
    assert opponents.count(session) and not opponents.count(session)
    assert not Opponents(measured).count(session), "the page was loaded again"
    before = opponents.automatic(9).key
    chosen = GameSession(GameSettings(size=9, players=(PERSON, opponents.choices(9)["level-5"])))
    chosen.settle("B+R")
    watched = GameSession(GameSettings(size=9, players=(opponents.automatic(9),) * 2))
    watched.settle("B+R")
    unfinished = GameSession(GameSettings(size=9, players=(PERSON, opponents.automatic(9))))
    for other in (chosen, watched, unfinished, finished("0", opponents)):
        assert opponents.count(other) == ""
    assert opponents.automatic(9).key == before


@pytest.mark.parametrize(
    ("size", "uneven", "even"),
    [
        (9, {"handicap": 9, "komi": 0.5}, {}),
        (9, {"komi": -20.0}, {"rules": "korean", "komi": 6.5}),
        (9, {"rules": "japanese", "komi": 7.5}, {"rules": "japanese", "komi": 6.5}),
        (7, {"komi": 7.5}, {"komi": 9.0}),
    ],
)
def test_only_even_games_count(size: int, uneven: dict[str, Any], even: dict[str, Any]) -> None:
    """A win with nine stones is none of that level."""
    opponents = Opponents(measured)
    before = opponents.automatic(size).key
    assert not opponents.count(finished("B+R", opponents, size=size, **uneven))
    assert opponents.automatic(size).key == before
    assert opponents.count(finished("B+R", opponents, size=size, **even))
    assert opponents.automatic(size).key != before


def test_a_result_that_is_taken_back_does_not_count() -> None:
    opponents = Opponents(measured)
    first = opponents.automatic(9).key
    session = finished("W+R", opponents)
    for _ in range(2):
        assert opponents.count(session) and opponents.automatic(9).key == "auto-1"
        assert session.take_back()
        assert "Level 2" in opponents.count(session) and opponents.automatic(9).key == first
        assert not opponents.count(session)
        session.resign()
    opponents.count(session)
    opponents.count(finished("B+R", opponents))
    moved = opponents.automatic(9).key
    session.take_back()
    assert not opponents.count(session) and opponents.automatic(9).key == moved, "another game has moved it since"


def test_a_rematch_is_against_the_next_level() -> None:
    opponents = Opponents(measured)
    session = finished("W+R", opponents)
    opponents.count(session)
    assert opponents.again(session.settings).opponent.key == "auto-1"
    fixed = GameSettings(size=9, players=(PERSON, opponents.choices(9)["level-5"]))
    assert opponents.again(fixed) == fixed


def test_a_kept_game_finds_its_level_again() -> None:
    for key in ("level-4", "auto-4"):
        found = player_of(PlayerChoice(key, visits=1).state, 9)
        assert (found.key, found.style, found.visits) == (key, levels_on(9)[3].style, levels_on(9)[3].visits)
    for key in ("visits-250", "level-99", "level-x", "beginner", ""):
        assert player_of(PlayerChoice(key, visits=250).state, 9) == level_of_visits(250)
    assert level_of_visits(250).style == Style()
    for player in (PERSON, program_player("gnugo"), own_player("zero-9x9", seconds=2.5), own_player("", 300)):
        assert player_of(player.state, 9) == player


def test_an_engine_of_ones_own_says_what_it_is_and_has_a_limit() -> None:
    assert own_player("zero-9x9", 1600).title == "zero-9x9 \u00b7 1,600 visits a move"
    assert own_player("", seconds=2.5).title == "2.5 s a move"
    for visits, seconds in ((None, None), (0, None), (None, 0.0), (10**7, None), (None, 1e9)):
        with pytest.raises(TengenError, match="1 to 1,000,000 visits"):
            own_player("", visits, seconds)


def test_programs_are_offered_by_name_and_the_automatic_level_only_to_a_person() -> None:
    choices = Opponents(measured, ["gnugo", "gtp"]).choices(9)
    assert [key for key in choices if key.startswith("program-")] == ["program-gnugo", "program-gtp"]
    assert choices["program-gnugo"].name == "gnugo"
    assert "auto" not in Opponents(measured).choices(9, automatic=False)


def test_players_are_described_in_the_language_of_the_page() -> None:
    """Those of a tab's first game were made before any page, in English."""
    settings, about = first_game(9, 100), {}
    for code in LANGUAGES:
        context = copy_context()
        context.run(use, code)
        about[code] = context.run(Opponents(measured).translated, settings).opponent.about
        assert about[code] == context.run(level_of_visits, 100).about
    assert about["en"] == "Strength not measured." and len(set(about.values())) == len(LANGUAGES)


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
    assert AutomaticLevel().number == FIRST_LEVEL


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
