"""What a page without a browser shows of a search: analysis, estimates, hints."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import numpy as np
import pytest
from nicegui import ui
from web_alone import client_of, element, is_shown, key, perform, press, send, tap, texts
from web_engine import FakeEngine, FakeEngines, until

from tengen.engine import Count
from tengen.errors import NetworkError
from tengen.evaluators import Evaluation
from tengen.game import Game
from tengen.web import components
from tengen.web.analyses import search_result
from tengen.web.analysis_panel import MoveTable
from tengen.web.page import Page
from tengen.web.players import DEFAULT_ENGINE, PEOPLE, PERSON, level_of_visits
from tengen.web.settings import GameSettings, PageAnalysis


def move_rows(page: Page) -> list[ui.element]:
    """The rows of the list of moves, without its head."""
    return [part for part in client_of(page).elements.values() if part.tag == "button" and "tg-move" in part.classes]


def test_a_running_analysis_is_in_the_graph() -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        await until(engine.thinking.is_set)
        page.refresh()
        await until(lambda: (page.refresh(), element("graph").props["points"])[1])
        assert engine.thinking.is_set(), "it goes on until the page stops it"
        assert element("graph").props["points"] == ({"place": 0, "winrate": 0.6, "score": 2.5},)

    perform(scene, GameSettings(size=9, players=PEOPLE), engine)


def test_a_search_is_drawn_again_when_the_browser_has_drawn_the_last_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a browser that is slower than the search draws all of it before its answer to a click."""
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        board, asked = element("board"), list[object]()
        monkeypatch.setattr(
            board, "run_method", lambda name, *args: asked.extend(args) if name == "tellDrawn" else None
        )
        poll = lambda: page._poll(paced=True)  # noqa: E731
        poll()
        assert not asked, "no engine is at work"
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        await until(lambda: page.controller.activity == "analyzing" and page.controller.thread.latest)
        poll(), poll()
        assert asked == [1]
        send(board, "drawn", {"number": 1})
        poll()
        assert asked == [1, 2]
        board.set(candidates=[])  # type: ignore[attr-defined]
        poll(), poll()
        assert asked == [1, 2] and not board.props["candidates"]
        page.refresh()
        assert board.props["candidates"], "after an input all is drawn at once"
        for wrong in (0, 3, "2", None):
            send(board, "drawn", {"number": wrong})
        poll()
        assert asked == [1, 2]
        send(board, "drawn", {"number": 2})
        poll(), poll()
        assert asked == [1, 2, 3]
        monkeypatch.setattr(components, "SLOW_SECONDS", 0.0)  # as in a hidden tab, which draws nothing
        poll()
        assert asked == [1, 2, 3, 4]

    perform(scene, GameSettings(size=9, players=PEOPLE), engine)


def test_a_result_is_kept_on_the_position_that_was_searched_alone() -> None:
    async def scene(page: Page) -> None:
        session = page.session
        session.play(40)
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        await until(lambda: page.controller.thread.latest)
        searched = session.node
        session.seek(0)  # the search has not heard of it
        page.refresh()
        assert search_result(session.node) is None
        session.seek(1)
        page.refresh()
        assert session.node is searched and search_result(searched) is not None

    perform(scene, GameSettings(size=9, players=PEOPLE))


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
        said = [element(f"said-{name}") for name in ("hint", "policy")]
        assert [part.text for part in said] == [  # type: ignore[attr-defined]
            "The best move is A9",
            "The network would play A9 1%, B9 1%, C9 1%",
        ]
        press("edit")
        for change in (lambda: tap(page, 0), lambda: press("edit-turn"), lambda: press("edit-undo")):
            before = len(engine.searches)
            await until(lambda: (page.refresh(), board["candidates"])[1])
            change()
            assert (board["hint"], board["policy"]) == (-1, [])
            assert [part.text for part in said] == ["", ""]  # type: ignore[attr-defined]
            assert session.node.analysis is None and board["candidates"] == []
            await until(lambda before=before: len(engine.searches) > before and engine.thinking.is_set())
            await until(lambda: (page.refresh(), search_result(session.node))[1])
            found = search_result(session.node)
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
            page.controller.paused = True
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
        page.controller.wake()
        await until(lambda: len(page.session.game.moves) == 2)

    perform(scene, GameSettings(size=9, players=(PERSON, level_of_visits(1600))), engine)


