"""The page without a browser: what it shows and does while one comes and goes."""

from __future__ import annotations

import asyncio
import gc
import json
import time
import weakref
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi import Request
from nicegui import Client, background_tasks, core, ui
from nicegui.javascript_request import JavaScriptRequest
from nicegui.page import page as nicegui_page
from web_engine import FakeEngine, FakeEngines, until

from tengen.engine import Count, TimeControl
from tengen.errors import NetworkError
from tengen.evaluators import Evaluation
from tengen.game import BLACK, WHITE, Game
from tengen.sgf import split_trees
from tengen.web.editor import Tool
from tengen.web.library import GameLibrary, KeptGame
from tengen.web.page import Page
from tengen.web.panels import MAX_COMMENT
from tengen.web.players import DEFAULT_ENGINE, PEOPLE, PERSON, facing, level_of_visits
from tengen.web.records import open_record
from tengen.web.server import Site
from tengen.web.session import GameSession
from tengen.web.settings import AnalysisSettings, GameSettings, Mode

Scene = Callable[[Page], Awaitable[None]]


def perform(
    scene: Scene,
    settings: GameSettings,
    engine: FakeEngine | None = None,
    library: GameLibrary | None = None,
    engines: FakeEngines | None = None,
) -> None:
    """Play a scene with a page that no browser shows."""
    played_by = engine or FakeEngine()

    async def run() -> None:
        core.loop = asyncio.get_running_loop()
        client = Client(nicegui_page(""), request=None)
        with client:
            page = Page(engines or FakeEngines(lambda: played_by, ""), settings, lambda session: None, 0, library)
        try:
            await asyncio.wait_for(scene(page), 60)
        finally:
            page.close()
            client.delete()

    asyncio.run(run())


def element(name: str) -> ui.element:
    """The part of the page that tests know by this name."""
    client = Client.instances[list(Client.instances)[-1]]
    (found,) = [part for part in client.elements.values() if part.props.get("data-testid") == name]
    return found


def is_shown(name: str) -> bool:
    part = element(name)
    return part.visible and all(above.visible for above in part.ancestors())


def press(name: str) -> None:
    """Press a button of the page."""
    send(element(name), "click")


def send(part: ui.element, event: str) -> None:
    """Let a part of the page hear an event of the browser."""
    (listener,) = [heard for heard in part._event_listeners.values() if heard.type == event]
    part._handle_event({"listener_id": listener.id, "args": {}})


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


def test_after_an_error_of_the_engine_the_game_can_go_on() -> None:
    class Flawed(FakeEngine):
        fails = True

        def set_position(self, game: Game) -> None:
            if self.fails:
                raise NetworkError("it is gone")
            super().set_position(game)

    engine = Flawed()

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


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the page's clocks read, as its one item."""
    found = [1000.0]
    for module in ("page", "controller"):
        monkeypatch.setattr(f"tengen.web.{module}.time", SimpleNamespace(monotonic=lambda: found[0]))
    return found


def test_no_clock_runs_while_the_browser_is_gone(now: list[float]) -> None:

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
        page._toggle_pause()
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


def test_an_engine_that_failed_loses_no_time(now: list[float]) -> None:
    class Flawed(FakeEngine):
        fails = True

        def set_position(self, game: Game) -> None:
            if self.fails:
                raise NetworkError("it is gone")
            super().set_position(game)

    engine = Flawed()

    async def scene(page: Page) -> None:
        clock = page.session.clock
        assert clock is not None
        page.wake_up()
        page.refresh()
        now[0] += 10
        page._tapped(40)
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


def test_a_running_analysis_is_in_the_graph() -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        await until(engine.thinking.is_set)
        page.refresh()
        await until(lambda: (page.refresh(), element("graph").props["points"])[1])
        assert engine.thinking.is_set(), "it goes on until the page stops it"
        assert element("graph").props["points"] == [{"place": 0, "winrate": 0.6, "score": 2.5}]

    perform(scene, GameSettings(size=9, players=PEOPLE), engine)


def test_what_was_found_goes_with_the_position_that_an_edit_changes() -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        board, session = element("board").props, page.session
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        await until(engine.thinking.is_set)
        press("ask-hint")
        await until(lambda: board["hint"] == 0)
        press("policy")
        await until(lambda: board["policy"])
        press("edit")
        for change in (lambda: page._tapped(0), lambda: press("edit-turn"), lambda: press("edit-undo")):
            before = len(engine.searches)
            await until(lambda: (page.refresh(), board["candidates"])[1])
            change()
            assert (board["hint"], board["policy"]) == (-1, [])
            assert session.node.analysis is None and board["candidates"] == []
            await until(lambda before=before: len(engine.searches) > before and engine.thinking.is_set())
            await until(lambda: (page.refresh(), session.search_result)[1])
            found = session.search_result
            assert found is not None and (found.move, found.to_play) == (1, session.game.to_play)
        press("ask-hint")
        await until(lambda: board["hint"] == 1)

    perform(scene, GameSettings(size=9, players=PEOPLE), engine)


