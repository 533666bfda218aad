"""The records that a page without a browser opens and keeps."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path

import pytest
from nicegui import background_tasks, core
from web_alone import any_element, client_of, element, is_shown, key, perform, press, send, tap, texts, visit
from web_engine import FakeEngine, FakeEngines, until
from web_kept import played

from tengen.game import WHITE, Game
from tengen.review.game import positions_of
from tengen.sgf import GameNode, GameTree, split_trees
from tengen.web.analyses import search_result
from tengen.web.library import GameLibrary, KeptGame, ReadGame, read_kept
from tengen.web.page import Page
from tengen.web.players import DEFAULT_ENGINE, PEOPLE, facing
from tengen.web.records import open_record, read_record_tree
from tengen.web.server import Site
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, Mode


def hold_reading(module: str, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Let a module read kept games slowly: it has begun with the first event, and goes on with the second."""
    begun, going_on = threading.Event(), threading.Event()

    def slow(game: KeptGame) -> ReadGame:
        begun.set()
        assert going_on.wait(30)
        return read_kept(game)

    monkeypatch.setattr(f"{module}.read_kept", slow)
    return begun, going_on


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


def test_a_tab_that_stayed_open_has_its_game_when_its_connection_is_back(tmp_path: Path) -> None:
    """After a hundred other tabs its file was loaded over it: undo, analyses and review were gone."""

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        settings = GameSettings(size=9, players=PEOPLE)
        site = Site(FakeEngines(FakeEngine), settings, 0, GameLibrary(tmp_path))
        client, page = await visit(site, "tab")
        tap(page, 40)
        session = page.session
        client.handle_disconnect("tab")
        for number in range(200):
            site.sessions.keep(f"tab {number}", GameSession(settings))
        assert site.sessions.find("tab") is None
        await client.handle_handshake("again", "tab", None, "document", 0)
        await until(lambda: page.is_connected)
        kept = page.session is session, site.sessions.find("tab") is session
        client.delete()
        assert kept == (True, True)

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_of_the_sessions_that_no_page_shows_the_last_ones_stay_in_memory() -> None:
    """A reviewed game has some megabytes. What a page shows stays."""

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0)
        client, _ = await visit(site, "tab")
        for number in range(200):
            site.sessions.keep(f"tab {number}", GameSession(GameSettings(size=9)))
        kept = [tab for tab in ("tab", "tab 199", "tab 170", "tab 169", "tab 0") if site.sessions.find(tab)]
        client.delete()
        assert kept == ["tab", "tab 199", "tab 170"]

    asyncio.run(asyncio.wait_for(scene(), 60))


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("address", ["192.168.1.7", "192.168.1.8"])
def test_a_game_in_progress_stays_with_the_one_who_plays_it(tmp_path: Path, connected: bool, address: str) -> None:
    """A new tab offered it to everybody, and the first to open it took its file. A new tab of the same person goes on
    in the file, when the old one is gone."""
    library = GameLibrary(tmp_path)

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9), 0, library)
        first, left = await visit(site, "Ann", address="192.168.1.7")
        tap(left, 40)
        await until(lambda: len(left.session.game.moves) == 2)
        left.refresh()
        if not connected:
            first.handle_disconnect("Ann")
        second, page = await visit(site, "Bob", address=address)
        await until(lambda: all(task.get_name() != "tengen kept game" for task in background_tasks.running_tasks))
        goes_on = address == "192.168.1.7" and not connected
        offered = is_shown("offer")
        (game,) = library.recent()
        await page.files.open_kept(game)
        page.refresh()
        watched = [game.state["tab"] for game in library.recent()]
        tap(page, 50)
        page.refresh()
        names = sorted(game.state["tab"] for game in library.recent())
        for client in (first, second):
            client.delete()
        assert offered == goes_on
        assert (watched, names) == ((["Bob"], ["Bob"]) if goes_on else (["Ann"], ["Ann", "Bob"]))

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_the_game_of_the_page_stays_in_its_file_when_it_is_opened_from_the_list(tmp_path: Path) -> None:
    library = GameLibrary(tmp_path)

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0, library)
        client, page = await visit(site, "tab")
        tap(page, 40)
        page.refresh()
        before = page.session
        await page.files.open_kept(library.recent()[0])
        opened = page.session is not before
        page.session.step(1)
        tap(page, 41)
        page.refresh()
        client.delete()
        assert opened and len(library.recent()) == 1

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_kept_games_and_collections_are_read_beside_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new tab, Open and the games of a collection held everybody's page for seconds."""
    threads: dict[str, set[threading.Thread]] = {}

    def noted(place: str) -> None:
        module, name = place.rsplit(".", 1)
        call = getattr(import_module(module), name)

        def noting(*args: object, **more: object) -> object:
            threads.setdefault(name, set()).add(threading.current_thread())
            return call(*args, **more)

        monkeypatch.setattr(place, noting)

    for place in ("library.state_in", "library.open_record", "open_dialog.describe"):
        noted(f"tengen.web.{place}")
    GameLibrary(tmp_path).keep(played(), "tab")

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0, GameLibrary(tmp_path))
        client, page = await visit(site, "tab")
        assert len(page.session.game.moves) >= 3
        press("open", page)
        await until(lambda: any_element("recent"))
        page.adopt(GameSession(GameSettings(size=9, players=PEOPLE)))
        send(element("recent", page), "click")
        await until(lambda: len(page.session.game.moves) >= 3)
        page.session.analyze()
        opening = asyncio.create_task(page.open_record(b"(;SZ[9]PB[Ann];B[aa])(;SZ[9]PB[Bea];B[bb])"))
        await until(lambda: any_element("choose-game"))
        assert "2. Bea \u2013 White" in texts(element("choose-game", page))
        opening.cancel()
        client.delete()

    asyncio.run(asyncio.wait_for(scene(), 60))
    assert sorted(threads) == ["describe", "open_record", "state_in"]
    assert threading.current_thread() not in set().union(*threads.values())


