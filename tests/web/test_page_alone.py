"""The page without a browser: taps and errors while the engine works, what a step sends, what a closed tab leaves."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from pathlib import Path

import pytest
from nicegui import background_tasks, core
from nicegui.javascript_request import JavaScriptRequest
from nicegui.page import page as nicegui_page
from web_alone import client_of, element, is_shown, key, perform, press, tap, visit
from web_engine import FakeEngine, FakeEngines, FlawedEngine, until

from tengen.engine import Count
from tengen.game import Game
from tengen.sgf import Analysis
from tengen.web.library import GameLibrary
from tengen.web.page import Page
from tengen.web.players import PEOPLE
from tengen.web.server import Site
from tengen.web.settings import GameSettings
from tengen.web.status_text import status


def test_a_tap_while_the_engine_counts_does_not_disturb_the_count() -> None:
    class Slow(FakeEngine):
        def count(self, game: Game) -> Count:
            counts.append(game)
            taps.wait(60)
            return super().count(game)

    async def scene(page: Page) -> None:
        page.session.click(40)
        for _ in range(2):
            page.session.pass_turn()
        page.wake_up()
        await until(lambda: counts)
        tap(page, 40)
        assert not page.session.counted and status(page.session) == "Counting …"
        taps.set()
        await until(lambda: page.session.counted and not page.controller.activity)
        assert len(counts) == 1 and not page.session.dead
        tap(page, 40)
        assert page.session.dead == {40}

    counts, taps = list[Game](), threading.Event()
    perform(scene, GameSettings(size=9, players=PEOPLE), Slow())


def test_after_an_error_of_the_engine_the_game_can_go_on() -> None:
    engine = FlawedEngine()

    async def scene(page: Page) -> None:
        assert not is_shown("pause")
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        page.session.click(40)
        page.refresh()
        await until(lambda: is_shown("pause"))
        assert element("pause").text == "Continue"  # type: ignore[attr-defined]
        assert element("analysis").value is False, "it is off, and says so"  # type: ignore[attr-defined]
        engine.fails = False
        press("pause")
        await until(lambda: len(page.session.game.moves) == 2)
        assert not is_shown("pause")

    perform(scene, GameSettings(size=9), engine)


def test_a_step_sends_the_tree_of_variations_no_second_time() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9];B[aa];W[bb](;B[cc])(;B[dd]))")
        tree, outbox = element("tree"), client_of(page).outbox
        outbox.updates.clear()
        key(page, "ArrowRight")
        await asyncio.sleep(0)
        assert tree.id not in outbox.updates and tree.props["current"] == page.session.node.id
        assert [data["code"] for *_, data in outbox.messages if "mark" in data.get("code", "")][-1:] == [
            f'return runMethod({tree.id}, "mark", [{page.session.node.id}])'
        ]
        page.session.play(80)
        page.refresh()
        assert tree.id in outbox.updates and len(tree.props["nodes"]) == 6

    perform(scene, GameSettings(size=9))


def test_a_step_sends_the_graph_no_second_time_and_a_search_its_own_point_alone() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9];B[aa];W[bb];B[cc])")
        session, graph, outbox = page.session, element("graph"), client_of(page).outbox

        async def sent() -> tuple[bool, list[list[object]]]:
            """Whether all properties of the graph are sent, and the calls of its methods with their arguments."""
            await asyncio.sleep(0.01)
            whole, call = graph.id in outbox.updates, f"return runMethod({graph.id}, "
            codes = [data.get("code", "") for *_, data in outbox.messages]
            outbox.updates.clear()
            outbox.messages.clear()
            return whole, [json.loads(f"[{code[len(call) : -1]}]") for code in codes if code.startswith(call)]

        for node in session.line:
            node.analysis = Analysis(0.5, 1.0, 10)
        page.refresh()
        assert (await sent())[0], "it appears"
        key(page, "ArrowRight")
        assert await sent() == (False, [["mark", [1]]]) and graph.props["current"] == 1
        session.node.analysis = Analysis(0.25, 2.0, 20)
        page.refresh()
        point, series = {"place": 1, "winrate": 0.25, "score": 2.0}, graph.props["series"]
        assert await sent() == (False, [["merge", [[point], series]]]) and graph.props["points"][1] == point
        page.refresh()
        assert await sent() == (False, [])
        session.node.analysis = None
        page.refresh()
        assert (await sent())[0] and len(graph.props["points"]) == 3
        assert graph.props["series"] == series + 1, "points that are on their way belong to another line"

    perform(scene, GameSettings(size=9))


@pytest.mark.slow
def test_nothing_of_a_closed_tab_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FastAPI remembers the routes of uploads, and these knew the page: no closed tab ever left."""
    monkeypatch.setattr(core.app.config, "message_history_length", 1000, raising=False)  # as ui.run does
    engine = FakeEngine()
    site = Site(FakeEngines(lambda: engine), GameSettings(size=9, players=PEOPLE), 0, GameLibrary(tmp_path / "games"))
    route = nicegui_page("", reconnect_timeout=0)

    async def leave(number: int) -> list[weakref.ref[object]]:
        """A tab that plays, searches, reviews and opens a record, and is closed; what must be gone."""
        client, page = await visit(site, f"tab-{number}", route)
        await until(lambda: JavaScriptRequest._instances)
        for request in list(JavaScriptRequest._instances.values()):
            JavaScriptRequest.resolve(request.request_id, None)
        tap(page, 40)
        element("analysis", page).set_value(True)  # type: ignore[attr-defined]
        await until(engine.thinking.is_set)
        for name in ("review", "new-game", "open"):
            press(name, page)
        await page.open_record(b"(;SZ[9];B[aa];W[bb])")
        kept = client, page, page.controller.thread, page.controller, element("board", page)
        gone = [weakref.ref(each) for each in kept]
        del kept
        if number:  # the first tab closes while its engine thinks
            element("analysis", page).set_value(False)  # type: ignore[attr-defined]
        client.handle_disconnect(f"tab-{number}")
        await until(lambda: client.is_deleted)
        return gone

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        gone = [ref for number in range(3) for ref in await leave(number)]
        await until(lambda: not background_tasks.running_tasks)
        gc.collect()
        assert [ref() for ref in gone if ref() is not None] == []
        assert all(site.sessions.find(f"tab-{number}") for number in range(3)), "a reload within minutes finds its game"

    asyncio.run(asyncio.wait_for(scene(), 60))