@pytest.mark.parametrize("paused", [False, True])
def test_policy_and_estimate_are_shown_while_the_engine_thinks_and_do_not_end_its_search(paused: bool) -> None:
    class Slow(FakeEngine):
        def raw(self, game: Game) -> Evaluation:
            time.sleep(0.05)  # longer than it takes the controller to go on
            return super().raw(game)

    engine = Slow()

    async def scene(page: Page) -> None:
        page.session.click(40)
        if paused:
            page._toggle_pause()
        page.wake_up()
        if paused:
            press("one-move")
        for name, shown in (
            ("policy", lambda: element("board").props["policy"]),
            ("estimate", lambda: element("estimate-lines").text),  # type: ignore[attr-defined]
        ):
            await until(engine.thinking.is_set)
            before = len(engine.searches)
            press(name)
            await until(shown)
            await until(lambda before=before: len(engine.searches) > before)
            assert len(page.session.game.moves) == 1
        engine.endless = False
        page._controller.wake()
        await until(lambda: len(page.session.game.moves) == 2)

    perform(scene, GameSettings(size=9, players=(PERSON, level_of_visits(1600))), engine)


@pytest.mark.parametrize("name", ["policy", "estimate"])
def test_what_is_asked_of_the_chosen_network_is_reported_where_it_fails(name: str) -> None:
    class Flawed(FakeEngine):
        def count(self, game: Game) -> Count:
            raise NetworkError("it is gone")

        def raw(self, game: Game) -> Evaluation:
            raise NetworkError("it is gone")

    class Asked(FakeEngines):
        def __call__(self, network: str = "") -> FakeEngine:
            made.append(network)
            return Flawed()

    made: list[str] = []

    async def scene(page: Page) -> None:
        messages: list[str] = []
        page._teaching._on_error = messages.append
        page._set_analysis(AnalysisSettings("other"))
        page.wake_up()
        press(name)
        await until(lambda: messages)
        assert messages == ["it is gone"] and made == ["other"]

    perform(scene, GameSettings(size=9, players=PEOPLE), engines=Asked())


def test_the_variation_of_a_move_in_the_list_is_drawn_on_its_own_position_alone() -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        board, session = element("board").props, page.session
        second = page._analysis._table._rows[1][0]
        session.play(40)
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        for change in (
            lambda: page._navigate(lambda session: session.step(-1)),
            lambda: page._navigate(lambda session: session.step(1)),
            lambda: send(second, "click"),
            lambda: element("analysis").set_value(False),  # type: ignore[attr-defined]
        ):
            await until(lambda: (page.refresh(), second.visible and session.search_result)[1])
            send(second, "mouseenter")
            assert session.search_result is not None
            assert board["line"] == list(session.search_result.candidates[1].pv)
            change()
            assert board["line"] == []

    perform(scene, GameSettings(size=9, players=PEOPLE), engine)


def test_the_refutation_is_on_the_board_again_when_the_pointer_has_left_the_list() -> None:
    async def scene(page: Page) -> None:
        board, teacher = element("board").props, page._controller.teacher
        first = page._analysis._table._rows[0][0]
        element("teach").set_value(True)  # type: ignore[attr-defined]
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        page.wake_up()
        page._tapped(0)
        await until(lambda: is_shown("warning"))
        assert teacher.warning is not None
        press("refutation")
        assert board["line"] == list(teacher.warning.refutation)
        send(first, "mouseenter")
        send(first, "mouseleave")
        assert board["line"] == list(teacher.warning.refutation)
        press("refutation")
        assert board["line"] == []
        press("refutation")
        press("keep")
        assert board["line"] == []

    perform(scene, GameSettings(size=9), FakeEngine(script=[40, 41, 42]))


def test_a_pass_is_told_as_the_best_move() -> None:
    async def scene(page: Page) -> None:
        page.wake_up()
        for _ in range(2):
            press("ask-hint")
            assert page._notice == "", "so that it is shown again"
            await until(lambda: page._notice == "The best move is a pass")
        page.session.play(40)
        page.refresh()
        assert page._notice == ""

    perform(scene, GameSettings(size=9, players=PEOPLE), FakeEngine(passes=True))