@pytest.mark.parametrize(("lead", "expected"), [(25.9, "25.9"), (None, "29.7")])
def test_the_estimate_expects_the_lead_where_the_network_predicts_one(lead: float | None, expected: str) -> None:
    """Its score is that of self-play, whose leader gives points away or wins more."""

    class Leading(FakeEngine):
        def raw(self, game: Game) -> Evaluation:
            known = None if lead is None else np.array([lead], np.float32)
            return replace(super().raw(game), score=np.array([29.7], np.float32), lead=known)

    async def scene(page: Page) -> None:
        page.wake_up()
        press("estimate")
        await until(lambda: element("estimate-lines").text)  # type: ignore[attr-defined]
        assert element("estimate-lines").text.startswith(f"Expected: Black leads by {expected}\n")  # type: ignore[attr-defined]

    perform(scene, GameSettings(size=9, players=PEOPLE), Leading())


def test_the_estimate_is_on_the_board_until_a_second_tap_or_the_policy() -> None:
    class Sure(FakeEngine):
        def count(self, game: Game) -> Count:
            return replace(super().count(game), ownership=np.ones((9, 9), np.float32))

    async def scene(page: Page) -> None:
        board, lines = element("board").props, element("estimate-lines")
        page.session.click(40)
        page.wake_up()

        def shown() -> tuple[int, bool, bool]:
            return len(board["estimate"].replace(".", "")), lines.visible, bool(board["policy"])

        for pressed, expected in (("estimate", (80, True, False)), ("estimate", (0, False, False))):
            press(pressed)
            await until(lambda expected=expected: shown() == expected)
            assert element("estimate").props["aria-pressed"] == str(expected[1]).lower()
        press("estimate")
        await until(lambda: board["estimate"])
        press("policy")
        await until(lambda: shown() == (0, False, True))
        assert element("policy").props["aria-pressed"] == "true"
        press("estimate")
        await until(lambda: shown() == (80, True, False))
        assert board["estimate"][40] == ".", "a stone that lives"
        tap(page, 41)
        assert shown() == (0, False, False)

    perform(scene, GameSettings(size=9, players=PEOPLE), Sure())


def test_the_policy_is_offered_where_a_network_has_one() -> None:
    async def scene(page: Page) -> None:
        assert is_shown("estimate") and not is_shown("policy")
        page.controller.set_analysis(PageAnalysis("other"))
        page.refresh()
        assert is_shown("policy")

    perform(scene, GameSettings(size=9, players=PEOPLE))


@pytest.mark.parametrize("name", ["policy", "estimate"])
def test_what_is_asked_of_the_chosen_network_is_reported_where_it_fails(name: str, told: list[str]) -> None:
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
        page.controller.set_analysis(PageAnalysis("other"))
        page.wake_up()
        press(name)
        await until(lambda: told)
        assert told == ["It is gone."] and made == ["other"]

    perform(scene, GameSettings(size=9, players=PEOPLE), engines=Asked())


def test_the_variation_of_a_move_in_the_list_is_drawn_on_its_own_position_alone() -> None:
    engine = FakeEngine()

    async def scene(page: Page) -> None:
        board, session = element("board").props, page.session
        second = move_rows(page)[1]
        session.play(40)
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        for change in (
            lambda: key(page, "ArrowLeft"),
            lambda: key(page, "ArrowRight"),
            lambda: send(second, "click"),
            lambda: element("analysis").set_value(False),  # type: ignore[attr-defined]
        ):
            await until(lambda: (page.refresh(), second.visible and search_result(session.node))[1])
            send(second, "mouseenter")
            found = search_result(session.node)
            assert found is not None and board["line"] == list(found.candidates[1].pv)
            change()
            assert board["line"] == []

    perform(scene, GameSettings(size=9, players=PEOPLE), engine)


