"""Worker processes of a match: which of them has ended a game."""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

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
