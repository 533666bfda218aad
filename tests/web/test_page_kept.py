"""The records that a page without a browser opens and keeps."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from web_alone import perform

from tengen.game import WHITE
from tengen.sgf import split_trees
from tengen.web.library import GameLibrary
from tengen.web.page import Page
from tengen.web.players import DEFAULT_ENGINE, facing
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, Mode


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