def test_a_game_that_is_begun_while_the_one_of_the_tab_is_read_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, going_on = hold_reading("tengen.web.server", monkeypatch)
    GameLibrary(tmp_path).keep(played(), "tab")

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0, GameLibrary(tmp_path))
        visiting = asyncio.create_task(visit(site, "tab"))
        await until(begun.is_set)
        (page,) = site._pages
        tap(page, 70)
        going_on.set()
        client, _ = await visiting
        moves = page.session.game.moves
        client.delete()
        assert len(moves) == 1

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_the_session_that_was_left_last_stays_although_its_tab_is_the_oldest() -> None:
    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0)
        client, page = await visit(site, "long")
        for number in range(30):
            site.sessions.keep(f"left {number}", GameSession(GameSettings(size=9)))
        client.handle_disconnect("long")
        site.sessions.keep("new", GameSession(GameSettings(size=9)))
        kept = site.sessions.find("long")
        client.delete()
        assert kept is page.session

    asyncio.run(asyncio.wait_for(scene(), 60))


@pytest.mark.parametrize("meanwhile", ["another game", "a move"])
def test_what_is_played_while_a_kept_game_is_read_stays(
    meanwhile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question whether the game may be replaced was asked before."""
    begun, going_on = hold_reading("tengen.web.files", monkeypatch)
    library = GameLibrary(tmp_path)

    async def scene(page: Page) -> None:
        for point in (40, 41):
            tap(page, point)
        session = page.session
        if meanwhile == "another game":
            page.adopt(GameSession(GameSettings(size=9, players=PEOPLE)))
        else:
            page.files.keep(final=True)
        (game,) = library.recent()

        async def open_it() -> None:
            with client_of(page):
                await page.files.open_kept(game)

        opening = asyncio.create_task(open_it())
        await until(begun.is_set)
        if meanwhile == "another game":
            page.adopt(GameSession(GameSettings(size=9)))
            page.session.click(0)
            begun_game = page.session
            going_on.set()
            await until(lambda: any_element("ask-leave"))
            assert page.session is begun_game
            opening.cancel()
        else:
            tap(page, 42)
            going_on.set()
            await opening
            assert page.session is session and len(session.game.moves) == 3

    perform(scene, GameSettings(size=9, players=PEOPLE), library=library)


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


@pytest.mark.slow
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
        left = site.sessions.find("first")
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

    asked: list[list[tuple[str, str]]] = []

    async def choose(texts: list[tuple[str, str]], number: int) -> int | None:
        asked.append(texts)
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
    async def choose(texts: list[tuple[str, str]], number: int) -> int | None:
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

    async def choose(texts: list[tuple[str, str]], number: int) -> int:
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
