"""The questions of the page, without a browser."""

from __future__ import annotations

import asyncio

import pytest
from nicegui import ui
from web_alone import any_element, client_of, element, perform, press, send
from web_engine import until

from tengen.web.page import Page
from tengen.web.settings import GameSettings


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


def test_the_choice_of_a_game_is_cancelled() -> None:
    async def scene(page: Page) -> None:
        before = page.session
        task = asyncio.create_task(page.open_record(b"(;SZ[9];B[aa])(;SZ[9];B[bb])"))
        await until(lambda: any_element("choose-game"))
        parts = element("choose-game").descendants()
        (cancel,) = [part for part in parts if isinstance(part, ui.button) and part.text == "Cancel"]
        send(cancel, "click")
        await task
        assert page.session is before and not any_element("choose-game")

    perform(scene, GameSettings(size=9))


def test_a_question_ends_when_its_tab_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(page: Page) -> None:
        task = asyncio.create_task(page.open_record(b"(;SZ[9];B[aa])(;SZ[9];B[bb])"))
        await until(lambda: any_element("choose-game"))
        client_of(page).delete()
        await asyncio.wait((task,))
        assert task.cancelled() and caplog.text == ""

    perform(scene, GameSettings(size=9))
