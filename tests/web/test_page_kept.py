"""The records that a page without a browser opens and keeps."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from nicegui import core
from web_alone import element, key, perform, press, tap, visit
from web_engine import FakeEngine, FakeEngines, until

from tengen.game import WHITE, Game
from tengen.review.game import positions_of
from tengen.sgf import GameNode, GameTree, split_trees
from tengen.web.analyses import search_result
from tengen.web.library import GameLibrary
from tengen.web.page import Page
from tengen.web.players import DEFAULT_ENGINE, PEOPLE, facing
from tengen.web.records import open_record, read_record_tree
from tengen.web.server import Site
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, Mode


def test_a_record_of_the_command_line_is_shown() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]PB[Ann];B[aa];W[bb])")
        assert page.session.names == ("Ann", "White") and page.session.mode is Mode.ANALYZE

    perform(scene, GameSettings(size=9))


def test_every_change_is_kept_and_a_refusal_of_the_disk_is_told_once(tmp_path: Path, told: list[str]) -> None:
    async def scene(page: Page) -> None:
        page.session.play(40)
        page.refresh()
        (path,) = (tmp_path / "games").iterdir()
        assert b";B[ee]" in path.read_bytes()
        path.unlink()
        path.parent.rmdir()
        path.parent.touch()  # no folder
        for comment in ("a", "b"):
            page.session.node.comment = comment
            page.refresh()
        assert len(told) == 1 and "cannot be kept" in told[0]

    perform(scene, GameSettings(size=9, players=facing(DEFAULT_ENGINE, WHITE)), library=GameLibrary(tmp_path / "games"))


def test_a_game_that_cannot_be_kept_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    def fail(*args: object) -> None:
        raise KeyError(4)

    async def scene(page: Page) -> None:
        monkeypatch.setattr(GameLibrary, "keep", fail)
        page.wake_up()
        page.refresh()
        page.adopt(following := GameSession(GameSettings(size=5)))
        assert page.session is following and len(told) == 1
        page.close()
        assert not page.is_connected

    perform(scene, GameSettings(size=9), library=GameLibrary(tmp_path))


def test_a_tab_finds_its_game_after_a_lost_connection_and_a_restart(tmp_path: Path) -> None:
    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        for stones in (1, 2):
            engines, settings = FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE)
            site = Site(engines, settings, 0, GameLibrary(tmp_path))
            client, page = await visit(site, "tab")
            tap(page, 39 + stones)
            assert len(page.session.game.moves) == stones, "a new server goes on where the last one was"
            client.handle_disconnect("tab")
            page.refresh()  # the page polls on until it is thrown away
            site.close()
            client.delete()
        assert GameLibrary(tmp_path).of_tab("tab") is not None

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_page_whose_browser_is_back_goes_on_when_the_lost_connection_is_given_up() -> None:
    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        client, page = await visit(Site(FakeEngines(FakeEngine), GameSettings(size=9), 0), "lost")
        await client.handle_handshake("new", "lost", None, "document", 0)
        client.handle_disconnect("lost")
        goes_on = page.is_connected
        client.handle_disconnect("new")
        assert (goes_on, page.is_connected) == (True, False)
        client.delete()

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_page_that_waits_for_its_browser_is_not_kept_as_the_last_one_of_its_tab(tmp_path: Path) -> None:
    """A reload makes a new page; the old one is thrown away a minute later."""

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0, GameLibrary(tmp_path))
        (old, left), (new, page) = await visit(site, "tab"), await visit(site, "tab")
        tap(left, 40)
        old.handle_disconnect("tab")
        page.adopt(GameSession(GameSettings(size=9, players=PEOPLE)))
        tap(page, 41)
        (path,) = [path for path in tmp_path.iterdir() if b";B[ee]" in path.read_bytes()]
        os.utime(path, (1, 1))
        left.close()
        (game,) = [game for game in GameLibrary(tmp_path).recent() if game.changed == 1]
        assert game.state["tab"] == "tab", "it was kept when the connection was lost, and not again"
        for client in (old, new):
            client.delete()

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_page_that_is_loaded_again_rests_before_its_connection_is_missed() -> None:
    """Else both play and search the one game: a paused engine goes on, and results come to the wrong positions."""

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        engine = FakeEngine()
        site = Site(FakeEngines(lambda: engine), GameSettings(size=9, players=PEOPLE), 0)
        old, left = await visit(site, "tab")
        other, another = await visit(site, "another tab")
        tap(left, 40)
        element("analysis", left).set_value(True)  # type: ignore[attr-defined]
        await until(lambda: left.controller.thread.latest)
        new, page = await visit(site, "tab")
        shown = page.session is left.session, page.is_connected, another.is_connected, left.is_connected
        key(page, "Home")
        left.refresh()  # until it is thrown away
        found = search_result(page.session.node)
        for client in (old, new, other):
            client.delete()
        assert shown == (True, True, True, False)
        assert found is None

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_review_goes_on_while_its_page_is_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new page shows it; the old one, which is thrown away later, does not stop it."""
    going_on = threading.Event()

    def slow(tree: GameTree, line: Sequence[GameNode]) -> list[tuple[GameNode, Game]]:
        assert going_on.wait(30)
        return positions_of(tree, line)

    monkeypatch.setattr("tengen.web.running_review.positions_of", slow)

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0)
        old, left = await visit(site, "tab")
        for point in (40, 41):
            tap(left, point)
        press("review", left)
        old.handle_disconnect("tab")
        new, page = await visit(site, "tab")
        old.delete()
        assert page.session is left.session
        assert page.controller.review_progress == (0, 3)
        going_on.set()
        await until(lambda: page.session.analyses.review is not None)
        assert page.controller.review_progress is None
        going_on.clear()
        press("review", page)
        new.delete()
        assert page.session.running_review is None, "nobody would see its end"
        going_on.set()

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_record_that_is_opened_again_has_one_file(tmp_path: Path) -> None:
    record, library = b"(;SZ[9]DT[2024-05-06]PB[Ann];B[aa];W[bb])", GameLibrary(tmp_path)

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9), 0, library)
        clients = []
        for name, files in (("first", 1), ("second", 1), ("third", 2)):
            client, page = await visit(site, name)
            clients.append(client)
            await page.open_record(record)
            assert len(list(tmp_path.iterdir())) == files, name
            if name == "first":
                client.handle_disconnect(name)
        left = site._sessions.find("first")
        assert left is not None
        left.node.comment = "more"
        library.keep(left)
        assert len(list(tmp_path.iterdir())) == 3, "a change of the first tab has a file of its own"
        for client in clients:
            client.delete()

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_game_in_progress_is_not_replaced_by_its_record(tmp_path: Path) -> None:
    session = GameSession(GameSettings(size=9))
    session.play(40)
    GameLibrary(tmp_path).keep(session)
    record, _ = open_record(session.to_sgf())
    GameLibrary(tmp_path).keep(record)
    assert sum(game.unfinished for game in GameLibrary(tmp_path).recent()) == 1 and len(list(tmp_path.iterdir())) == 2


