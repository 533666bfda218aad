"""What the page offers, without a browser: an unfinished game, a first game, to undo a removal."""

from __future__ import annotations

from pathlib import Path

import pytest
from nicegui import ui
from web_alone import answering, client_of, is_shown, key, perform, press, send, tap
from web_engine import until

from tengen.web.library import KeptGame
from tengen.web.offers import UNDO_REMOVAL, WIDTH_SCRIPT
from tengen.web.page import Page
from tengen.web.players import PEOPLE
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings


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


def test_a_tab_that_is_closed_while_it_loads_is_offered_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its browser answers nothing."""

    async def scene(page: Page) -> None:
        await page.load_preferences()
        assert not is_shown("welcome")

    monkeypatch.setattr("tengen.web.page.ui.run_javascript", answering(None, None))
    perform(scene, GameSettings(size=9))


def test_a_game_that_comes_while_the_browser_tells_its_width_is_not_offered_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The offer replaces the game without a question."""

    async def scene(page: Page) -> None:
        told = answering()

        async def late(script: str, **options: object) -> object:
            if script == WIDTH_SCRIPT:
                page.adopt(GameSession(GameSettings(size=19)))
                page.session.click(40)
                page.refresh()
            return await told(script, **options)

        monkeypatch.setattr("tengen.web.page.ui.run_javascript", late)
        await page.load_preferences()
        assert not is_shown("welcome")

    perform(scene, GameSettings(size=19))