def test_a_hint_is_given_in_a_paused_game_and_after_a_resignation() -> None:
    async def scene(page: Page) -> None:
        board = element("board").props
        page._toggle_pause()
        page.wake_up()
        press("ask-hint")
        await until(lambda: board["hint"] == 0)
        page.session.play(40)
        press("analyze-game")
        assert not page._controller.paused, "nothing is left to go on"
        page.session.settle("B+R")
        page.refresh()
        press("ask-hint")
        await until(lambda: board["hint"] == 0)

    perform(scene, GameSettings(size=9, players=(DEFAULT_ENGINE, DEFAULT_ENGINE)))


def test_no_hint_is_offered_or_remembered_where_no_move_may_follow() -> None:
    async def scene(page: Page) -> None:
        page.wake_up()
        for _ in range(2):
            page.session.pass_turn()
        page._changed()
        await until(lambda: page.session.counted)
        assert not is_shown("ask-hint")
        press("ask-hint")
        await until(lambda: not page._controller._wake.is_set())
        page._navigate(lambda session: session.step(-1))
        assert is_shown("ask-hint")
        await asyncio.sleep(0.1)
        assert element("board").props["hint"] == -1

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_step_sends_the_tree_of_variations_no_second_time() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9];B[aa];W[bb](;B[cc])(;B[dd]))")
        tree, outbox = element("tree"), page._board.client.outbox
        outbox.updates.clear()
        page._navigate(lambda session: session.step(1))
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
        page._tapped(40)
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


def test_the_offer_goes_away_when_a_game_has_begun() -> None:
    async def scene(page: Page) -> None:
        page.offer(KeptGame(Path("a.sgf"), 0.0, {"names": ["You", "Tengen"], "size": 9, "moves": 3}))
        page.refresh()
        assert is_shown("offer")
        page.session.click(40)
        page.refresh()
        assert not is_shown("offer")

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


def test_a_record_of_the_command_line_is_shown() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]PB[Ann];B[aa];W[bb])")
        assert page.session.names == ("Ann", "White") and page.session.mode is Mode.ANALYZE

    perform(scene, GameSettings(size=9))


def test_every_change_is_kept_and_a_refusal_of_the_disk_is_told_once(tmp_path: Path) -> None:
    async def scene(page: Page) -> None:
        page.session.play(40)
        page.refresh()
        (path,) = (tmp_path / "games").iterdir()
        assert b";B[ee]" in path.read_bytes()
        told: list[str] = []
        page._files._notify = told.append
        page._files._library = GameLibrary(path)  # no folder
        for comment in ("a", "b"):
            page.session.node.comment = comment
            page.refresh()
        assert len(told) == 1 and "cannot be kept" in told[0]

    perform(scene, GameSettings(size=9, players=facing(DEFAULT_ENGINE, WHITE)), library=GameLibrary(tmp_path / "games"))


def test_a_game_that_cannot_be_kept_holds_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise KeyError(4)

    async def scene(page: Page) -> None:
        told: list[str] = []
        page._files._notify = told.append
        monkeypatch.setattr(GameLibrary, "keep", fail)
        page.wake_up()
        page.refresh()
        page.adopt(following := GameSession(GameSettings(size=5)))
        assert page.session is following and len(told) == 1
        page.close()
        assert not page.is_connected

    perform(scene, GameSettings(size=9), library=GameLibrary(tmp_path))


def test_after_a_take_back_in_the_editor_a_game_goes_on_before_the_move() -> None:
    async def scene(page: Page) -> None:
        session = page.session
        for point in (40, 41):
            session.play(point)
        press("edit")
        press("take-back")
        press("edit")
        assert session.in_progress and session.game.moves == [(BLACK, 40)] and session.tip is session.node

    perform(scene, GameSettings(size=9))


def test_after_the_editor_a_game_goes_on_where_it_was() -> None:
    async def scene(page: Page) -> None:
        session = page.session
        for point in (40, 41):
            session.play(point)
        press("edit")
        assert is_shown("editor") and session.mode is Mode.ANALYZE
        page._tapped(3)
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
        page._choose_language("ja")
        assert (empty := page.session) is not before, "its record names the players"
        press("edit")
        page._tapped(40)
        press("edit")
        page._choose_language("en")
        assert page.session is empty and empty.live and empty.view().stones[40] == "X"

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_after_the_editor_the_clock_of_the_side_to_move_runs(now: list[float]) -> None:

    async def scene(page: Page) -> None:
        clock = page.session.clock
        assert clock is not None
        page.wake_up()
        press("edit")
        page._tapped(40)
        press("edit-turn")
        press("edit")
        assert page.session.live and page.session.game.to_play == WHITE
        page.refresh()
        now[0] += 10
        page.refresh()
        assert [clock.text(color) for color in (BLACK, WHITE)] == ["1:00", "0:50"]

    perform(scene, GameSettings(size=9, players=PEOPLE, clock=TimeControl.absolute(60)))


