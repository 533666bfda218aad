"""The dialogs that open records and play on from a position, without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from sgfmill import sgf
from web_alone import any_element, element, labelled, perform, press, send, tap
from web_engine import FakeEngine, FakeEngines, until

from tengen.web.library import GameLibrary
from tengen.web.opponents import Opponents
from tengen.web.page import Page
from tengen.web.players import PEOPLE, PERSON
from tengen.web.settings import GameSettings


@pytest.mark.parametrize("declared", ["CA[GB2312]", "CA[UTF-8]", ""])
def test_pasted_text_is_saved_in_the_encoding_that_the_file_declares(declared: str) -> None:
    """The browser sends the text as UTF-8, also where it was copied from a file in another encoding."""
    text = f"(;GM[1]FF[4]{declared}SZ[9]PB[柯洁]PW[李喆];B[ee]C[好棋])"

    async def scene(page: Page) -> None:
        page.wake_up()
        press("open")
        element("paste").set_value(text)  # type: ignore[attr-defined]
        press("open-text")
        await until(lambda: len(page.session.tree) == 2)
        saved = page.session.to_sgf()
        assert saved.count(b"CA[") == 1
        root = sgf.Sgf_game.from_bytes(saved).get_root()
        assert (root.get("CA"), root.get("PB"), root.get("PW")) == ("UTF-8", "柯洁", "李喆")

    perform(scene, GameSettings(size=9, players=PEOPLE))


@pytest.mark.parametrize(("key", "then"), [("auto", "level-2"), ("level-5", "level-5"), ("visits-400", "visits-400")])
def test_the_game_is_played_on_against_the_same_opponent_and_the_automatic_level_stays(key: str, then: str) -> None:
    """A game that begins after an analysis says little of a level."""
    opponent = Opponents(lambda size: "measured").choices(9)[key]

    async def scene(page: Page) -> None:
        page.wake_up()
        page.session.play(40)
        press("analyze-game")
        press("play-on")
        press("start-play-on")
        assert page.session.live and page.session.settings.opponent.key == then
        page.session.resign(1)
        page.refresh()
        assert page.session.result == "B+R" and not page._opponents.kept

    perform(scene, GameSettings(size=9, players=(PERSON, opponent)), engines=FakeEngines(FakeEngine, "measured"))


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
        await until(lambda: any_element("recent"))
        removal = labelled("Delete this game")
        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", refuse)
            for _ in range(2):
                send(removal, "click")
        assert told == ["The game cannot be deleted: Permission denied."] and path.exists()
        assert not removal.is_deleted and not removal.text, "the button is as it was"
        for _ in range(2):
            send(removal, "click")
        assert removal.is_deleted and not path.exists()

    perform(scene, GameSettings(size=9, players=PEOPLE), library=GameLibrary(tmp_path))


def test_a_double_tap_on_the_bin_deletes_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.web.open_dialog.READING_SECONDS", 1000)

    async def scene(page: Page) -> None:
        tap(page, 40)
        (path,) = tmp_path.iterdir()
        press("open")
        await until(lambda: any_element("recent"))
        removal = labelled("Delete this game")
        for _ in range(2):
            send(removal, "click")
        assert removal.text == "Delete?" and path.exists()
        monkeypatch.setattr("tengen.web.open_dialog.READING_SECONDS", 0)
        send(removal, "click")
        assert removal.is_deleted and not path.exists()

    perform(scene, GameSettings(size=9, players=PEOPLE), library=GameLibrary(tmp_path))
