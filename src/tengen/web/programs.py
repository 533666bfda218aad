"""The GTP programs of a page: each on a thread of its own, so that the page goes on whatever a program does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from tengen.engine import Clock, TimeControl
from tengen.errors import TengenError
from tengen.game import Game
from tengen.gtp.client import GtpClient
from tengen.gtp.program import GtpProgram, ProgramMove, ProgramSettings
from tengen.sgf.values import score_text
from tengen.web.language import _
from tengen.web.session import GameSession
from tengen.web.words import in_words

T = TypeVar("T")

UNWANTED_SECONDS = 5.0
"""How long a program may go on with an answer that is no longer wanted. GTP cannot interrupt it, so it is killed."""


class ProgramThread:
    """Runs one GTP program, which is started at the first task, and again after a failure.

    A task may be cancelled; the program goes on with it for a while. All methods but `close` raise ProgramError when
    the program fails.
    """

    def __init__(self, settings: ProgramSettings) -> None:
        self.settings = settings
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tengen-program")
        self._program: GtpProgram | None = None
        self._client: GtpClient | None = None  # as soon as its process runs
        self._closed = False
        self._start_begun: float | None = None
        self._begun: object = None  # what the program was sent at the start of its game
        self._answer: tuple[object, ProgramMove] | None = None
        self._running: Future[Any] | None = None
        self._asked: object = None  # the position whose move the running task finds; None for another task
        self._starting: Future[GtpProgram] | None = None

    @property
    def start_seconds(self) -> float | None:
        """How long its start has taken so far; None where it does not start just now."""
        begun = self._start_begun
        return None if begun is None else time.monotonic() - begun

    async def prepare(self, game: Game, control: TimeControl | None) -> None:
        """Start the program, and tell it of the game, so that what it refuses is known at once."""
        copy = game.copy()
        self._starting = self._pool.submit(self._ready, copy, control)
        await asyncio.wrap_future(self._starting)

    async def choose(self, game: Game, control: TimeControl | None, clock: Clock | None) -> ProgramMove:
        """The program's move; the same again where the same position is asked about next. So is a move that it still
        thinks about: the task goes on."""

        def choose() -> ProgramMove:
            program = self._ready(copy, control)
            if self._answer is None or self._answer[0] != position:
                self._answer = None
                move = program.choose(copy, clock)
                if move.point is None or not copy.is_legal(move.point):
                    return move
                self._answer = position, move
            return self._answer[1]

        copy = game.copy()
        position = _start(copy, control), copy.moves
        if self._running is None or self._running.done() or self._asked != position:
            return await self._run(choose, position)
        return await asyncio.wrap_future(self._running)

    async def score(self, game: Game, control: TimeControl | None) -> float | None:
        """Black's points minus White's as the program counts; None where it cannot count."""
        copy = game.copy()
        return await self._run(lambda: self._ready(copy, control).score(copy))

    def close(self) -> None:
        """End the program, at once where it starts or computes; its thread ends on its own."""
        self._closed = True
        tasks = [task for task in (self._starting, self._running) if task is not None and not task.done()]
        if tasks and self._client is not None:
            self._client.kill()
        self._pool.submit(self._end)
        self._pool.shutdown(wait=False)

    async def _run(self, task: Callable[[], T], asked: object = None) -> T:
        before = self._running
        if before is not None and not before.done():
            with suppress(Exception):  # whatever comes of it
                await asyncio.wait_for(asyncio.wrap_future(before), UNWANTED_SECONDS)
            if not before.done() and self._client is not None:
                self._client.kill()
        self._running, self._asked = self._pool.submit(task), asked
        return await asyncio.wrap_future(self._running)

    def _ready(self, game: Game, control: TimeControl | None) -> GtpProgram:
        """The program with this game begun."""
        if self._program is not None and self._program.is_broken:
            self._end()
        if self._program is None:
            self._start_begun = time.monotonic()
            try:
                self._program, self._begun = GtpProgram(self.settings, self._process_runs), None
            finally:
                self._start_begun = None
        begun = _start(game, control)
        if self._begun != begun:
            self._begun = None
            self._program.start_game(game, control=control)
            self._begun = begun
        return self._program

    def _process_runs(self, client: GtpClient) -> None:
        self._client = client
        if self._closed:
            client.kill()

    def _end(self) -> None:
        if self._program is not None:
            self._program.close()
            self._program = None


def _start(game: Game, control: TimeControl | None) -> object:
    """What a program is sent at the start of a game."""
    return game.size, game.rules.text, game.komi, game.setup_stones, game.first_to_play, control


class GamePrograms:
    """Starts the programs that play in the game of a page, and ends those that no longer play.

    `programs` are those that the page may run, `session` gives its game, `notify` shows a message: of a failed
    start, or of a program that counts otherwise.
    """

    def __init__(
        self,
        programs: Mapping[str, ProgramSettings],
        *,
        session: Callable[[], GameSession],
        notify: Callable[[str], None],
    ) -> None:
        self._known, self._session, self._notify = programs, session, notify
        self._running: dict[int, ProgramThread] = {}
        self._starting: set[asyncio.Task[None]] = set()

    def arrange(self, paused: bool) -> None:
        """End the programs that no longer play in this game and, unless it is paused, start those that do."""
        session = self._session()
        for color, player in enumerate(session.settings.players):
            running = self._running.get(color)
            if running is not None and running.settings.name != player.program:
                self._running.pop(color).close()
            missing = color not in self._running and not paused
            if session.live and missing and player.program in self._known:
                task = asyncio.create_task(self._prepare(self.program(color), session))
                self._starting.add(task)
                task.add_done_callback(self._starting.discard)

    async def _prepare(self, program: ProgramThread, session: GameSession) -> None:
        try:
            await program.prepare(session.game, session.control)
        except TengenError as error:
            if self._session() is session and program in self._running.values():
                self._notify(str(error))

    def program(self, color: int) -> ProgramThread:
        """The program that plays a color. Raises TengenError where the server has none of its name."""
        name = self._session().settings.players[color].program
        if color not in self._running:
            if name not in self._known:
                wrong = _("this server has no program {name!r}: start it with tengen play --program", name=name)
                raise TengenError(wrong)
            self._running[color] = ProgramThread(self._known[name])
        return self._running[color]

    def start_seconds(self, color: int) -> float | None:
        """How long the start of the program that plays a color has taken so far; None where none starts."""
        program = self._running.get(color)
        return None if program is None else program.start_seconds

    def cancel_starts(self) -> list[str]:
        """End the programs that are starting; returns their names."""
        starting = [color for color in self._running if self.start_seconds(color) is not None]
        ended = [self._running.pop(color) for color in starting]
        for program in ended:
            program.close()
        return [program.settings.name for program in ended]

    async def compare_counts(self, session: GameSession, score: float) -> None:
        """Say where a program counts the end of a game otherwise than the page, which counts `score`."""
        for program in list(self._running.values()):
            try:
                counted = await program.score(session.game, session.control)
            except TengenError as error:
                self._notify(str(error))
                continue
            if counted is not None and counted != score:
                theirs, ours = (in_words(score_text(points)) for points in (counted, score))
                values = {"name": program.settings.name, "theirs": theirs, "ours": ours}
                self._notify(_("{name} counts otherwise: {theirs}. This page: {ours}", **values))

    def close(self) -> None:
        """End all programs."""
        for task in self._starting:
            task.cancel()
        for program in self._running.values():
            program.close()
        self._running.clear()