def test_a_game_whose_moves_an_edit_made_illegal_does_not_go_on() -> None:
    async def scene(page: Page) -> None:
        session = page.session
        press("edit")
        for tool, point in ((Tool.BLACK, 10), (Tool.WHITE, 1), (Tool.WHITE, 9), (Tool.BLACK, 2)):
            page._tools.tool = tool
            page._tapped(point)
        press("edit")
        page._tapped(0)  # it captures a stone
        press("edit")
        press("edit-undo")
        press("edit")
        assert not session.live and session.node is session.tree.root and session.view().stones[:3] == ".O."

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_another_game_of_a_collection_goes_on_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = iter((0, 1, None, 0, 1))

    async def choose(games: list[bytes]) -> int | None:
        return next(chosen)

    monkeypatch.setattr("tengen.web.files.choose_game", choose)

    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]PB[Ann];B[aa])(;SZ[9]PB[Bea];B[bb])")
        for number, name in enumerate(("Bea", "Bea", "Ann", "Bea"), 1):
            page.session.play(80 - number)
            await page._files.choose()
            page.refresh()
            assert page.session.names[0] == name
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


def test_a_review_outlives_a_lost_connection() -> None:
    async def scene(page: Page) -> None:
        for point in (40, 41):
            page.session.play(point)
        page.wake_up()
        press("review")
        page.rest()
        await until(lambda: page.session.review is not None)

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_settings_that_come_late_do_not_replace_those_that_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy browser says what it remembers when the dialog of a new game is open already."""

    def remembered(script: str, **_: object) -> asyncio.Future[object]:
        answer = asyncio.get_running_loop().create_future()
        answer.set_result(json.dumps({"game": {"size": 13}}) if "localStorage" in script else 1000)
        return answer

    async def scene(page: Page) -> None:
        form = page._new_game.form
        page._new_game.open()
        form.size = 7
        await page.load_preferences()
        assert form.size == 7
        page._new_game._dialog.close()
        await page.load_preferences()
        assert form.size == 13

    monkeypatch.setattr("tengen.web.page.ui.run_javascript", remembered)
    perform(scene, GameSettings(size=9))


def test_nothing_of_a_closed_tab_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FastAPI remembers the routes of uploads, and these knew the page: no closed tab ever left."""
    monkeypatch.setattr(core.app.config, "message_history_length", 1000, raising=False)  # as ui.run does
    engine = FakeEngine()
    site = Site(FakeEngines(lambda: engine), GameSettings(size=9, players=PEOPLE), 0, GameLibrary(tmp_path / "games"))
    address = {"type": "http", "method": "GET", "scheme": "http", "server": ("127.0.0.1", 80), "path": "/"}
    route = nicegui_page("", reconnect_timeout=0)

    async def visit(number: int) -> list[weakref.ref[object]]:
        """A tab that plays, searches, reviews and opens a record, and is closed; what must be gone."""
        client = Client(route, request=Request({**address, "query_string": b"", "headers": []}))
        with client:
            page = site.open(client)
        await client.handle_handshake(f"socket-{number}", f"tab-{number}", None, "document", 0)
        await until(lambda: JavaScriptRequest._instances)
        for request in list(JavaScriptRequest._instances.values()):
            JavaScriptRequest.resolve(request.request_id, None)
        page._tapped(40)
        page._switch_analysis(True)
        await until(engine.thinking.is_set)
        page._review_game()
        with client:
            page._new_game.open()
            page._open.open()
        await page.open_record(b"(;SZ[9];B[aa];W[bb])")
        gone = [weakref.ref(each) for each in (client, page, page._thread, page._controller, page._board)]
        if number:  # the first tab closes while its engine thinks
            page._switch_analysis(False)
        client.handle_disconnect(f"socket-{number}")
        await until(lambda: client.is_deleted)
        return gone

    async def scene() -> None:
        core.loop = asyncio.get_running_loop()
        gone = [ref for number in range(3) for ref in await visit(number)]
        await until(lambda: not background_tasks.running_tasks)
        gc.collect()
        assert [ref() for ref in gone if ref() is not None] == []
        assert len(site._sessions._sessions) == 3, "a reload within minutes finds its game"

    asyncio.run(asyncio.wait_for(scene(), 60))
