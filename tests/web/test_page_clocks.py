"""The clocks of a page that no browser shows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from nicegui import core
from web_alone import is_shown, perform, press, tap, visit
from web_engine import FakeEngine, FakeEngines, FlawedEngine, until

from tengen.engine import TimeControl
from tengen.game import BLACK, WHITE, Game
from tengen.web.clock import GameClock
from tengen.web.page import Page
from tengen.web.players import PEOPLE, level_of_visits
from tengen.web.server import Site
from tengen.web.settings import GameSettings


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the page's clocks read, as its one item."""
    found = [1000.0]
    for module in ("page", "controller"):
        monkeypatch.setattr(f"tengen.web.{module}.time", SimpleNamespace(monotonic=lambda: found[0]))
    return found


def ten_seconds_later(page: Page, now: list[float]) -> GameClock:
    """The clock of a game in which the side to move has thought for ten seconds, in an open browser."""
    clock = page.session.clock
    assert clock is not None
    page.wake_up()
    page.refresh()
    now[0] += 10
    return clock


def test_no_clock_runs_while_the_browser_is_gone(now: list[float]) -> None:

    async def scene(page: Page) -> None:
        clock = ten_seconds_later(page, now)
        page.rest()
        for _ in range(3):  # the page polls on until it is thrown away
            now[0] += 500
            page.refresh()
        page.wake_up()
        page.refresh()
        now[0] += 5
        page.refresh()
        assert clock.text(BLACK) == "0:45" and page.session.result == ""

    perform(scene, GameSettings(size=9, clock=TimeControl.absolute(60)))


def test_a_paused_game_loses_no_time_and_a_single_move_takes_its_own(now: list[float]) -> None:
    class Slow(FakeEngine):
        def set_position(self, game: Game) -> None:
            now[0] += 20
            super().set_position(game)

    async def scene(page: Page) -> None:
        clock, moves = page.session.clock, page.session.tree
        assert clock is not None
        press("pause")
        page.wake_up()
        for seconds in (0, 500, 500):
            now[0] += seconds
            page.refresh()
        assert (clock.text(BLACK), page.session.result) == ("1:00", "")
        press("one-move")
        await until(lambda: len(moves) == 2)
        now[0] += 500
        page.refresh()
        assert [clock.text(color) for color in (BLACK, WHITE)] == ["0:40", "1:00"]

    level = level_of_visits(10)
    perform(scene, GameSettings(size=9, players=(level, level), clock=TimeControl.absolute(60)), Slow())


def test_a_page_that_was_left_paused_leaves_the_clock_to_the_one_that_was_loaded_again(now: list[float]) -> None:
    going_on = threading.Event()

    class Slow(FakeEngine):
        def set_position(self, game: Game) -> None:
            self.thinking.set()
            going_on.wait(60)
            super().set_position(game)

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        engine, level, clock = Slow(), level_of_visits(10), TimeControl.absolute(60)
        settings = GameSettings(size=9, players=(level, level), clock=clock)
        site = Site(FakeEngines(lambda: engine), settings, 0)
        first, left = await visit(site, "tab")
        press("pause", left)
        first.handle_disconnect("tab")
        second, page = await visit(site, "tab")
        await until(engine.thinking.is_set)
        for _ in range(4):
            page.refresh()
            left.refresh()  # it polls on until it is thrown away
            now[0] += 5
        page.refresh()
        shown = page.session.clock.text(BLACK) if page.session.clock else ""
        going_on.set()
        for client in (first, second):
            client.delete()
        assert left.session is page.session and shown == "0:40"

    asyncio.run(asyncio.wait_for(scene(), 60))


@pytest.mark.parametrize("move", [lambda page: tap(page, 40), lambda page: press("pass", page)])
def test_a_move_after_the_time_ran_out_is_too_late(now: list[float], move: Callable[[Page], None]) -> None:
    async def scene(page: Page) -> None:
        ten_seconds_later(page, now)
        now[0] += 50
        move(page)
        assert page.session.result == "W+T" and page.session.game.moves == []

    perform(scene, GameSettings(size=9, players=PEOPLE, clock=TimeControl.absolute(60)))


def test_an_engine_that_failed_loses_no_time(now: list[float]) -> None:
    engine = FlawedEngine()

    async def scene(page: Page) -> None:
        clock = ten_seconds_later(page, now)
        tap(page, 40)
        await until(lambda: is_shown("pause"))
        for _ in range(3):
            page.refresh()
            now[0] += 500
        assert [clock.text(color) for color in (BLACK, WHITE)] == ["0:50", "1:00"] and not page.session.result
        engine.fails = False
        press("pause")
        await until(lambda: len(page.session.game.moves) == 2)
        page.refresh()
        now[0] += 10
        page.refresh()
        assert clock.text(BLACK) == "0:40", "the person's time runs again"

    perform(scene, GameSettings(size=9, clock=TimeControl.absolute(60)), engine)


def test_after_the_editor_the_clock_of_the_side_to_move_runs(now: list[float]) -> None:

    async def scene(page: Page) -> None:
        clock = page.session.clock
        assert clock is not None
        page.wake_up()
        press("edit")
        tap(page, 40)
        press("edit-turn")
        press("edit")
        assert page.session.live and page.session.game.to_play == WHITE
        page.refresh()
        now[0] += 10
        page.refresh()
        assert [clock.text(color) for color in (BLACK, WHITE)] == ["1:00", "0:50"]

    perform(scene, GameSettings(size=9, players=PEOPLE, clock=TimeControl.absolute(60)))
