"""The dialog of the game information, without a browser."""

from __future__ import annotations

from nicegui.elements.mixins.value_element import ValueElement
from web_alone import dialog, element, perform, press, texts

from tengen.web.page import Page
from tengen.web.panels import MAX_COMMENT
from tengen.web.players import PEOPLE
from tengen.web.settings import GameSettings


def test_an_event_under_another_name_is_shown_and_can_be_cleared() -> None:
    async def scene(page: Page) -> None:
        await page.open_record("(;SZ[9]TE[第9期]RD[2003-04-05];B[aa];W[bb])".encode())
        press("game-info")
        event, date = element("info-EV"), element("info-DT")
        assert isinstance(event, ValueElement) and isinstance(date, ValueElement)
        assert (event.value, date.value) == ("第9期", "2003-04-05")
        event.set_value("")
        press("apply-info")
        assert page.session.tree.info.event == "" and b"TE[" not in page.session.to_sgf()
        assert b"RD[2003-04-05]" in page.session.to_sgf()

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


def test_the_name_of_a_game_is_shown_in_one_line_and_changed() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]GN[Problem\n1]GC[Two\nlines];B[aa])")
        press("game-info")
        field = element("info-GN")
        assert isinstance(field, ValueElement) and field.value == "Problem 1"
        press("apply-info")
        assert b"GN[Problem\n1]" in page.session.to_sgf()
        press("game-info")
        field.set_value("Problem 2")
        press("apply-info")
        assert b"GN[Problem 2]" in page.session.to_sgf() and page.session.history.can_undo

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
