"""What a page's engine does next: answer, count, analyze the shown position, or review the whole game."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from tengen.engine import Limits, Style
from tengen.engine.passing import dead_are_agreed
from tengen.errors import TengenError
from tengen.game import Game
from tengen.sgf import GameNode
from tengen.web.engine import EngineThread
from tengen.web.session import GameSession, Phase
from tengen.web.settings import Mode

logger = logging.getLogger(__name__)

ANALYSIS_VISITS = 20_000
REVIEW_VISITS = 60
MIN_MOVE_SECONDS = 0.35
ANALYSIS_STYLE = Style(resign=False)


class EngineController:
    """Runs the engine for one session, which a page may replace. Call `wake` after every change of the session.

    `changed` is called after every step of the engine, `failed` with a message when a step fails. `min_seconds` is the
    minimum time between a position and the engine's move, so that a person can follow fast games.
    """

    def __init__(
        self,
        session: GameSession,
        thread: EngineThread,
        changed: Callable[[], None],
        failed: Callable[[str], None],
        min_seconds: float = MIN_MOVE_SECONDS,
    ) -> None:
        self.session = session
        self.thread = thread
        self.analyzing = False
        self.paused = False
        self.to_review: list[GameNode] = []
        self.activity = ""
        self._tree_is_deeper = False  # the search tree has more visits than the level allows: analysis, review
        self._changed, self._failed, self._min_seconds = changed, failed, min_seconds
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """The session has changed: end the running step and choose the next one."""
        self.thread.stop()
        self._wake.set()

    def review(self) -> None:
        """Analyze every position of the shown line that has no analysis."""
        self.to_review = [node for node in self.session.line if node.analysis is None]
        self.wake()

    def new_session(self, session: GameSession) -> None:
        """Replace the session."""
        self.session, self.to_review, self.paused = session, [], False
        self.wake()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            self._wake.clear()
            try:
                again = await self._next()
            except TengenError as error:
                again = self._give_up(str(error))
            except Exception:  # the page continues after any failure of an engine
                logger.exception("the engine failed")
                again = self._give_up("the engine failed: the server log has the reason")
            self.activity = ""
            self._changed()
            if not again:
                await self._wake.wait()

    def _give_up(self, message: str) -> bool:
        """Report a failure and stop until the next wake."""
        self.paused, self.analyzing, self.to_review = True, False, []
        self._failed(message)
        return False

    async def _next(self) -> bool:
        """Do one step. False when there is nothing to do before the next wake."""
        session = self.session
        if session.phase is Phase.COUNTING and not session.counted:
            return await self._count()
        if session.engine_to_move and not self.paused:
            return await self._answer()
        if self.to_review:
            return await self._review()
        if self.analyzing and not session.game.is_over:
            return await self._analyze()
        return False

    async def _answer(self) -> bool:
        session, node, level = self.session, self.session.node, self.session.settings.level
        self.activity = "thinking"
        self._changed()
        begun = time.monotonic()
        clock = session.clock.remaining(session.game.to_play) if session.clock else None
        limits = Limits(visits=level.visits, clock=clock)
        result = await self.thread.think(session.game, limits, level.style, anew=self._tree_is_deeper)
        self._tree_is_deeper = self._tree_is_deeper and result is None
        await asyncio.sleep(max(0.0, self._min_seconds - (time.monotonic() - begun)))
        if result is None or self._wake.is_set() or self.session is not session or session.node is not node:
            return True
        session.add_analysis(node, result)
        if result.resign:
            session.resign(session.game.to_play)
        elif session.tick(time.monotonic()) or session.result:
            return True
        else:
            session.play(result.move, time.monotonic())
        return True

    async def _count(self) -> bool:
        session, node = self.session, self.session.node
        self.activity = "counting"
        self._changed()
        dead = await self._dead(session.game)
        gone = self.session is not session or session.node is not node or session.phase is not Phase.COUNTING
        if dead is None or gone:
            return True
        session.begin_count(dead)
        if session.settings.mode is Mode.WATCH:
            session.agree()
        return True

    async def _dead(self, game: Game) -> Sequence[int] | None:
        """The dead stones of a finished game, none where the rules count every stone; None where it was stopped."""
        if not dead_are_agreed(game):
            return ()
        count = await self.thread.count(game)
        return None if count is None else count.dead

    async def _analyze(self) -> bool:
        session, node = self.session, self.session.node
        if node.analysis is not None and node.analysis.visits >= ANALYSIS_VISITS:
            return False
        self.activity, self._tree_is_deeper = "analyzing", True
        self._changed()
        result = await self.thread.think(session.game, Limits(visits=ANALYSIS_VISITS), ANALYSIS_STYLE)
        if result is not None and result.visits:
            session.add_analysis(node, result)
        return self._wake.is_set()

    async def _review(self) -> bool:
        session, node = self.session, self.to_review[0]
        self.activity, self._tree_is_deeper = "reviewing", True
        result = await self.thread.think(session.tree.position(node), Limits(visits=REVIEW_VISITS), ANALYSIS_STYLE)
        if self.to_review[:1] == [node] and result is not None and not self._wake.is_set():
            session.add_analysis(node, result)
            self.to_review.pop(0)
        return True
