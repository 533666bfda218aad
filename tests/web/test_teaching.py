"""The teacher beside the controller: warnings, hints, and what they leave alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from web_engine import FakeEngine, FakeEngines, until

from tengen.engine import Limits, SearchResult
from tengen.web.controller import EngineController
from tengen.web.engine import EngineThread
from tengen.web.players import DEFAULT_ENGINE
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings
from tengen.web.teaching import TEACHING_VISITS

Scene = Callable[[EngineController, FakeEngine], Awaitable[None]]


def perform(scene: Scene, settings: GameSettings | None = None, engine: FakeEngine | None = None) -> None:
    """The fake engine holds every position 2.5 points better for the side to move: each move loses 5."""
    played_by = engine or FakeEngine(script=[40, 41, 42])

    async def run() -> None:
        thread = EngineThread(lambda network: played_by)
        controller = EngineController(
            GameSession(settings or GameSettings(size=9)),
            thread,
            FakeEngines(),
            changed=lambda: None,
            notify=pytest.fail,
            min_seconds=0,
        )
        task = asyncio.create_task(controller.run())
        try:
            await asyncio.wait_for(scene(controller, played_by), 10)
        finally:
            task.cancel()
            thread.close()

    asyncio.run(run())


def play(controller: EngineController, point: int) -> None:
    controller.session.click(point)
    controller.wake()


def test_the_clock_of_the_engine_stands_still_while_the_teacher_judges() -> None:
    going_on = threading.Event()

    class Slow(FakeEngine):
        def think(self, limits: Limits, *args: object, **more: object) -> SearchResult:
            if limits.visits == TEACHING_VISITS:
                self.searches.append((0, limits))
                assert going_on.wait(10)
            return super().think(limits, *args, **more)  # type: ignore[arg-type]

    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        controller.teacher.on, controller.teacher.threshold = True, 1000.0
        play(controller, 0)
        await until(lambda: engine.searches)
        assert controller.session.engine_to_move and controller.holds_clock
        going_on.set()
        await until(lambda: len(controller.session.game.moves) == 2)
        assert not controller.holds_clock

    perform(scene, engine=Slow())


def test_a_move_that_loses_points_holds_the_engine_back_until_it_is_kept() -> None:
    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        teacher, session = controller.teacher, controller.session
        teacher.on = True
        play(controller, 0)
        await until(lambda: teacher.warning)
        warning = teacher.warning
        assert warning is not None and warning.node is session.node
        assert (warning.loss, warning.best) == (5.0, 40)
        assert warning.refutation[0] == 40, "the engine's best answer"
        assert warning.text(9) == "A9 loses about 5.0 points. E5 was better."
        await asyncio.sleep(0.05)
        assert len(session.game.moves) == 1
        teacher.keep()
        controller.wake()
        await until(lambda: len(session.game.moves) == 2)
        assert teacher.warning is None

    perform(scene)


def test_taking_the_move_back_ends_the_warning() -> None:
    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        teacher, session = controller.teacher, controller.session
        teacher.on = True
        play(controller, 0)
        await until(lambda: teacher.warning)
        session.take_back()
        controller.wake()
        await until(lambda: teacher.warning is None)
        play(controller, 40)  # the engine's own move is never warned of
        await until(lambda: len(session.game.moves) == 2)

    perform(scene)


def test_the_end_of_the_game_ends_the_warning() -> None:
    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        for end in (controller.session.resign, controller.session.analyze):
            controller.teacher.on = True
            if controller.session.node.move is None:
                play(controller, 0)
            await until(lambda: controller.teacher.warning)
            end()
            controller.wake()
            await until(lambda: controller.teacher.warning is None)
            controller.session.take_back()  # a resignation alone
            controller.wake()

    perform(scene)


@pytest.mark.parametrize(("on", "threshold"), [(False, 3.0), (True, 5.5)])
def test_nothing_is_said_when_it_is_off_or_the_loss_is_small(on: bool, threshold: float) -> None:
    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        controller.teacher.on, controller.teacher.threshold = on, threshold
        play(controller, 0)
        await until(lambda: len(controller.session.game.moves) == 2)
        assert controller.teacher.warning is None
        assert any(limits.visits == TEACHING_VISITS for _, limits in engine.searches) == on

    perform(scene)


def test_a_hint_is_the_best_move_of_the_shown_position_alone() -> None:
    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        teacher, session = controller.teacher, controller.session
        teacher.ask_hint()
        controller.wake()
        await until(lambda: teacher.hint_at(session.node) is not None)
        assert teacher.hint_at(session.node) == 40
        assert len(session.game.moves) == 0
        play(controller, 3)
        assert teacher.hint_at(session.node) is None
        await until(lambda: len(session.game.moves) == 2)

    perform(scene)


def test_a_hint_that_another_question_interrupts_still_comes() -> None:
    class Interrupted(FakeEngine):
        def think(self, limits: Limits, *args: object, **more: object) -> SearchResult:
            assert self._game is not None
            if not self.searches:
                self.searches.append((0, limits))
                self._stop.clear()
                assert self._stop.wait(10)
                return self.result(self._game, 5)
            return super().think(limits, *args, **more)  # type: ignore[arg-type]

    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        session = controller.session
        controller.teacher.ask_hint()
        controller.wake()
        await until(lambda: engine.searches)
        await controller.ask(controller.thread.raw(session.game))
        await until(lambda: controller.teacher.hint_at(session.node) == 40)

    perform(scene, engine=Interrupted([40]))


def test_a_game_of_the_engine_alone_is_not_judged() -> None:
    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        controller.teacher.on = True
        controller.wake()
        await until(lambda: len(controller.session.game.moves) > 2)
        assert controller.teacher.warning is None

    perform(scene, GameSettings(size=9, players=(DEFAULT_ENGINE, DEFAULT_ENGINE)))


def test_another_game_forgets_the_warning() -> None:
    async def scene(controller: EngineController, engine: FakeEngine) -> None:
        controller.teacher.on = True
        play(controller, 0)
        await until(lambda: controller.teacher.warning)
        controller.new_session(GameSession(GameSettings(size=9)))
        assert controller.teacher.warning is None

    perform(scene)
