"""The review of a game on a page without a browser."""

from __future__ import annotations

import asyncio

import pytest
from nicegui import core
from nicegui.elements.mixins.value_element import ValueElement
from web_alone import element, is_shown, key, perform, press, tap, texts, visit
from web_engine import FakeEngine, FakeEngines, FlawedEngine, until

from tengen.review.game import GameReview, ReviewedMove
from tengen.web.page import Page
from tengen.web.players import PEOPLE
from tengen.web.server import Site
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings, PageAnalysis


def test_buttons_go_to_the_mistakes_of_a_review() -> None:
    async def scene(page: Page) -> None:
        await page.open_record(b"(;SZ[9];B[aa];W[bb];B[cc];W[dd])")
        session = page.session
        assert not is_shown("next-mistake")
        moves = tuple(
            ReviewedMove(node, number, number % 2 == 0, node.point or 0, "opening", loss, 0.0, None, None)
            for number, (node, loss) in enumerate(zip(session.line[1:], (0.1, 7.0, 0.2, 2.0), strict=True), 1)
        )
        session.analyses.review = GameReview(session.tree, "made", 1, tuple(session.line), moves)
        page.refresh()
        assert is_shown("previous-mistake")
        places = []
        for name in ("next", "next", "previous"):
            press(f"{name}-mistake")
            places.append(session.place)
        assert places == [1, 3, 1]

    perform(scene, GameSettings(size=9))


async def reviewed(page: Page, engine: FakeEngine) -> None:
    """Open a record that has been reviewed, at its first position."""
    await page.open_record(b"(;SZ[9];B[aa];W[bb];B[cc];W[dd])")
    session = page.session
    for node in session.line:
        session.analyses.add(node, engine.result(session.tree.position(node), 100))
    session.analyses.review = GameReview(session.tree, "made", 100, tuple(session.line), ())
    page.refresh()


def test_a_review_turns_the_analysis_on_and_the_switch_hides_its_answers() -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        board, switch = element("board").props, element("analysis")
        page.wake_up()
        await reviewed(page, engine)
        for name in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            assert switch.value and board["candidates"] and board["ownership"]  # type: ignore[attr-defined]
            key(page, name)
        await asyncio.sleep(0.05)
        assert not engine.searches, "the review has searched them"
        tap(page, 60)
        await until(lambda: (page.refresh(), engine.thinking.is_set() and board["candidates"])[1])
        assert switch.value, "a variation is analyzed"  # type: ignore[attr-defined]
        key(page, "ArrowLeft")
        await until(lambda: not engine.thinking.is_set())
        assert board["candidates"] and len(engine.searches) == 1
        press("edit")
        assert not switch.value and not board["candidates"]  # type: ignore[attr-defined]
        press("edit")
        assert switch.value and board["candidates"]  # type: ignore[attr-defined]
        key(page, "a")
        for name in ("ArrowRight", "ArrowLeft"):
            assert not switch.value and board["candidates"] == board["ownership"] == []  # type: ignore[attr-defined]
            key(page, name)
        await asyncio.sleep(0.05)
        assert len(engine.searches) == 1
        key(page, "a")
        assert switch.value and board["candidates"]  # type: ignore[attr-defined]
        await until(lambda: len(engine.searches) == 2)  # a person who turns it on wants more visits

    perform(scene, GameSettings(size=9), engine)


def test_the_analysis_of_a_review_ends_with_its_game() -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        switch = element("analysis")
        page.wake_up()
        await reviewed(page, engine)
        tap(page, 60)
        await until(engine.thinking.is_set)
        page.adopt(GameSession(GameSettings(size=9, players=PEOPLE)))
        assert not switch.value and not page.controller.analyzing  # type: ignore[attr-defined]
        await reviewed(page, engine)
        tap(page, 60)
        page.session.analyses.review = None  # an edit drops it
        page.refresh()
        assert not switch.value and not page.controller.analyzing  # type: ignore[attr-defined]

    perform(scene, GameSettings(size=9), engine)


def test_a_failure_beside_a_review_is_reported_once(told: list[str]) -> None:
    engine = FlawedEngine()

    async def scene(page: Page) -> None:
        page.wake_up()
        await reviewed(page, engine)
        tap(page, 60)
        await until(lambda: told)
        await asyncio.sleep(0.1)
        assert told == ["It is gone."]
        engine.fails = False
        switch = element("analysis")
        for on in (False, True):
            switch.set_value(on)  # type: ignore[attr-defined]
        await until(engine.thinking.is_set)

    perform(scene, GameSettings(size=9), engine)


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
            shown += [element("review-end").text, element("searched").text]  # type: ignore[attr-defined]
            press("review-end")
        assert shown == ["Review game", "", "Stop review", "0 / 2", "Review game", ""]

    perform(scene, GameSettings(size=9, players=PEOPLE))
