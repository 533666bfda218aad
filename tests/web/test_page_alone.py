"""The page without a browser: what it shows and does while one comes and goes."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
from nicegui import background_tasks, core, ui
from nicegui.elements.mixins.value_element import ValueElement
from nicegui.javascript_request import JavaScriptRequest
from nicegui.page import page as nicegui_page
from web_alone import (
    any_element,
    client_of,
    dialog,
    element,
    is_shown,
    key,
    labelled,
    perform,
    press,
    send,
    tap,
    texts,
    visit,
)
from web_engine import FakeEngine, FakeEngines, FlawedEngine, until

from tengen.engine import Count
from tengen.game import BLACK, Game
from tengen.review.game import GameReview
from tengen.web.editor import Editor, Tool
from tengen.web.library import GameLibrary, KeptGame
from tengen.web.offers import UNDO_REMOVAL
from tengen.web.page import Page
from tengen.web.panels import MAX_COMMENT, PlayerCard
from tengen.web.players import DEFAULT_ENGINE, PEOPLE
from tengen.web.preferences import STORED_SCRIPT
from tengen.web.records import open_record
from tengen.web.server import Site
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, Mode, PageAnalysis, first_game
from tengen.web.status_text import status


def answering(stored: object = None, otherwise: object = 1000) -> Callable[..., asyncio.Future[object]]:
    """A browser that remembers this, and answers everything else, such as its width, with the same value."""

    def answer(script: str, **_: object) -> asyncio.Future[object]:
        future = asyncio.get_running_loop().create_future()
        future.set_result(stored if script == STORED_SCRIPT else otherwise)
        return future

    return answer


def test_accept_appears_with_the_count() -> None:
    async def scene(page: Page) -> None:
        for _ in range(2):
            page.session.pass_turn()
        page.refresh()
        assert not is_shown("accept") and is_shown("continue")
        page.wake_up()
        await until(lambda: page.session.counted)
        assert is_shown("accept")

    perform(scene, GameSettings(size=9, players=PEOPLE))


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


def test_no_time_is_asked_for_in_an_analysis() -> None:
    async def scene(page: Page) -> None:
        element("time").set_value("blitz")  # type: ignore[attr-defined]
        for mode in (Mode.ANALYZE, Mode.PLAY):
            before = page.session
            labelled("Who plays").set_value(mode)  # type: ignore[attr-defined]
            assert element("time").visible is (mode is Mode.PLAY)
            press("start-game")
            await until(lambda before=before: page.session is not before)
            assert page.session.settings.mode is mode
            assert (page.session.settings.clock is not None) is (mode is Mode.PLAY)

    perform(scene, GameSettings(size=9))


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


def test_viewing_a_long_comment_does_not_cut_it() -> None:
    text = "x" * (MAX_COMMENT + 5)

    async def scene(page: Page) -> None:
        session, _ = open_record(f"(;SZ[9]C[{text}];B[aa]C[{text[:30_000]}];W[bb]C[c])".encode())
        page.adopt(session)
        field = element("comment")
        for _ in range(3):
            page.refresh()
            session.step(1)
        session.seek(1)
        page.refresh()
        field.set_value("short")  # type: ignore[attr-defined]
        session.seek(0)
        page.refresh()
        assert not field.enabled  # type: ignore[attr-defined]
        assert [node.comment for node in session.line] == [text, "short", "c"]
        assert session.history.can_undo

    perform(scene, GameSettings(size=9))


def test_a_comment_is_written_on_one_position_while_the_engine_answers() -> None:
    async def scene(page: Page) -> None:
        field, session = element("comment"), page.session
        page.wake_up()
        tap(page, 40)
        move = session.node
        send(field, "focus")
        field.set_value("a good")  # type: ignore[attr-defined]
        await until(lambda: len(session.game.moves) == 2)
        page.refresh()
        assert field.value == "a good"  # type: ignore[attr-defined]
        field.set_value("a good move")  # type: ignore[attr-defined]
        send(field, "blur")
        assert (move.comment, session.node.comment) == ("a good move", "")
        assert field.value == ""  # type: ignore[attr-defined]
        field.set_value("an answer")  # type: ignore[attr-defined]
        send(field, "focus")
        page.adopt(GameSession(GameSettings(size=9)))
        assert field.value == ""  # type: ignore[attr-defined]
        field.set_value("another game")  # type: ignore[attr-defined]
        assert [session.node.comment, page.session.node.comment] == ["an answer", "another game"]

    perform(scene, GameSettings(size=9))


def test_the_name_the_annotations_and_the_comment_are_above_the_analysis_and_marked_in_the_tree() -> None:
    async def scene(page: Page) -> None:
        session, _ = open_record(b"(;SZ[9];B[aa]N[Wrong]BM[1];W[bb])")
        page.adopt(session)
        field, tree = element("comment"), element("tree")
        lower = [part for part in client_of(page).elements.values() if "tg-lower" in part.classes]
        names = [part.props.get("data-testid") for part in lower[0].descendants()]
        assert names.index("remarks") < names.index("comment") < names.index("analysis") < names.index("tree")
        assert not is_shown("remarks")
        page.session.seek(1)
        page.refresh()
        assert is_shown("remarks") and element("remarks").text == "Wrong \u00b7 Bad move"  # type: ignore[attr-defined]
        send(field, "focus")
        session.step(1)
        page.refresh()
        assert is_shown("remarks"), "it is of the position whose comment is written"
        send(field, "blur")
        assert not is_shown("remarks")

        def marked() -> list[bool]:
            return [bool(cell[7]) for cell in tree.props["nodes"]]

        assert marked() == [False, True, False]
        field.set_value("a")  # type: ignore[attr-defined]
        assert marked() == [False, True, True]
        field.set_value("ab")  # type: ignore[attr-defined]
        field.set_value("")  # type: ignore[attr-defined]
        assert marked() == [False, True, False]

    perform(scene, GameSettings(size=9))


def test_a_correction_that_makes_a_move_illegal_is_explained() -> None:
    async def scene(page: Page) -> None:
        page.adopt(open_record(b"(;SZ[9]AW[aa];B[ba];W[ab])")[0])
        said: list[str] = []
        page._notify = said.append  # type: ignore[method-assign]
        press("edit")
        tap(page, 1)
        assert said == ["a move that follows would be illegal: remove it first"] and len(page.session.tree) == 3
        tap(page, 40)
        assert len(said) == 1 and page.session.place == 0 and page.session.tree.root.setup[40] == BLACK

    perform(scene, GameSettings(size=9))


def test_the_offer_goes_away_when_a_game_has_begun() -> None:
    async def scene(page: Page) -> None:
        page.offer(KeptGame(Path("a.sgf"), 0.0, {"names": ["You", "Tengen"], "size": 9, "moves": 3}))
        page.refresh()
        assert is_shown("offer")
        page.session.click(40)
        page.refresh()
        assert not is_shown("offer")

    perform(scene, GameSettings(size=9))


def test_an_offer_that_was_declined_does_not_come_back_with_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(page: Page) -> None:
        game = KeptGame(Path("a.sgf"), 0.0, {"names": ["You", "Tengen"], "size": 9, "moves": 3})

        async def offer() -> None:
            page.offer(game)
            await page.load_preferences()

        await offer()
        for name in ("offer", "welcome"):
            assert is_shown(name)
            press(f"{name}-close")
        await offer()
        assert not is_shown("offer") and not is_shown("welcome")

    monkeypatch.setattr("tengen.web.page.ui.run_javascript", answering())
    perform(scene, GameSettings(size=9))


def test_a_kept_game_that_cannot_be_deleted_stays_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tengen.web.open_dialog.READING_SECONDS", 0)

    async def scene(page: Page) -> None:
        tap(page, 40)
        (path,) = tmp_path.iterdir()
        press("open")
        removal = labelled("Delete this game")
        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", refuse)
            for _ in range(2):
                send(removal, "click")
        assert told == [f"{path.name}: Permission denied"] and not removal.is_deleted and path.exists()
        send(removal, "click")
        assert removal.is_deleted and not path.exists()

    perform(scene, GameSettings(size=9, players=PEOPLE), library=GameLibrary(tmp_path))


def test_a_double_tap_on_the_bin_deletes_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.web.open_dialog.READING_SECONDS", 1000)

    async def scene(page: Page) -> None:
        tap(page, 40)
        (path,) = tmp_path.iterdir()
        press("open")
        removal = labelled("Delete this game")
        for _ in range(2):
            send(removal, "click")
        assert removal.text == "Delete?" and path.exists()
        monkeypatch.setattr("tengen.web.open_dialog.READING_SECONDS", 0)
        send(removal, "click")
        assert removal.is_deleted and not path.exists()

    perform(scene, GameSettings(size=9, players=PEOPLE), library=GameLibrary(tmp_path))


@pytest.mark.parametrize(("visits", "chosen"), [(None, "auto"), (100, "visits-100"), (250, "visits-250")])
def test_the_dialog_of_a_new_game_begins_with_the_opponent_of_the_command_line(visits: int | None, chosen: str) -> None:
    """Without `--visits`, which then is 100, it is the automatic level."""

    async def scene(page: Page) -> None:
        press("new-game")
        fields = [element(name) for name in ("level", "black", "white")]
        assert [field.value for field in fields] == [chosen, *[f"visits-{visits or 100}"] * 2]  # type: ignore[attr-defined]

    perform(scene, first_game(9, visits), engines=FakeEngines(FakeEngine, "measured"))


@pytest.mark.parametrize(("key", "title"), [("auto", "Level 2"), ("level-3", None)])
def test_the_closed_select_shows_the_level_of_the_automatic_opponent(key: str, title: str | None) -> None:
    async def scene(page: Page) -> None:
        press("new-game")
        field = element("level")
        field.set_value(key)  # type: ignore[attr-defined]
        assert field.props.get("display-value") == title
        assert field.options["auto"] == "Automatic · Level 2"  # type: ignore[attr-defined]

    perform(scene, first_game(9, None), engines=FakeEngines(FakeEngine, "measured"))


def test_the_button_to_pass_stays_while_the_engine_is_to_move() -> None:
    async def scene(page: Page) -> None:
        assert is_shown("pass") and element("pass").enabled  # type: ignore[attr-defined]
        tap(page, 40)
        assert is_shown("pass") and not element("pass").enabled  # type: ignore[attr-defined]
        page.adopt(GameSession(GameSettings(size=9, players=(DEFAULT_ENGINE, DEFAULT_ENGINE))))
        assert not is_shown("pass")

    perform(scene, GameSettings(size=9))


def test_a_player_is_described_without_breaks_inside_short_parts() -> None:
    async def scene(page: Page) -> None:
        with client_of(page), ui.element() as box:
            card = PlayerCard(1)
        card.show("Tengen", "100 visits a move · komi 7.5", "", 0, False, False)
        assert "100 visits a move · komi\u00a07.5" in texts(box)
        card.show("Tengen", "Level 2 · about 25 kyu", "", 0, False, False)
        assert "Level\u00a02 · about\u00a025\u00a0kyu" in texts(box)

    perform(scene, GameSettings(size=9))


def test_the_parts_of_the_page_have_headings_and_its_switches_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(page: Page) -> None:
        parts = client_of(page).elements.values()
        headings = {part.text for part in parts if isinstance(part, ui.label) and part.props.get("role") == "heading"}
        assert {"Analyze", "Teaching", "Review", "Variations", "New game", "Preferences"} <= headings
        for name in ("sound", "coordinates"):
            assert element(name).props["aria-pressed"] == "true"
            press(name)
            assert element(name).props["aria-pressed"] == "false"
        assert "matchMedia" in element("dark").props[":aria-pressed"], "as the system until a person chooses"
        press("dark")
        await until(lambda: element("dark").props[":aria-pressed"] == "'true'")

    monkeypatch.setattr("tengen.web.page.ui.run_javascript", answering(otherwise=False))
    perform(scene, GameSettings(size=9))


def test_the_end_of_a_game_offers_what_comes_next() -> None:
    async def scene(page: Page) -> None:
        page.session.click(40)
        page.refresh()
        assert is_shown("analyze-game") and not is_shown("rematch") and not is_shown("play-on")
        page.session.resign(1)
        page.refresh()
        assert all(is_shown(name) for name in ("review-end", "rematch", "save-end", "take-back-end", "play-on"))
        press("take-back-end")
        assert page.session.may_click and not is_shown("rematch")

    perform(scene, GameSettings(size=9))


def test_a_resignation_is_asked_for() -> None:
    async def scene(page: Page) -> None:
        for answer, result in (("stay", ""), ("resign", "W+R")):
            press("resign")
            await until(lambda: any_element("ask-resign"))
            press(f"ask-resign-{answer}")
            await until(lambda: not any_element("ask-resign"))
            assert page.session.result == result

    perform(scene, GameSettings(size=9))


def test_a_question_is_asked_once() -> None:
    async def scene(page: Page) -> None:
        for _ in range(2):
            press("resign")
        await until(lambda: any_element("ask-resign"))
        await asyncio.sleep(0)
        press("ask-resign-stay")  # fails where there are two
        await until(lambda: not any_element("ask-resign"))
        press("resign")
        await until(lambda: any_element("ask-resign"))
        press("ask-resign-resign")
        await until(lambda: page.session.result == "W+R")

    perform(scene, GameSettings(size=9))


def test_a_question_ends_when_its_tab_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(page: Page) -> None:
        task = asyncio.create_task(page.open_record(b"(;SZ[9];B[aa])(;SZ[9];B[bb])"))
        await until(lambda: any_element("choose-game"))
        client_of(page).delete()
        await asyncio.wait((task,))
        assert task.cancelled() and caplog.text == ""

    perform(scene, GameSettings(size=9))


def test_what_is_taken_back_in_the_editor_is_gone_from_the_game() -> None:
    """A move is, and a result, without which the game waits for its end."""

    async def scene(page: Page) -> None:
        session = page.session
        for point in (40, 41):
            session.play(point)
        press("edit")
        press("take-back")
        press("edit")
        assert session.in_progress and session.game.moves == [(BLACK, 40)] and session.tip is session.node
        session.play(41)
        session.resign(BLACK)
        press("edit")
        press("take-back-end")
        assert session.result == "" and not session.live and session.unfinished
        press("edit")
        assert session.live and len(session.game.moves) == 2

    perform(scene, GameSettings(size=9))


def test_after_the_editor_a_game_goes_on_where_it_was() -> None:
    async def scene(page: Page) -> None:
        session = page.session
        for point in (40, 41):
            session.play(point)
        press("edit")
        assert is_shown("editor") and session.mode is Mode.ANALYZE
        tap(page, 3)
        assert session.node is not session.tip and session.view().stones[3] == "X"
        press("edit")
        assert session.in_progress and not session.engine_to_move
        press("return")
        assert session.may_click and session.node is session.tip
        press("edit")
        press("edit-remove")
        press("edit")
        assert not session.in_progress, "the position where it went on is gone"

    perform(scene, GameSettings(size=9))


def test_another_language_replaces_no_position_that_was_set_up() -> None:
    async def scene(page: Page) -> None:
        before = page.session
        element("language").set_value("ja")  # type: ignore[attr-defined]
        assert (empty := page.session) is not before, "its record names the players"
        press("edit")
        tap(page, 40)
        press("edit")
        element("language").set_value("en")  # type: ignore[attr-defined]
        assert page.session is empty and empty.live and empty.view().stones[40] == "X"

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_removal_is_told_and_can_be_undone_until_the_next_edit() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9];B[aa];W[bb](;B[cc];W[dd])(;B[ee]))")
        session, client = page.session, client_of(page)

        def notices() -> list[str]:
            return [part.message for part in client.elements.values() if isinstance(part, ui.notification)]

        session.step(2)
        press("edit")
        press("edit-remove")
        assert notices() == ["4 moves removed."] and len(session.tree) == 2
        send(client.layout, UNDO_REMOVAL)
        assert len(session.tree) == 6 and session.node.point == 10
        send(client.layout, UNDO_REMOVAL)
        assert len(session.tree) == 6 and not session.history.can_undo
        session.step(2)
        press("edit-remove")
        assert notices()[-1] == "1 move removed."
        tap(page, 40)
        send(client.layout, UNDO_REMOVAL)
        assert session.view().stones[40] == "X", "that is the last edit now"
        press("edit-remove")
        assert notices()[-1] == "Position removed."

    perform(scene, GameSettings(size=9))


@pytest.mark.parametrize("undo", ["key", "notice", "notice after the editor"])
def test_a_removal_that_is_undone_does_not_end_the_game_with_the_engine(undo: str) -> None:
    async def scene(page: Page) -> None:
        session = page.session
        for point in (40, 41):
            session.play(point)
        press("edit")
        press("edit-remove")
        if undo == "key":
            key(page, "z", "ctrlKey")
        elif undo == "notice":
            send(client_of(page).layout, UNDO_REMOVAL)
        if undo != "notice after the editor":
            assert session.unfinished and not is_shown("resign")
        press("edit")
        if undo == "notice after the editor":
            assert not session.unfinished and not is_shown("resign")
            send(client_of(page).layout, UNDO_REMOVAL)
        assert session.in_progress and session.node is session.tip and is_shown("resign")
        page.wake_up()
        tap(page, 50)
        await until(lambda: len(session.game.moves) == 4)

    perform(scene, GameSettings(size=9))


def test_the_offer_to_undo_a_removal_goes_with_a_move_that_is_taken_back() -> None:
    """The removal cannot be undone then, and the edit before it would be."""

    async def scene(page: Page) -> None:
        session, root = page.session, page.session.node
        press("edit")
        press("tool-triangle")
        tap(page, 0)
        for point in (40, 41, 42):
            session.play(point)
        press("edit-remove")
        assert session.place == 2
        press("take-back")
        send(client_of(page).layout, UNDO_REMOVAL)
        assert session.place == 1 and root.marks == {0: "triangle"}

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_page_that_is_loaded_again_shows_no_answers_of_an_earlier_review() -> None:
    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        site = Site(FakeEngines(FakeEngine), GameSettings(size=9, players=PEOPLE), 0)
        pages = [await visit(site, "tab")]
        page, session = pages[0][1], pages[0][1].session
        for point in (40, 41):
            tap(page, point)
        press("review", page)
        await until(lambda: session.analyses.review is not None)
        switches = [element("analysis", page).value]  # type: ignore[attr-defined]
        key(page, "a")
        pages.append(await visit(site, "tab"))
        page, before = pages[1][1], session.analyses.review
        page.refresh()
        board = element("board", page).props
        shown = page.session is session, bool(board["candidates"] or board["ownership"])
        switches.append(element("analysis", page).value)  # type: ignore[attr-defined]
        press("review", page)
        await until(lambda: session.analyses.review is not before)
        switches.append(element("analysis", page).value)  # type: ignore[attr-defined]
        for client, _ in pages:
            client.delete()
        assert shown == (True, False)
        assert switches == [True, False, True], "a review that ends turns it on"

    asyncio.run(asyncio.wait_for(scene(), 60))


@pytest.mark.parametrize("on", [True, False])
def test_another_network_leaves_the_analysis_on_that_a_review_has_turned_on(on: bool) -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        switch = element("analysis")
        page.wake_up()
        page.session.play(40)
        session = page.session
        session.analyses.review = GameReview(session.tree, "made", 100, tuple(session.line), ())
        page.refresh()
        assert isinstance(switch, ValueElement) and switch.value
        if not on:
            key(page, "a")
        page._set_analysis(PageAnalysis("other"))
        assert session.analyses.review is None and switch.value is on
        if on:
            await until(engine.thinking.is_set)
        key(page, "a")
        assert switch.value is not on

    perform(scene, GameSettings(size=9, players=PEOPLE), engine)


def test_the_count_of_each_side_follows_the_marked_groups_and_stays_with_the_result() -> None:
    async def scene(page: Page) -> None:
        white = "AW[ea][eb][fb][ec][gc][ed][fd][gd][ee][bf][ef][eg]"
        black = "AB[ba][da][ab][bb][cb][db][bc][dc][ad][bd][cd][dd][de][df][cg]"
        await page.open_record(f"(;SZ[7]KM[6.5]RU[Japanese]{black}{white};B[];W[])".encode())
        session, count = page.session, element("count")
        session.step(2)
        page.refresh()
        assert not is_shown("count"), "it is not counted yet"
        session.begin_count([36])
        page.refresh()
        dead = "Black: territory 12 + prisoners 1 = 13\nWhite: territory 10 + prisoners 0 + komi 6.5 = 16.5"
        assert is_shown("count") and not is_shown("estimate")
        assert count.text == dead  # type: ignore[attr-defined]
        assert status(session) == "White wins by 3.5 as counted"
        tap(page, 36)
        alive = "Black: territory 4 + prisoners 0 = 4\nWhite: territory 10 + prisoners 0 + komi 6.5 = 16.5"
        assert count.text == alive  # type: ignore[attr-defined]
        tap(page, 36)
        press("accept")
        assert session.result == "W+3.5" and count.text == dead  # type: ignore[attr-defined]
        assert is_shown("count") and not is_shown("estimate")
        key(page, "ArrowLeft")
        assert not is_shown("count") and is_shown("estimate")
        key(page, "ArrowRight")
        assert is_shown("count")
        session.settle("B+R")
        page.refresh()
        assert not is_shown("count"), "it does not explain this result"

    perform(scene, GameSettings(size=9))


def test_an_undo_that_would_make_moves_of_the_game_illegal_is_refused(told: list[str]) -> None:
    async def scene(page: Page) -> None:
        session = page.session
        press("edit")
        for tool, point in ((Tool.BLACK, 10), (Tool.WHITE, 1), (Tool.WHITE, 9), (Tool.BLACK, 2)):
            press(f"tool-{tool}")
            tap(page, point)
        press("edit")
        tap(page, 0)  # it captures a stone
        press("edit")
        press("edit-undo")
        press("edit")
        assert told == ["A move that follows would be illegal: remove it first."]
        assert session.live and session.node is session.tip and session.view().stones[:3] == "X.X"

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_the_game_information_is_changed_in_its_dialog() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]PB[Ann]RU[Japanese]KM[6.5]RE[B+3.5]GC[Two\nlines];B[aa];W[bb])")
        before = page.session.to_sgf()

        def fill(name: str, value: object) -> None:
            field = element(f"info-{name}")
            assert isinstance(field, ValueElement) and field.enabled
            field.set_value(value)

        press("game-info")
        press("apply-info")
        assert page.session.to_sgf() == before and not page.session.history.can_undo
        press("game-info")
        fill("PW", " Bo ")
        fill("komi", 7.0)
        press("apply-info")
        assert page.session.to_sgf() == before and dialog("game-info-dialog").value, "the komi contradicts the result"
        fill("RE", "B+3")
        press("apply-info")
        assert not dialog("game-info-dialog").value
        text = page.session.to_sgf()
        assert b"PW[Bo]" in text and b"KM[7]" in text and b"RE[B+3]" in text and b"GC[Two\nlines]" in text
        assert {"Bo", "komi\xa07"} <= set(texts(element("player-white")))

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_rules_komi_and_result_of_a_game_in_progress_stay() -> None:
    async def scene(page: Page) -> None:
        page.session.click(40)
        fields = [element(f"info-{name}") for name in ("PB", "RE", "komi")]
        for _ in range(3):  # in the editor too, and after it
            press("game-info")
            assert [isinstance(field, ValueElement) and field.enabled for field in fields] == [True, False, False]
            press("edit")
        press("edit")
        page.session.analyze()
        press("game-info")
        assert all(isinstance(field, ValueElement) and field.enabled for field in fields)

    perform(scene, GameSettings(size=9))


def test_the_dialog_of_the_game_information_closes_when_another_game_is_shown() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]RU[Japanese]KM[5.5];B[aa])")
        press("game-info")
        await page.open_record(b"(;SZ[9]RU[Chinese]KM[7.5];B[bb])")
        assert not dialog("game-info-dialog").value

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_line_break_in_a_name_is_shown_as_a_space_and_stays() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]PB[Ann\nLee]GC[Two\nlines];B[aa])")
        press("game-info")
        field, about = element("info-PB"), element("info-GC")
        assert isinstance(field, ValueElement) and isinstance(about, ValueElement)
        assert (field.value, about.value) == ("Ann Lee", "Two\nlines") and about.props["maxlength"] == str(MAX_COMMENT)
        press("apply-info")
        assert b"PB[Ann\nLee]" in page.session.to_sgf()
        press("game-info")
        field.set_value("Ann Lee 2")
        press("apply-info")
        assert b"PB[Ann Lee 2]" in page.session.to_sgf()

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_result_in_stones_is_shown_in_points_and_korean_rules_by_their_name() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]RU[Chinese]KM[375]RE[B+2.75];B[aa];W[bb])")
        press("game-info")
        fields = {name: element(f"info-{name}") for name in ("RE", "komi", "rules")}
        assert all(isinstance(field, ValueElement) for field in fields.values())
        shown = {name: field.value for name, field in fields.items() if isinstance(field, ValueElement)}
        assert shown == {"RE": "B+5.5", "komi": 7.5, "rules": "chinese"}
        press("apply-info")
        assert b"RE[B+2.75]" in page.session.to_sgf()
        for before, after in (("chinese", "korean"), ("korean", "japanese"), ("japanese", "korean")):
            press("game-info")
            assert isinstance(fields["rules"], ValueElement) and fields["rules"].value == before
            fields["rules"].set_value(after)
            press("apply-info")
            assert f"RU[{after}]".encode() in page.session.to_sgf()
        text = page.session.to_sgf()
        press("game-info")
        press("apply-info")
        assert page.session.to_sgf() == text

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_result_that_is_set_in_the_editor_ends_the_game_in_progress() -> None:
    async def scene(page: Page) -> None:
        for name in ("PB", "RE"):
            page.session.click(page.session.game.legal_points()[0])
            page.session.play(page.session.game.legal_points()[-1])
            press("edit")
            Editor(page.session).describe({name: "W+R"}, page.session.tree.rules, page.session.tree.komi)
            press("edit")
            assert page.session.live is page.session.in_progress is (name == "PB")
        assert page.session.phase == "over"

    perform(scene, GameSettings(size=9))


def test_the_review_names_the_players_as_they_are_now() -> None:
    async def scene(page: Page) -> None:
        for point in (40, 41):
            page.session.play(point)
        page.session.analyses.review = GameReview(page.session.tree, "", 0, (), ())
        page.refresh()
        press("game-info")
        element("info-PB").set_value("Ann")  # type: ignore[attr-defined]
        press("apply-info")
        assert {"Ann", "White"} <= set(texts(element("review-result")))

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_review_outlives_a_lost_connection() -> None:
    async def scene(page: Page) -> None:
        for point in (40, 41):
            page.session.play(point)
        page.wake_up()
        press("review")
        page.rest()
        await until(lambda: page.session.analyses.review is not None)

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_the_button_at_the_end_of_a_game_says_that_it_stops_a_review() -> None:
    async def scene(page: Page) -> None:
        tap(page, 40)
        page.session.resign(1)
        page.refresh()
        shown = []
        for _ in range(3):
            shown.append(element("review-end").text)  # type: ignore[attr-defined]
            press("review-end")
        assert shown == ["Review game", "Stop review", "Review game"]

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_what_the_board_shows_of_the_moves_is_chosen_and_remembered(
    monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    """A problem is shown without its answers."""
    stored: list[str] = []

    def run(script: str, **_: object) -> object:
        stored.append(script)
        return answering(json.dumps({"variations": True, "numbers": "last"}))(script)

    async def scene(page: Page) -> None:
        page.adopt(open_record(b"(;SZ[9](;B[aa];W[bb])(;B[cc]))")[0])
        board, switch, numbers = (element(name, page) for name in ("board", "show-variations", "numbers"))
        assert isinstance(switch, ValueElement) and isinstance(numbers, ValueElement)

        def shown() -> bool:
            hidden = any("tg-no-variations" in above.classes for above in element("tree", page).ancestors())
            assert board.props["variations"] is switch.value is not hidden
            return not hidden

        assert shown()
        key(page, "v")
        assert not shown() and stored == ['tengen.keep({"variations": false})']
        switch.set_value(True)
        assert shown() and told == ["Variations are hidden."], "the switch shows itself what it has done"
        for _ in range(2):
            key(page, "v")
        assert shown() and told[1:] == ["Variations are hidden.", "Variations are shown."]
        key(page, "ArrowRight")
        assert board.props["numbers"] == []
        numbers.set_value("all")
        assert board.props["numbers"] == [(0, 1)] and stored[-1] == 'tengen.keep({"numbers": "all"})'
        key(page, "ArrowRight")
        assert board.props["numbers"] == [(0, 1), (10, 2)]
        switch.set_value(False)
        await page.load_preferences()
        assert shown() and numbers.value == "last"

    monkeypatch.setattr("tengen.web.page.ui.run_javascript", run)
    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_settings_that_come_late_do_not_replace_those_that_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy browser says what it remembers when the dialog of a new game is open already."""

    async def scene(page: Page) -> None:
        size = element("size")
        assert isinstance(size, ValueElement)
        press("new-game")
        size.set_value(7)
        await page.load_preferences()
        assert size.value == 7
        dialog("new-game-dialog").close()
        await page.load_preferences()
        assert size.value == 13

    monkeypatch.setattr("tengen.web.page.ui.run_javascript", answering(json.dumps({"game": {"size": 13}})))
    perform(scene, GameSettings(size=9))


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
        assert len(site._sessions._sessions) == 3, "a reload within minutes finds its game"

    asyncio.run(asyncio.wait_for(scene(), 60))
