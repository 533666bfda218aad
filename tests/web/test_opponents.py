"""The opponents of a page: the ladder by board size, and the automatic level that follows the results."""

from __future__ import annotations

import pytest

from tengen.engine import Style
from tengen.engine.levels import levels_on
from tengen.web.automatic import GENTLE
from tengen.web.opponents import Opponents
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, Mode, level_of_key, level_of_visits


def measured(size: int) -> str:
    """The network of a board size with which the levels were measured."""
    return levels_on(size)[0].network


def finished(result: str, opponents: Opponents, human: int = 0, size: int = 9) -> GameSession:
    settings = GameSettings(size=size, human=human, level=opponents.automatic(size))
    session = GameSession(settings)
    session.settle(result)
    return session


@pytest.mark.parametrize("size", [9, 13, 19])
def test_the_ladder_plays_as_measured_and_says_its_rank(size: int) -> None:
    levels = Opponents(measured).levels(size)
    for one in levels_on(size):
        shown = levels[f"level-{one.number}"]
        assert (shown.visits, shown.style) == (one.visits, one.style)
        assert "kyu" in shown.title or "dan" in shown.title
        assert "between" in shown.about and str(one.games) in shown.about
    assert next(iter(levels)) == "auto" and levels["visits-400"].visits == 400


def test_ranks_are_those_of_the_network_and_the_board_that_were_measured() -> None:
    other = Opponents(lambda size: "other").levels(9)["level-3"]
    assert (other.title, other.about) == ("Level 3", "Not measured here.")
    assert Opponents(measured).levels(7)["level-3"].title == "Level 3"
    assert set(Opponents(lambda size: "").levels(9)) == {"visits-16", "visits-100", "visits-400", "visits-1600"}


def test_the_automatic_level_follows_the_results_of_each_board() -> None:
    opponents = Opponents(measured)
    assert opponents.first_game().size == 9 and opponents.first_game().level.key == f"auto-{GENTLE}"
    assert opponents.count(finished("B+R", opponents)).startswith(f"Next opponent: Level {GENTLE + 2}")
    assert opponents.automatic(9).key == f"auto-{GENTLE + 2}"
    opponents.count(finished("B+3.5", opponents, human=1))
    assert (opponents.automatic(9).key, opponents.automatic(13).key) == (f"auto-{GENTLE + 1}", f"auto-{GENTLE}")
    again = Opponents(measured)
    again.kept = opponents.kept
    assert again.automatic(9).key == f"auto-{GENTLE + 1}", "the browser remembers"


def test_a_game_counts_once_and_others_do_not() -> None:
    opponents = Opponents(measured)
    session = finished("B+R", opponents)
    assert opponents.count(session) and not opponents.count(session)
    assert not Opponents(measured).count(session), "the page was loaded again"
    before = opponents.automatic(9).key
    chosen = GameSession(GameSettings(size=9, level=opponents.levels(9)["level-5"]))
    chosen.settle("B+R")
    watched = GameSession(GameSettings(size=9, mode=Mode.WATCH, level=opponents.automatic(9)))
    watched.settle("B+R")
    unfinished = GameSession(GameSettings(size=9, level=opponents.automatic(9)))
    for other in (chosen, watched, unfinished, finished("0", opponents)):
        assert opponents.count(other) == ""
    assert opponents.automatic(9).key == before


def test_a_rematch_is_against_the_next_level() -> None:
    opponents = Opponents(measured)
    session = finished("W+R", opponents)
    opponents.count(session)
    assert opponents.again(session.settings).level.key == "auto-1"
    fixed = GameSettings(size=9, level=opponents.levels(9)["level-5"])
    assert opponents.again(fixed) is fixed


def test_a_kept_game_finds_its_level_again() -> None:
    for key in ("level-4", "auto-4"):
        found = level_of_key(key, 9, 1)
        assert (found.key, found.style, found.visits) == (key, levels_on(9)[3].style, levels_on(9)[3].visits)
    for key in ("visits-250", "level-99", "level-x", "beginner", ""):
        assert level_of_key(key, 9, 250) == level_of_visits(250)
    assert level_of_visits(250).style == Style()
