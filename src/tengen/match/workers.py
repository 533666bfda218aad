"""The games of a match in worker processes, which end with their parent.

concurrent.futures was tried: its processes outlive a parent that is killed, cannot be ended while they compute, and
cannot be addressed one by one, so that each could start its own players.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

from tengen.errors import TengenError
from tengen.machine import interrupt_blocked, signal_self, when_parent_ends
from tengen.match.batch import BatchMatch
from tengen.match.folder import PlayedRecord
from tengen.match.settings import MatchSettings
from tengen.match.spec import check_registered
from tengen.runs.interruption import TERMINAL_SIGNALS

_PATIENCE = 30.0  # seconds in which a worker ends its programs, each of which may take three
_AGAIN = 5.0  # seconds after which a worker that has not ended is asked once more


class WorkerPool:
    """Worker processes that play games by number. To open it waits until every player is ready in one of them.

    `programs` are those of `BatchMatch`. Raises TengenError when a player cannot start, or when a worker dies.
    """

    def __init__(self, settings: MatchSettings, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._processes: dict[Connection, BaseProcess] = {}
        self.programs: dict[str, str] = {}
        names, registered = [spec.name for spec in settings.players], settings.registered()
        try:
            with interrupt_blocked():  # until the workers ignore it: it would end their imports with a traceback
                for i in range(workers):
                    ours, theirs = context.Pipe()
                    args = (settings, registered, names[i::workers], theirs)
                    process = context.Process(target=_run_worker, args=args, daemon=True)
                    process.start()
                    theirs.close()
                    self._processes[ours] = process
            for connection in self._processes:
                self.programs |= self._receive(connection)
        except BaseException:
            self.close()
            raise

    def play(self, indices: Iterable[int]) -> Iterator[list[PlayedRecord]]:
        """Play these games, in the order in which they end.

        A number is asked for when a worker is free, after the caller has seen all games that ended before.
        """
        waiting = iter(indices)
        busy = {connection for connection in self._processes if self._send(connection, waiting)}
        while busy:
            ready = set(wait(list(busy)))
            # Not by its class: on Windows a pipe has another one than Connection.
            for connection in [c for c in self._processes if c in ready]:
                played: PlayedRecord = self._receive(connection)
                yield [played]
                if not self._send(connection, waiting):
                    busy.discard(connection)

    def _send(self, connection: Connection, waiting: Iterator[int]) -> bool:
        """Send a worker the next game; False if there is none."""
        index = next(waiting, None)
        if index is not None:
            try:
                connection.send(index)
            except ConnectionError:
                raise self._death(connection) from None
        return index is not None

    def close(self) -> None:
        """End the workers with all that they have started; games in progress are given up."""
        deadline = time.monotonic() + _PATIENCE
        while (living := [one for one in self._processes.values() if one.is_alive()]) and time.monotonic() < deadline:
            for process in living:
                process.terminate()
            wait([one.sentinel for one in living], _AGAIN)
        for connection, process in self._processes.items():
            process.kill()
            process.join()
            connection.close()
        self._processes.clear()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self, connection: Connection) -> Any:
        """The next message of a worker: its programs when its players are ready, then games; its error is raised."""
        try:
            answer = connection.recv()
        except (EOFError, ConnectionError):
            raise self._death(connection) from None
        if isinstance(answer, TengenError):
            raise answer
        return answer

    def _death(self, connection: Connection) -> TengenError:
        process = self._processes[connection]
        process.join(5)
        return TengenError(
            f"a worker of the match died (status {process.exitcode}); the same command continues the match"
        )


def _run_worker(settings: MatchSettings, registered: Sequence[str], names: Sequence[str], parent: Connection) -> None:
    """A worker's main function: start these players, then play a game for each number until the parent is gone.

    `registered` are the players that the parent has registered.
    """
    for number in TERMINAL_SIGNALS:  # they reach the parent, which ends the workers
        signal.signal(number, signal.SIG_IGN)
    if sys.platform != "win32":  # the parent blocked it, and programs that are started here inherit that
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _Leave())
    when_parent_ends(_leave_soon)
    try:
        check_registered(registered)
        with BatchMatch(settings, at_once=1) as match:
            try:
                match.start(names)
                parent.send(match.programs)
                while True:
                    for (played,) in match.play([parent.recv()]):
                        parent.send(played.record())
            finally:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which would disturb the end of our programs
    except TengenError as error:
        parent.send(TengenError(str(error)))
    except (EOFError, ConnectionError):
        pass


class _Leave:
    """Ends a worker at SIGTERM.

    A signal that comes right before a system call that waits is handled only after it, and Python drops what a handler
    raises in a callback. So it is sent again and counts again after a while; not at once, as it comes more than once
    and must not disturb the end of a program that was just started.
    """

    def __init__(self) -> None:
        self._since = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._since > 0.9 * _AGAIN:
            self._since = now
            sys.exit(0)


def _leave_soon() -> None:
    while True:
        signal_self(signal.SIGTERM)
        time.sleep(_AGAIN)
