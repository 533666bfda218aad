"""Finished games of the cycle that is being played, kept as they come; and who plays which."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from filelock import BaseFileLock

from tengen.data.format import SHARD, rows_to_batch, to_shard
from tengen.data.record import GameRecord
from tengen.data.store import Shard
from tengen.disk import try_lock, write_whole
from tengen.errors import StoreError

BLOCK = 64
"""Games that a process claims at once."""
_FLUSH_SECONDS = 5.0


def index_of(record: GameRecord) -> int:
    """The number of a self-play game in its cycle."""
    return int(record.source.rpartition("/")[2])


class PendingGames:
    """Games of one cycle in a folder of small files, each whole or not there.

    Any number of processes may add, and threads of one. A game that two of them played is the same game, and counts
    once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._waiting: list[GameRecord] = []
        self._flushed = time.monotonic()
        self._read: dict[Path, list[GameRecord]] = {}
        self._lock = threading.RLock()

    def begin(self) -> None:
        """Make the folder: the cycle is on, and whoever finds it may play."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, records: Sequence[GameRecord]) -> None:
        """Keep finished games; they reach the disk within seconds."""
        with self._lock:
            self._waiting += records
            if len(self._waiting) >= BLOCK or time.monotonic() - self._flushed > _FLUSH_SECONDS:
                self.flush()

    def flush(self) -> None:
        """Write what waits. Raises StoreError when the disk is full: the games that lie there are safe."""
        with self._lock:
            self._flushed = time.monotonic()
            if self._waiting:
                path = self._write(self._waiting)
                self._read[path] = self._waiting
                self._waiting = []

    def _write(self, records: Sequence[GameRecord]) -> Path:
        path = self.folder / f"games-{time.time_ns():x}-{os.getpid():x}-{len(records)}.arrow"
        shard = to_shard(pa.Table.from_batches([rows_to_batch(records)]))
        try:
            with write_whole(path) as new, pa.OSFile(str(new), "wb") as file, pa.ipc.new_file(file, SHARD) as out:
                out.write_batch(shard)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written: {error.strerror or error}; make room, the same command goes on"
            ) from error
        return path

    def games(self) -> dict[int, GameRecord]:
        """All games that lie in the folder or wait, by number."""
        with self._lock:
            for path in sorted(self.folder.glob("games-*.arrow")):
                if path not in self._read:
                    shard = Shard(path, int(path.stem.rpartition("-")[2]))
                    self._read[path] = [shard.row(i) for i in range(len(shard))]
            found = [record for records in self._read.values() for record in records] + self._waiting
        return {index_of(record): record for record in found}

    def clear(self) -> None:
        """Forget the folder, once its games are in the store."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Claims:
    """Hands out the numbers of the games that nobody has played, block by block, so that processes share a cycle.

    A block is claimed by a lock on a file, which the system frees when its process ends, however it ends.
    """

    def __init__(self, pending: PendingGames, games: int) -> None:
        self._pending = pending
        self._games = games
        self._held: list[BaseFileLock] = []
        self._mine: set[int] = set()

    def __iter__(self) -> Iterator[int]:
        """Numbers of games to play, in order; ends when every block was played or is claimed."""
        for block in range(-(-self._games // BLOCK)):
            if block in self._mine:
                continue
            numbers = range(block * BLOCK, min((block + 1) * BLOCK, self._games))
            if self._claim(block):
                played = self._pending.games()
                yield from (number for number in numbers if number not in played)

    def _claim(self, block: int) -> bool:
        try:
            lock = try_lock(self._pending.folder / f"block-{block:05d}.lock")
        except FileNotFoundError:  # the cycle is over, its folder gone
            return False
        if lock is None:
            return False
        self._held.append(lock)
        self._mine.add(block)
        return True

    def release(self) -> None:
        """Give all blocks back."""
        for lock in self._held:
            lock.release()
        self._held.clear()
        self._mine.clear()
