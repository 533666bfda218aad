"""The dialog of a new game, without a browser."""

from __future__ import annotations

import json

import pytest
from nicegui.elements.mixins.value_element import ValueElement
from web_alone import answering, dialog, element, labelled, perform, press
from web_engine import FakeEngine, FakeEngines, until

from tengen.web.page import Page
from tengen.web.settings import GameSettings, Mode, first_game


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
