"""Several tables at once, each in a process of its own that ends with its parent, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType, TracebackType
from typing import Any

from tengen.errors import TengenError
from tengen.machine import when_parent_ends
from tengen.match.outcome import Outcome
from tengen.match.settings import MatchSettings
from tengen.match.worker import Table

Played = tuple[Outcome, bytes]

_PATIENCE = 30.0  # seconds in which a worker ends its programs, each of which may take three


class Crew:
    """Worker processes that play games by number. Opening it waits until every player is ready in one of them.

    Raises TengenError when a player cannot start, or when a worker dies.
    """

    def __init__(self, settings: MatchSettings, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._processes: dict[Connection, BaseProcess] = {}
        names = [spec.name for spec in settings.players]
        try:
            for i in range(workers):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(settings, names[i::workers], theirs), daemon=True)
                process.start()
                theirs.close()
                self._processes[ours] = process
            for connection in self._processes:
                self._receive(connection)
        except BaseException:
            self.close()
            raise

    def play(self, indices: Iterable[int]) -> Iterator[Played]:
        """Play these games; they come as they end, not in their order.

        A number is asked for when a worker is free, after the caller has seen all games that ended before.
        """
        waiting = iter(indices)
        busy = {connection for connection in self._processes if self._send(connection, waiting)}
        while busy:
            for connection in [c for c in wait(list(busy)) if isinstance(c, Connection)]:
                played: Played = self._receive(connection)
                yield played
                if not self._send(connection, waiting):
                    busy.discard(connection)

    def _send(self, connection: Connection, waiting: Iterator[int]) -> bool:
        """Give a worker the next game; whether there was one."""
        index = next(waiting, None)
        if index is not None:
            try:
                connection.send(index)
            except ConnectionError:
                raise self._death(connection) from None
        return index is not None

    def close(self) -> None:
        """End the workers with all that they have started; games in progress are given up."""
        for process in self._processes.values():
            process.terminate()
        for connection, process in self._processes.items():
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()
                process.join()
            connection.close()
        self._processes.clear()

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, connection: Connection) -> Any:
        """What a worker sends: None when its players are ready, then games; its error is raised here."""
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
            f"a worker of the match died (status {process.exitcode}); the same command goes on with the games left"
        )


def _work(settings: MatchSettings, names: Sequence[str], parent: Connection) -> None:
    """The life of a worker: these players ready, then a game for every number that comes, until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    signal.signal(signal.SIGTERM, _leave)
    when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
    table: Table | None = None
    try:
        table = Table(settings)
        table.check(names)
        parent.send(None)
        while True:
            parent.send(table.play(parent.recv()))
    except TengenError as error:
        parent.send(TengenError(str(error)))
    except (EOFError, ConnectionError):
        pass
    finally:
        if table is not None:
            table.close()


def _leave(number: int, frame: FrameType | None) -> None:
    # The parent's end sends the signal once more, and must not disturb the end of our programs.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)
