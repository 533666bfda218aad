"""Worker processes of a match: which of them has ended a game."""

from __future__ import annotations

import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from tengen.match import workers
from tengen.match.settings import MatchSettings
from tengen.match.workers import WorkerPool


class Pipe:
    """A connection of another class, as on Windows."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_games_come_through_connections_of_any_class() -> None:
    conditions = {"size": 5, "opening": 2, "turns": 4}
    with WorkerPool(MatchSettings.of("a=random", "b=random", games=2, conditions=conditions), 1) as pool:
        pool._processes = {Pipe(ours): process for ours, process in pool._processes.items()}  # type: ignore[misc]
        assert [outcome.index for ((outcome, _),) in pool.play([0, 1])] == [0, 1]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says it")
def test_programs_of_a_worker_do_not_inherit_that_ctrl_c_is_blocked() -> None:
    with WorkerPool(MatchSettings.of("a=random", "b=random", games=2), 1) as pool:
        (process,) = pool._processes.values()
        status = Path(f"/proc/{process.pid}/status").read_text()
    blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
    assert not blocked & 1 << signal.SIGINT - 1


def test_a_signal_that_was_lost_ends_a_worker_at_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that came right before the worker waited for its program's move was handled only after the move."""
    now = 100.0
    monkeypatch.setattr(workers.time, "monotonic", lambda: now)
    leave = workers._Leave()
    with pytest.raises(SystemExit):
        leave(15, None)
    leave(15, None)  # the same request: from the group, and from the parent
    now += 5
    with pytest.raises(SystemExit):
        leave(15, None)
