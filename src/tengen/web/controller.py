"""What the engines of a page do next: answer, count, or analyze the shown position."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar

from tengen.coords import to_gtp
from tengen.engine import Limits, SearchResult, Style
from tengen.errors import IllegalMove, TengenError
from tengen.game import Game
from tengen.review.game import GameReview
from tengen.sgf import GameNode
from tengen.web.engine import EngineThread, PageEngines
from tengen.web.language import _
from tengen.web.programs import GamePrograms
from tengen.web.running_review import RunningReview
from tengen.web.session import GameSession, Phase
from tengen.web.settings import Mode, PageAnalysis
from tengen.web.teaching import TeachingMode
from tengen.web.words import explain

T = TypeVar("T")
Activity = Literal["", "thinking", "analyzing", "teaching", "counting"]
"""What an engine does for the session now; empty for nothing."""

_logger = logging.getLogger(__name__)

MIN_MOVE_SECONDS = 0.35
ANALYSIS_STYLE = Style(resign=False)


class EngineController:
    """Chooses and runs the steps of the engines and `programs` for one session, which a page may replace. Call `wake`
    after every change of the session.

    `changed` is called after every step of an engine, `notify` with a message when a step fails, or a program counts
    otherwise. `min_seconds` is the minimum time between a position and the engine's move, so that a person can follow
    fast games. A review runs in parallel, on a queue of its own that `engines` makes.
    """

    def __init__(
        self,
        session: GameSession,
        thread: EngineThread,
        engines: PageEngines,
        *,
        changed: Callable[[], None],
        notify: Callable[[str], None],
        min_seconds: float = MIN_MOVE_SECONDS,
    ) -> None:
        self.session = session
        self.thread = thread
        self.programs = GamePrograms(engines.programs, session=lambda: self.session, notify=notify)
        self.teacher = TeachingMode(self._teach)
        self.analysis = PageAnalysis()
        self.analyzing = False
        self.paused = False
        self.failure = ""
        """Why the engine has stopped, until it goes on."""
        self.activity: Activity = ""
        self.analyzed: GameNode | None = None
        """The position of the running or last analysis."""
        self.search_key = (0, 0)
        """`GameAnalyses.search_key` of `analyzed` when that analysis began."""
        self._one_move = False
        self._asking = 0
        self._changed, self._notify, self._engines, self._min_seconds = changed, notify, engines, min_seconds
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """The session has changed: end the running step and choose the next one."""
        self.thread.stop()
        self._wake.set()

    @property
    def network(self) -> str:
        """The network that searches for the person: the chosen one where it plays on this board."""
        chosen = self.analysis.network
        return chosen if chosen in self._engines.networks(self.session.game.size) else ""

    @property
    def has_network(self) -> bool:
        """Whether a network searches for the person on this board; without one there is no policy."""
        return bool(self.network or self._engines.network(self.session.game.size))

    @property
    def holds_clock(self) -> bool:
        """Whether no time runs: the person reads a warning, or the engine to move waits for the teacher, is paused, or
        its program starts."""
        if self.teacher.warning is not None:
            return True
        paused = self.paused and self.activity != "thinking"  # a paused engine may play one move
        starting = self.programs.start_seconds(self.session.game.to_play) is not None
        return self.session.engine_to_move and (paused or starting or self.activity == "teaching")

    def set_analysis(self, settings: PageAnalysis) -> None:
        """Change how positions are searched for the person. Another network begins anew."""
        if settings.network != self.analysis.network:
            self.stop_review()
            self.session.analyses.forget()
        self.analysis = settings
        self.wake()

    def play_one(self) -> None:
        """Let a paused engine play one move."""
        self._one_move = True
        self.wake()

    def cancel_starts(self) -> None:
        """End the programs that are starting, and pause."""
        for name in self.programs.cancel_starts():
            self._give_up(_("the start of {name} was cancelled", name=name))
        self.wake()

    async def ask(self, task: Awaitable[T]) -> T:
        """Do a short task of `thread` beside the session; the step that it stops begins again afterwards."""
        self._asking += 1
        self._wake.set()
        try:
            return await task
        finally:
            self._asking -= 1
            self._wake.set()

    def close(self) -> None:
        """End the programs, and the review unless another page has taken over the session."""
        running = self.session.running_review
        if running is not None and running.on_end == self._review_ended:
            self.stop_review()
        self.programs.close()

    @property
    def review_progress(self) -> tuple[int, int] | None:
        """Positions that the running review has searched, and all of them; None without one."""
        running = self.session.running_review
        return None if running is None else running.progress

    def review(self) -> None:
        """Begin a review of the shown line; stop one that runs."""
        session, network = self.session, self.network
        if session.running_review is not None:
            self.stop_review()
            return
        session.running_review = RunningReview(
            session.analyses,
            session.line,
            lambda: self._engines.queue(network),
            self.analysis.review_visits,
            self._review_ended,
        )

    def stop_review(self) -> None:
        """End the running review, if there is one; what it has searched stays."""
        if self.session.running_review is not None:
            self.session.running_review.stop()
            self.session.running_review = None

    def _review_ended(self, found: GameReview | None, message: str) -> None:
        self.session.running_review = None
        if found is not None:
            self.session.analyses.review = found
        if message:
            self._notify(message)
        self._changed()

    def new_session(self, session: GameSession) -> None:
        """Replace the session. A review of the new one goes on, and that of the old one ends."""
        if session is not self.session:
            self.stop_review()
        if session.running_review is not None:
            session.running_review.on_end = self._review_ended
        self.session, self.paused, self.failure, self._one_move = session, False, "", False
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
                _logger.exception("the engine failed")
                again = self._give_up(_("the engine failed: the server log has the reason"))
            self.activity = ""
            self._changed()
            if not again:
                await self._wake.wait()

    def _give_up(self, message: str) -> bool:
        """Report a failure and stop until the next wake."""
        self.paused, self.analyzing, self.failure, self._one_move = True, False, message, False
        self._notify(message)
        return False

    async def _next(self) -> bool:
        """Do one step. False when there is nothing to do before the next wake."""
        if self._asking:
            return False  # it wakes the controller at its end
        session = self.session
        if not self.paused or not session.engine_to_move:
            self._one_move = False
        self.programs.arrange(self.paused)
        if not self.paused:
            self.failure = ""
        if session.phase is Phase.COUNTING and not session.counted:
            return await self._count()
        if await self.teacher.answer_hint(session):
            return True
        if not self.paused and (taught := await self.teacher.step(session)) is not None:
            return taught
        if session.engine_to_move and (self._one_move or not self.paused):
            return await self._answer()
        if self.analyzing and not session.game.is_over:
            return await self._analyze()
        return False

    async def _answer(self) -> bool:
        session, node, color = self.session, self.session.node, self.session.game.to_play
        self.activity, self.failure = "thinking", ""
        self._changed()
        begun = time.monotonic()
        player = session.settings.players[color]
        result: SearchResult | None = None
        clock = session.clock.remaining(color) if session.clock else None
        if player.program:
            move = await self._unless_woken(self.programs.program(color).choose(session.game, session.control, clock))
            answered, point = move is not None, None if move is None else move.point
        else:
            # A person waits: seconds and periods of a clock are not used in full once the move is clear.
            early = None if player.seconds is None and clock is None else True
            limits = Limits(visits=player.visits, seconds=player.seconds, clock=clock, early_stop=early)
            result = await self.thread.think(session.game, limits, player.style, player.network, player)
            answered, point = result is not None, None if result is None or result.resign else result.move
        await asyncio.sleep(max(0.0, self._min_seconds - (time.monotonic() - begun)))
        if not answered or self._wake.is_set() or self.session is not session or session.node is not node:
            return True
        self._one_move = False
        if result is not None:
            session.analyses.add(node, result, for_move=True)
        if point is None:
            session.resign(color)
        elif session.tick(time.monotonic()) or not session.live:
            return True
        else:
            try:
                session.play(point, time.monotonic())
            except IllegalMove as error:
                where = to_gtp(point, session.game.size)
                wrong = _("{player} plays {move}, which is illegal", player=player.name, move=where)
                raise TengenError(f"{wrong}: {explain(error)}") from error
        return True

    async def _unless_woken(self, work: Awaitable[T]) -> T | None:
        """The result of some work, None where the session changes before."""
        task, woken = asyncio.ensure_future(work), asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((task, woken), return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            woken.cancel()

    async def _teach(self, game: Game, limits: Limits) -> SearchResult | None:
        self.activity = "teaching"
        self._changed()
        return await self.thread.think(game, limits, ANALYSIS_STYLE, self.network, "teaching", decide=False)

    async def _count(self) -> bool:
        session, node = self.session, self.session.node
        self.activity = "counting"
        self._changed()
        dead = await self._dead(session.game)
        gone = self.session is not session or session.node is not node or session.phase is not Phase.COUNTING
        if dead is None or gone:
            return True
        session.begin_count(dead)
        if session.mode is Mode.WATCH and session.may_agree:
            session.agree()
        self._changed()
        await self._unless_woken(self.programs.compare_counts(session, session.score))
        return True

    async def _dead(self, game: Game) -> Sequence[int] | None:
        """The dead stones of a finished game, none where the rules count every stone; None where it was stopped."""
        if not game.rules.dead_are_agreed:
            return ()
        count = await self.thread.count(game)
        return None if count is None else count.dead

    async def _analyze(self) -> bool:
        session, node = self.session, self.session.node
        self.analyzed, self.search_key = node, session.analyses.search_key(node)
        if node.analysis is not None and node.analysis.visits >= self.analysis.visits:
            return False
        self.activity = "analyzing"
        self._changed()
        limits = Limits(visits=self.analysis.visits)
        result = await self.thread.think(session.game, limits, ANALYSIS_STYLE, self.network, "analysis", decide=False)
        if result is not None and result.visits:
            session.analyses.add(node, result, self.search_key)
        return self._wake.is_set()
