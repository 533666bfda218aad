"""Decides what a page's engine does next: answer, count, analyse the shown position, or work through the whole game."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from tengen.engine import Limits, Style
from tengen.engine.passing import dead_are_agreed
from tengen.errors import TengenError
from tengen.game import Game
from tengen.web.session import Phase, Session
from tengen.web.settings import Mode
from tengen.web.thinker import Thinker
from tengen.web.tree import Node

logger = logging.getLogger(__name__)

ANALYSIS_VISITS = 20_000
REVIEW_VISITS = 60
PACE = 0.35
JUDGE = Style(resign=False)


class Conductor:
    """Runs the engine for one session, which a page may replace. After every change of the session call `wake`.

    `changed` is told when the engine has moved, counted or judged; `failed` gets a message when it could not. `pace` is
    the least number of seconds between a position and the engine's answer, so that the eye can follow quick ones.
    """

    def __init__(
        self,
        session: Session,
        thinker: Thinker,
        changed: Callable[[], None],
        failed: Callable[[str], None],
        pace: float = PACE,
    ) -> None:
        self.session = session
        self.thinker = thinker
        self.analysing = False
        self.paused = False
        self.reviewing: list[Node] = []
        self.doing = ""
        self._judged = False  # whether the engine's tree holds more than its level would have looked at
        self._changed, self._failed, self._pace = changed, failed, pace
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """The session has changed: end what the engine does and decide anew."""
        self.thinker.stop()
        self._wake.set()

    def review(self) -> None:
        """Judge every position of the shown line that has no judgement yet."""
        session = self.session
        self.reviewing = [n for n in [session.tree.root, *session.tree.line(session.node)] if n.report is None]
        self.wake()

    def new_session(self, session: Session) -> None:
        """Go on with another game."""
        self.session, self.reviewing, self.paused = session, [], False
        self.wake()

    async def run(self) -> None:
        """Conduct until cancelled."""
        while True:
            self._wake.clear()
            try:
                again = await self._next()
            except TengenError as error:
                again = self._give_up(str(error))
            except Exception:  # whatever an engine does, the page lives on and says so
                logger.exception("the engine failed")
                again = self._give_up("the engine failed: the log of the server says why")
            self.doing = ""
            self._changed()
            if not again:
                await self._wake.wait()

    def _give_up(self, message: str) -> bool:
        """Tell what went wrong and do nothing more before the next wake."""
        self.paused, self.analysing, self.reviewing = True, False, []
        self._failed(message)
        return False

    async def _next(self) -> bool:
        """Do one thing; False when there is nothing to do before the next wake."""
        session = self.session
        if session.phase is Phase.COUNTING and not session.counted:
            return await self._count()
        if session.engine_to_move and not self.paused:
            return await self._answer()
        if self.reviewing:
            return await self._review()
        if self.analysing and not session.game.is_over:
            return await self._analyse()
        return False

    async def _answer(self) -> bool:
        session, node, level = self.session, self.session.node, self.session.settings.level
        self.doing = "thinking"
        self._changed()
        begun = time.monotonic()
        clock = session.clock.remaining(session.game.to_play) if session.clock else None
        limits = Limits(visits=level.visits, clock=clock)
        result = await self.thinker.think(session.game, limits, level.style, anew=self._judged)
        self._judged = self._judged and result is None
        await asyncio.sleep(max(0.0, self._pace - (time.monotonic() - begun)))
        if result is None or self._wake.is_set() or self.session is not session or session.node is not node:
            return True
        session.note(node, result)
        if result.resign:
            session.resign(session.game.to_play)
        elif session.tick(time.monotonic()) or session.result:
            return True
        else:
            session.play(result.move, time.monotonic())
        return True

    async def _count(self) -> bool:
        session, node = self.session, self.session.node
        self.doing = "counting"
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
        """The dead stones of a finished game, none where the rules count what stands; None where it was stopped."""
        if not dead_are_agreed(game):
            return ()
        count = await self.thinker.count(game)
        return None if count is None else count.dead

    async def _analyse(self) -> bool:
        session, node = self.session, self.session.node
        if node.report is not None and node.report.visits >= ANALYSIS_VISITS:
            return False
        self.doing, self._judged = "analysing", True
        self._changed()
        result = await self.thinker.think(session.game, Limits(visits=ANALYSIS_VISITS), JUDGE)
        if result is not None and result.visits:
            session.note(node, result)
        return self._wake.is_set()

    async def _review(self) -> bool:
        session, node = self.session, self.reviewing[0]
        self.doing, self._judged = "reviewing", True
        result = await self.thinker.think(session.position(node), Limits(visits=REVIEW_VISITS), JUDGE)
        if self.reviewing[:1] == [node] and result is not None and not self._wake.is_set():
            session.note(node, result)
            self.reviewing.pop(0)
        return True
