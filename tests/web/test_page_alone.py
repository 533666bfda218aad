"""The page without a browser: what it shows and does while one comes and goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest
from nicegui import Client, core
from nicegui.page import page as nicegui_page
from web_engine import FakeEngine

from tengen.engine import TimeControl
from tengen.game import BLACK
from tengen.web.page import Page
from tengen.web.settings import GameSettings

Scene = Callable[[Page], Awaitable[None]]


class OneEngine:
    """Where the page gets its engine from."""

    def __init__(self, engine: FakeEngine) -> None:
        self.engine = engine

    def network(self, size: int) -> str:
        return ""

    def __call__(self) -> FakeEngine:
        return self.engine

    def warm_up(self, size: int) -> None:
        """Nothing to load."""


def perform(scene: Scene, settings: GameSettings, engine: FakeEngine | None = None) -> None:
    """Play a scene with a page that no browser shows."""

    async def run() -> None:
        core.loop = asyncio.get_running_loop()
        client = Client(nicegui_page(""), request=None)
        with client:
            page = Page(OneEngine(engine or FakeEngine()), settings, lambda session: None, pace=0)
        try:
            await asyncio.wait_for(scene(page), 10)
        finally:
            page.close()
            client.delete()

    asyncio.run(run())


def test_no_clock_runs_while_the_browser_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("tengen.web.page.time", SimpleNamespace(monotonic=lambda: now[0]))

    async def scene(page: Page) -> None:
        clock = page.session.clock
        assert clock is not None
        page.wake_up()
        page.refresh()
        now[0] += 10
        page.rest()
        for _ in range(3):  # the page polls on until it is thrown away
            now[0] += 500
            page.refresh()
        page.wake_up()
        page.refresh()
        now[0] += 5
        page.refresh()
        assert clock.face(BLACK) == "0:45" and page.session.result == ""

    perform(scene, GameSettings(size=9, clock=TimeControl.absolute(60)))
