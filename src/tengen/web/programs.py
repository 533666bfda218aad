"""The GTP programs of a page: each on a thread of its own, so that the page goes on whatever a program does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from tengen.engine import Clock, TimeControl
from tengen.game import Game
from tengen.gtp.client import GtpClient
from tengen.gtp.program import GtpProgram, ProgramMove, ProgramSettings

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
