"""The panels of the page, without a browser: the players, the status with its buttons, comments, the count."""

from __future__ import annotations

import pytest
from nicegui import ui
from web_alone import answering, client_of, element, is_shown, key, perform, press, send, tap, texts
from web_engine import until

from tengen.web.page import Page
from tengen.web.panels import MAX_COMMENT, PlayerCard
from tengen.web.players import DEFAULT_ENGINE, PEOPLE
from tengen.web.records import open_record
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings
from tengen.web.status_text import status


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


def test_passes_of_a_record_are_no_end_that_can_be_continued() -> None:
    """There *Continue* would show the move before, since the moves of a record stay."""

    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9]RE[B+R];B[ee];W[];B[];W[cc])")
        session = page.session
        session.seek(3)
        page.refresh()
        assert session.phase is Phase.COUNTING and not is_shown("continue")
        session.begin_count([])
        page.refresh()
        assert is_shown("accept") and not is_shown("continue")
        session.seek(1)
        for _ in range(2):
            session.play(session.game.pass_point)
        page.refresh()
        assert not is_shown("continue"), "nor where the passes are found in the record"
        session.seek(0)
        for _ in range(2):
            session.play(session.game.pass_point)
        page.refresh()
        assert is_shown("continue")
        press("continue")
        assert session.phase is Phase.PLAYING and session.place == 1

    perform(scene, GameSettings(size=9, players=PEOPLE))


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


def test_the_button_to_pass_stays_while_the_engine_is_to_move() -> None:
    async def scene(page: Page) -> None:
        assert is_shown("pass") and element("pass").enabled  # type: ignore[attr-defined]
        tap(page, 40)
        assert is_shown("pass") and not element("pass").enabled  # type: ignore[attr-defined]
        page.adopt(GameSession(GameSettings(size=9, players=(DEFAULT_ENGINE, DEFAULT_ENGINE))))
        assert not is_shown("pass")

    perform(scene, GameSettings(size=9))


def test_a_player_is_described_without_breaks_inside_short_parts() -> None:
    def parts(box: ui.element) -> list[str]:
        (line,) = (one for one in box.descendants() if one.classes == ["tg-parts"])
        return texts(line)

    async def scene(page: Page) -> None:
        with client_of(page), ui.element() as box:
            card = PlayerCard(1)
        card.show("Tengen", "100 visits a move · komi 7.5", "", 0, False, False)
        assert parts(box) == ["100 visits a move", "komi\u00a07.5"]
        card.show("Tengen", "Level 2 · about 25 kyu", "", 0, False, False)
        assert parts(box) == ["Level\u00a02", "about\u00a025\u00a0kyu"]
        card.show("Tengen", "\u6bcf\u624b\u8ba1\u7b97\u91cf 100 · \u8d34\u76ee 7.5", "", 0, False, False)
        assert parts(box) == ["\u6bcf\u624b\u8ba1\u7b97\u91cf 100", "\u8d34\u76ee\u00a07.5"]
        card.show("Ann", "", "", 0, False, False)
        assert not parts(box)

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
