"""What a page's engine does next: answer, count, or analyze the shown position; and the review of the whole game."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence

from tengen.engine import Limits, SearchQueue, SearchResult, Style
from tengen.engine.passing import dead_are_agreed
from tengen.errors import TengenError
from tengen.game import Game
from tengen.review.game import GameReview, positions_of, review
from tengen.sgf import GameNode
from tengen.web.engine import EngineThread
from tengen.web.language import _
from tengen.web.session import GameSession, Phase
from tengen.web.settings import Mode
from tengen.web.teaching import Teacher

logger = logging.getLogger(__name__)

ANALYSIS_VISITS = 20_000
REVIEW_VISITS = 100
MIN_MOVE_SECONDS = 0.35
ANALYSIS_STYLE = Style(resign=False)


class EngineController:
    """Runs the engine for one session, which a page may replace. Call `wake` after every change of the session.

    `changed` is called after every step of the engine, `failed` with a message when a step fails. `min_seconds` is the
    minimum time between a position and the engine's move, so that a person can follow fast games. A review runs beside
    all this, on a queue of its own that `new_queue` makes.
    """

    def __init__(
        self,
        session: GameSession,
        thread: EngineThread,
        changed: Callable[[], None],
        failed: Callable[[str], None],
        new_queue: Callable[[], SearchQueue],
        min_seconds: float = MIN_MOVE_SECONDS,
    ) -> None:
        self.session = session
        self.thread = thread
        self.teacher = Teacher(self._teach)
        self.analyzing = False
        self.paused = False
        self.activity = ""
        self.review_progress: tuple[int, int] | None = None
        """Positions that the running review has searched, and all of them; None without one."""
        self._review: asyncio.Task[None] | None = None
        self._review_over = threading.Event()
        self._tree_is_deeper = False  # the search tree has more visits than the level allows, after an analysis
        self._changed, self._failed, self._new_queue, self._min_seconds = changed, failed, new_queue, min_seconds
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """The session has changed: end the running step and choose the next one."""
        self.thread.stop()
        self._wake.set()

    def review(self) -> None:
        """Search every position of the shown line to the same depth, many at once; stop a review that runs."""
        if self._review is not None:
            self.stop_review()
            return
        session = self.session
        try:
            positions = positions_of(session.tree, session.line)
        except TengenError as error:
            self._failed(str(error))
            return
        self.review_progress = (0, len(positions))
        over = self._review_over = threading.Event()
        self._review = asyncio.get_running_loop().create_task(self._run_review(session, positions, over))

    def stop_review(self) -> None:
        """End the running review, if there is one; what it has searched stays."""
        self._review_over.set()
        self._review, self.review_progress = None, None

    async def _run_review(
        self, session: GameSession, positions: Sequence[tuple[GameNode, Game]], over: threading.Event
    ) -> None:
        def keep(node: GameNode, result: SearchResult) -> None:
            session.add_analysis(node, result)
            if not over.is_set() and self.review_progress is not None:
                self.review_progress = (self.review_progress[0] + 1, len(positions))

        def search() -> GameReview | None:
            with self._new_queue() as queue:
                return review(session.tree, positions, queue, REVIEW_VISITS, keep, over.is_set)

        try:
            found = await asyncio.to_thread(search)
            if found is not None and not over.is_set():
                session.review = found
        except TengenError as error:
            self._failed(str(error))
        except Exception:
            logger.exception("the review failed")
            self._failed(_("the review failed: the server log has the reason"))
        if not over.is_set():
            self.stop_review()
        self._changed()

    def new_session(self, session: GameSession) -> None:
        """Replace the session."""
        self.stop_review()
        self.session, self.paused = session, False
        self.teacher.forget()
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
                again = self._give_up(_("the engine failed: the server log has the reason"))
            self.activity = ""
            self._changed()
            if not again:
                await self._wake.wait()

    def _give_up(self, message: str) -> bool:
        """Report a failure and stop until the next wake."""
        self.paused, self.analyzing = True, False
        self._failed(message)
        return False

    async def _next(self) -> bool:
        """Do one step. False when there is nothing to do before the next wake."""
        session = self.session
        if session.phase is Phase.COUNTING and not session.counted:
            return await self._count()
        if not self.paused and (taught := await self.teacher.step(session)) is not None:
            return taught
        if session.engine_to_move and not self.paused:
            return await self._answer()
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
        elif session.tick(time.monotonic()) or not session.live:
            return True
        else:
            session.play(result.move, time.monotonic())
        return True

    async def _teach(self, game: Game, limits: Limits, style: Style) -> SearchResult | None:
        """The search of the teacher, after which the engine of a level starts a new tree."""
        self.activity, self._tree_is_deeper = "teaching", True
        self._changed()
        return await self.thread.think(game, limits, style)

    async def _count(self) -> bool:
        session, node = self.session, self.session.node
        self.activity = "counting"
        self._changed()
        dead = await self._dead(session.game)
        gone = self.session is not session or session.node is not node or session.phase is not Phase.COUNTING
        if dead is None or gone:
            return True
        session.begin_count(dead)
        if session.mode is Mode.WATCH:
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
