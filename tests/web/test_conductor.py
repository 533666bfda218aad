"""What the engine does next, played through with a fake engine and no page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from web_engine import FakeEngine

from tengen.engine import Count, Engine, Limits, SearchResult
from tengen.errors import NetworkError
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, WHITE, Game
from tengen.web.conductor import ANALYSIS_VISITS, Conductor
from tengen.web.levels import custom_level
from tengen.web.session import Phase, Session
from tengen.web.settings import GameSettings, Mode
from tengen.web.thinker import PageEngine, Thinker

Scene = Callable[[Conductor, FakeEngine, list[str]], Awaitable[None]]


def perform(
    scene: Scene, settings: GameSettings, engine: FakeEngine | None = None, real: PageEngine | None = None
) -> None:
    """Run a conductor for a new session beside the scene, with a fake engine or a real one."""
    played_by = engine or FakeEngine()

    async def run() -> None:
        messages: list[str] = []
        thinker = Thinker(lambda: real or played_by)
        conductor = Conductor(Session(settings), thinker, lambda: None, messages.append, pace=0)
        task = asyncio.create_task(conductor.run())
        try:
            await asyncio.wait_for(scene(conductor, played_by, messages), 10)
        finally:
            task.cancel()
            thinker.close()

    asyncio.run(run())


async def until(happens: Callable[[], object]) -> None:
    while not happens():
        await asyncio.sleep(0.005)


def test_the_engine_answers_with_the_visits_and_the_style_of_its_level() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = conductor.session
        session.click(40)
        conductor.wake()
        await until(lambda: len(session.game.moves) == 2)
        assert session.game.moves == [(BLACK, 40), (WHITE, 7)]
        assert engine.searches == [(1, Limits(visits=session.settings.level.visits))]
        assert engine.style == session.settings.level.style
        assert len(session.line_reports()) == 1, "its thoughts are kept for the graph"

    perform(scene, GameSettings(size=9), FakeEngine(script=[7]))


def test_the_engine_opens_when_it_has_black() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: conductor.session.may_click)
        assert len(conductor.session.game.moves) == 1

    perform(scene, GameSettings(size=9, human=WHITE))


def test_a_lost_game_is_resigned() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        conductor.session.click(40)
        conductor.wake()
        await until(lambda: conductor.session.result)
        assert conductor.session.result == "B+R"

    perform(scene, GameSettings(size=9), FakeEngine(resigns=True))


def test_the_engine_plays_itself_to_the_end_and_counts() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: conductor.session.phase is Phase.OVER)
        assert conductor.session.result == "W+7.5"

    perform(scene, GameSettings(size=5, mode=Mode.WATCH), FakeEngine(passes=True))


def test_a_pause_holds_the_engine() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: len(conductor.session.game.moves) >= 3)
        conductor.paused = True
        conductor.wake()
        await asyncio.sleep(0.05)
        moves = len(conductor.session.game.moves)
        await asyncio.sleep(0.1)
        assert len(conductor.session.game.moves) == moves

    perform(scene, GameSettings(size=9, mode=Mode.WATCH))


def test_after_two_passes_the_engine_marks_the_dead() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = conductor.session
        session.pass_turn()
        session.pass_turn()
        conductor.wake()
        await until(lambda: session.counted)
        assert session.phase is Phase.COUNTING

    perform(scene, GameSettings(size=9, mode=Mode.ANALYSE))


@pytest.mark.parametrize(("rules", "dead"), [("chinese", {8}), ("tromp-taylor", set())])
def test_no_stone_is_dead_where_the_rules_count_what_stands(rules: str, dead: set[int]) -> None:
    """The white stone at 8 cannot live in Black's left side, which is his with it and nobody's beside it."""
    diagram = "..XO...\n.OXOOO.\nXXXO.O.\nX.XOOO.\nXXXO.O.\n.XXOOOO\nX.XO.O.\n"

    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = Session(conductor.session.settings, start=Game.from_diagram(diagram, rules, komi=0))
        session.pass_turn()
        session.pass_turn()
        conductor.new_session(session)
        await until(lambda: session.counted)
        assert session.dead == dead
        session.toggle_dead(8)
        assert session.dead == {8} - dead, "a person may say otherwise"

    perform(scene, GameSettings(size=7, mode=Mode.ANALYSE, rules=rules))


def test_a_count_that_comes_after_the_game_was_settled_changes_nothing() -> None:
    class Slow(FakeEngine):
        def count(self, game: Game) -> Count:
            self.thinking.set()
            self._stop.wait(0.1)
            return super().count(game)

    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = conductor.session
        session.pass_turn()
        session.pass_turn()
        conductor.wake()
        await until(engine.thinking.is_set)
        session.resign()
        await until(lambda: not conductor.doing)
        assert session.result == "W+R" and not session.counted and session.view().dead == ()

    perform(scene, GameSettings(size=9, mode=Mode.ANALYSE), Slow())


def test_analysis_follows_the_shown_position_and_ends_with_it() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = conductor.session
        conductor.analysing = True
        conductor.wake()
        await until(engine.thinking.is_set)
        session.play(40)
        conductor.wake()
        await until(lambda: len(engine.searches) == 2)
        assert engine.searches == [(0, Limits(visits=ANALYSIS_VISITS)), (1, Limits(visits=ANALYSIS_VISITS))]
        assert session.tree.root.report is not None, "what was found before the step is kept"
        conductor.analysing = False
        conductor.wake()
        await until(lambda: not engine.thinking.is_set())

    perform(scene, GameSettings(size=9, mode=Mode.ANALYSE))


@pytest.mark.parametrize("look", ["analysis", "review"])
def test_a_weak_level_plays_from_no_more_than_it_may_look_at(look: str) -> None:
    """Analysis and review share the engine with the game, but not what they found."""

    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = conductor.session
        if look == "analysis":
            conductor.analysing = True
            conductor.wake()
            await until(lambda: conductor.thinker.latest and conductor.thinker.latest.visits > 500)
        else:
            conductor.review()
            await until(lambda: session.node.report)
        for moves in (2, 4):
            session.click(session.game.legal_points()[8])
            before = session.node
            conductor.wake()
            await until(lambda moves=moves: len(session.game.moves) == moves)
            assert before.report is not None and before.report.visits == 1

    settings = GameSettings(size=5, level=custom_level(1))
    perform(scene, settings, real=Engine(UniformEvaluator(), batch=1))


def test_a_review_judges_every_position_of_the_line() -> None:
    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = conductor.session
        for point in (10, 20, 30, 40):
            session.play(point)
        session.step(-2)
        conductor.review()
        await until(lambda: len(session.line_reports()) == 5)
        assert not conductor.reviewing

    perform(scene, GameSettings(size=9, mode=Mode.ANALYSE))


def test_undo_while_the_engine_thinks_takes_the_move_back_and_no_answer_comes() -> None:
    class Slow(FakeEngine):
        def think(self, *args: object, **more: object) -> SearchResult:
            self.thinking.set()
            self._stop.wait(5)
            return super().think(*args, **more)  # type: ignore[arg-type]

    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        session = conductor.session
        session.click(40)
        conductor.wake()
        await until(engine.thinking.is_set)
        session.undo()
        conductor.wake()
        await asyncio.sleep(0.1)
        assert session.game.moves == [] and len(session.tree) == 1 and messages == []

    perform(scene, GameSettings(size=9), Slow())


@pytest.mark.parametrize(
    ("error", "told"),
    [(NetworkError("net.onnx is no network"), "net.onnx is no network"), (RuntimeError("x"), "failed")],
)
def test_an_engine_that_fails_is_told_of_and_the_page_lives_on(error: Exception, told: str) -> None:
    class Broken(FakeEngine):
        def set_position(self, game: object) -> None:
            raise error

    async def scene(conductor: Conductor, engine: FakeEngine, messages: list[str]) -> None:
        conductor.session.click(40)
        conductor.wake()
        await until(lambda: messages)
        assert told in messages[0] and conductor.paused
        assert conductor.session.undo()

    perform(scene, GameSettings(size=9), Broken())