def test_the_first_tap_on_a_move_in_the_list_shows_its_variation_and_the_second_plays_it() -> None:
    async def scene(page: Page) -> None:
        board, session = element("board").props, page.session
        rows = move_rows(page)

        def tap(row: ui.element) -> None:
            send(row, "mouseenter")  # a browser sends it before the click of a finger too
            send(row, "click", True)

        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        await until(lambda: (page.refresh(), rows[1].visible and search_result(session.node))[1])
        found = search_result(session.node)
        assert found is not None
        for row in (1, 2):
            tap(rows[row])
            assert board["line"] == list(found.candidates[row].pv) and session.node.parent is None
        send(rows[2], "mouseleave")
        assert board["line"] == list(found.candidates[2].pv), "the board has scrolled into view"
        send(rows[2], "blur")
        assert board["line"] == []
        tap(rows[2])
        assert session.node.parent is None, "its line was not on the board"
        tap(rows[2])
        assert session.node.point == found.candidates[2].point and board["line"] == []

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_the_refutation_is_on_the_board_again_when_the_pointer_has_left_the_list() -> None:
    async def scene(page: Page) -> None:
        board, teacher = element("board").props, page.controller.teacher
        first = move_rows(page)[0]
        element("teach").set_value(True)  # type: ignore[attr-defined]
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        page.wake_up()
        tap(page, 0)
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
            assert texts(element("notice")) == [], "so that it is shown again"
            await until(lambda: texts(element("notice")) == ["The best move is a pass"])
        page.session.play(40)
        page.refresh()
        assert texts(element("notice")) == []

    perform(scene, GameSettings(size=9, players=PEOPLE), FakeEngine(passes=True))


def test_a_hint_is_given_in_a_paused_game_and_after_a_resignation() -> None:
    async def scene(page: Page) -> None:
        board = element("board").props
        press("pause")
        page.wake_up()
        press("ask-hint")
        await until(lambda: board["hint"] == 0)
        page.session.play(40)
        press("analyze-game")
        assert not page.controller.paused, "nothing is left to go on"
        page.session.settle("B+R")
        page.refresh()
        press("ask-hint")
        await until(lambda: board["hint"] == 0)

    perform(scene, GameSettings(size=9, players=(DEFAULT_ENGINE, DEFAULT_ENGINE)))


def test_no_hint_is_offered_or_remembered_where_no_move_may_follow() -> None:
    async def scene(page: Page) -> None:
        page.wake_up()
        for _ in range(2):
            press("pass")
        await until(lambda: page.session.counted)
        assert not is_shown("ask-hint")
        press("ask-hint")
        await until(lambda: not page.controller._wake.is_set())
        key(page, "ArrowLeft")
        assert is_shown("ask-hint")
        await asyncio.sleep(0.1)
        assert element("board").props["hint"] == -1

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_tapped_move_keeps_its_variation_when_the_rows_change_places() -> None:
    async def scene(page: Page) -> None:
        chosen: list[object] = []
        with client_of(page):
            table = MoveTable(on_line=lambda: None, on_choose=chosen.append, on_tap=lambda: None)
        first, second = (row for row, _ in table._rows[:2])
        game = page.session.game
        result = FakeEngine().result(game, 1000)
        swapped = replace(result, move=result.candidates[1].point)
        a, b = (move.pv for move in result.candidates[:2])
        table.show(result, "position", game, room=True)
        send(first, "click", True)
        assert table.line == a and not chosen
        table.show(swapped, "position", game, room=True)
        assert table.line == a
        send(first, "click", True)
        assert table.line == b and not chosen, "another move: its variation comes first"
        send(first, "click", True)
        assert chosen == [b[0]]
        # A mouse passes over another row and leaves.
        send(second, "mouseenter")
        send(second, "mouseleave")
        assert table.line == ()
        # The move leaves the list.
        send(first, "click", True)
        table.show(replace(result, candidates=result.candidates[2:]), "position", game, room=True)
        assert table.line == ()

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_the_list_of_moves_takes_no_room_where_two_passes_ended_the_game() -> None:
    async def scene(page: Page) -> None:
        table = page._analysis._table._table
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        press("pass")
        page.refresh()
        assert table.visible, "room for the search that begins"
        press("pass")
        page.refresh()
        assert not table.visible, "no search begins"
        key(page, "ArrowLeft")
        assert table.visible

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_the_list_of_moves_says_whose_winrate_and_lead_it_has() -> None:
    async def scene(page: Page) -> None:
        first = move_rows(page)[0]
        page.wake_up()
        element("analysis").set_value(True)  # type: ignore[attr-defined]
        for color in ("Black", "White"):
            await until(lambda: (page.refresh(), search_result(page.session.node))[1])
            head = [label.text for label in page._analysis._table._head]
            assert head == ["Move", f"{color} winrate", f"{color} lead", "Visits", "Variation"]
            said = str(first.props["aria-label"])
            assert f", {color} winrate 60.0%, {color} lead +2.5, Visits 1,000, Variation " in said
            tap(page, 40)

    perform(scene, GameSettings(size=9, players=PEOPLE))