def test_another_game_of_a_collection_goes_on_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = iter((0, 1, None, 0, 1))

    asked: list[list[bytes]] = []

    async def choose(games: list[bytes]) -> int | None:
        asked.append(games)
        return next(chosen)

    monkeypatch.setattr("tengen.web.files.choose_game", choose)

    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]PB[Ann];B[aa])(;SZ[9]PB[Bea];B[bb])")
        for number, name in enumerate(("Bea", "Bea", "Ann", "Bea"), 1):
            page.session.play(80 - number)
            press("games")
            await until(lambda n=number, name=name: len(asked) == n + 1 and page.session.names[0] == name)
            page.refresh()
        page.session.node.comment = "last"
        page.refresh()
        (path,) = (tmp_path / "games").iterdir()
        first, second = split_trees(BytesIO(path.read_bytes()))
        assert b"PB[Ann]" in first and all(move in first for move in (b";B[aa]", b";B[hi]", b";B[ei]"))
        assert (
            b"PB[Bea]" in second
            and all(move in second for move in (b";B[bb]", b";B[gi];W[fi]"))
            and b"C[last]" in second
        )

    perform(scene, GameSettings(size=9), library=GameLibrary(tmp_path / "games"))


def test_a_kept_collection_that_is_opened_as_a_file_goes_on_with_the_chosen_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def choose(games: list[bytes]) -> int | None:
        return chosen

    monkeypatch.setattr("tengen.web.files.choose_game", choose)
    chosen = 0

    async def scene(page: Page) -> None:
        nonlocal chosen
        await page.open_record(b"(;SZ[9]PB[Ann];B[aa])(;SZ[9]PB[Bea]C[(;TENGEN[{}\\]];B[bb])")
        page.session.play(80)
        page.refresh()
        (path,) = tmp_path.iterdir()
        chosen = 1
        await page.open_record(path.read_bytes())
        page.session.play(79)
        page.refresh()
        (path,) = set(tmp_path.iterdir()) - {path}
        library = GameLibrary(tmp_path)
        (game,) = [game for game in library.recent() if game.path == path]
        again = library.load(game)
        assert again.names[0] == "Bea" and game.title.startswith("Bea") and again.node.point == 79
        assert [b"TENGEN" in text for text in again.collection()] == [False, True], "a comment stays"

    perform(scene, GameSettings(size=9), library=GameLibrary(tmp_path))


