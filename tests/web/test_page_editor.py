"""The editor of a page without a browser: what it changes of a record and leaves of the game."""

from __future__ import annotations

from web_alone import is_shown, perform, press, tap

from tengen.game import BLACK
from tengen.web.editor import Editor, Tool
from tengen.web.page import Page
from tengen.web.players import PEOPLE
from tengen.web.records import open_record
from tengen.web.settings import GameSettings, Mode


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