class SlowReading:
    """Holds the reading of records whose text contains `slow` up until `go`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go, self.began = threading.Event(), threading.Event()

        def read(text: bytes) -> GameTree:
            if b"slow" in text:
                self.began.set()
                assert self.go.wait(30)
            return read_record_tree(text)

        monkeypatch.setattr("tengen.web.files.read_record_tree", read)


def test_of_two_records_the_last_one_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = SlowReading(monkeypatch)

    async def scene(page: Page) -> None:
        first = asyncio.create_task(page.open_record(b"(;SZ[9]PB[slow];B[aa])"))
        await until(reading.began.is_set)
        await page.open_record(b"(;SZ[9]PB[Bea];B[bb])")
        reading.go.set()
        await first
        assert page.session.names[0] == "Bea"

    perform(scene, GameSettings(size=9))


def test_what_is_written_while_another_game_is_read_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = SlowReading(monkeypatch)

    async def choose(games: list[bytes]) -> int:
        return 1

    monkeypatch.setattr("tengen.web.files.choose_game", choose)

    async def scene(page: Page) -> None:
        page.adopt(GameSession(GameSettings(size=9, players=PEOPLE)))
        page.session.others = (), [b"(;SZ[9]PB[slow];B[bb])"]
        page.session.play(40)
        press("games")
        await until(reading.began.is_set)
        page.session.node.comment = "meanwhile"
        reading.go.set()
        await until(lambda: page.session.names[0] == "slow")
        ((before,), ()) = page.session.others
        assert b"C[meanwhile]" in before

    perform(scene, GameSettings(size=9), library=GameLibrary(tmp_path / "games"))


def test_a_page_whose_tab_is_loaded_again_opens_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of the command line is read by the new page too, and a record of the old page is dropped."""
    reading = SlowReading(monkeypatch)

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9), 0, record=b"(;SZ[9]PB[slow];B[aa])")
        old, left = await visit(site, "tab")
        await until(reading.began.is_set)
        new, page = await visit(site, "tab")
        reading.go.set()
        await until(lambda: page.session.names[0] == "slow")
        await left.open_record(b"(;SZ[9]PB[Bea];B[bb])")
        shown = page.session.names[0], left.session.names[0]
        third, again = await visit(site, "tab")
        kept = again.session is page.session
        for client in (old, new, third):
            client.delete()
        assert shown[0] == "slow" and shown[1] not in ("slow", "Bea")
        assert kept

    asyncio.run(asyncio.wait_for(scene(), 60))
