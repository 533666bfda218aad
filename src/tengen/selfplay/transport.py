"""Where the games, networks and claims of a self-play run go: the interface, and the run folder as one implementation.

Everything that processes of a run exchange while they play passes through `Transport`. A game depends on the recipe,
its cycle and number, the network and the stored games alone, so every transport gives the same games.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from filelock import BaseFileLock

from tengen.data.format import MANIFEST, SHARD, rows_to_batch, to_shard
from tengen.data.record import GameRecord
from tengen.data.store import Shard, Store
from tengen.data.writer import StoreAppender
from tengen.disk import try_lock, write_whole
from tengen.errors import StoreError, os_reason
from tengen.selfplay.folder import SelfPlayFolder

_logger = logging.getLogger(__name__)

BLOCK = 64
"""Games that a process claims at once."""
_FLUSH_SECONDS = 5.0


class Claim(Protocol):
    """The game numbers that this process plays. They are free again after `release` or when the process dies."""

    def __iter__(self) -> Iterator[int]:
        """Numbers that nobody has played or claimed, in order; each is claimed before it is returned."""

    def release(self) -> None:
        """Give all numbers back."""


class CycleGames(Protocol):
    """The finished games of the cycle that is being played, and which process plays which. Safe between threads."""

    def begin(self) -> None:
        """Open the cycle for all processes."""

    def is_open(self) -> bool:
        """Whether the cycle has begun and its games are not in the store yet."""

    def add(self, records: Sequence[GameRecord]) -> None:
        """Keep finished games; other processes see them within seconds. A game that was added twice counts once."""

    def flush(self) -> None:
        """Return once all added games are safe. Raises StoreError where they cannot be kept."""

    def numbers(self) -> set[int]:
        """The numbers of all games of the cycle so far, of every process."""

    def claim(self, total: int) -> Claim:
        """Claim games of the cycle, which has `total`."""


class Transport(Protocol):
    """What the processes of a run exchange. `Path`s are files on this machine; a remote transport downloads them."""

    def network(self, number: int) -> Path | None:
        """The network file of this number; None while there is none."""

    def cycle_games(self, cycle: int) -> CycleGames:
        """The games of a cycle until it is stored."""

    def cycles_stored(self) -> int:
        """Cycles whose games are all in the store."""

    def stored_games(self, cycle: int) -> list[GameRecord]:
        """The games of a stored cycle, by number."""

    def store_cycle(self, cycle: int) -> list[GameRecord]:
        """Move the games of a cycle into the store, which grows by one cycle, and return them by number.

        Interrupted at any moment, the same call completes it.
        """


class FolderTransport:
    """The run folder on a disk that all processes share. Safe between threads.

    The store stays open and grows with its manifest, so that a cycle costs the same however many are behind it. What is
    known of the games of the newest cycle stays too: a process that waits for those of others reads each file once.
    """

    def __init__(self, folder: SelfPlayFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._seen: tuple[int, int] | None = None  # of the manifest that `_store` has
        self._pending: FolderGames | None = None

    def network(self, number: int) -> Path | None:
        path = self._folder.network(number)
        return path if path.exists() else None

    def cycle_games(self, cycle: int) -> FolderGames:
        folder = self._folder.pending(cycle)
        with self._lock:
            if self._pending is None or self._pending.folder != folder:
                self._pending = FolderGames(folder)
            return self._pending

    def cycles_stored(self) -> int:
        if not (self._folder.games / MANIFEST).exists():
            return 0
        return len(self.store().shards)  # one shard a cycle

    def store(self) -> Store:
        """The games of all stored cycles. Raises StoreError where there are none."""
        with self._lock:
            try:
                status = (self._folder.games / MANIFEST).stat()
                seen = status.st_ino, status.st_mtime_ns
            except OSError:
                seen = None
            if self._store is None or seen is None or seen != self._seen:
                opened = self._store
                self._store = opened.refreshed() if opened is not None else Store.open(self._folder.games)
                self._seen = seen
            return self._store

    def stored_games(self, cycle: int) -> list[GameRecord]:
        shard = self.store().shards[cycle]
        return [shard.row(i) for i in range(len(shard))]

    def store_cycle(self, cycle: int) -> list[GameRecord]:
        with self._lock:
            self._pending = None  # the games of files that it found damaged were played again
        pending = self.cycle_games(cycle)
        if self.cycles_stored() > cycle:
            ordered = self.stored_games(cycle)
        else:
            games = pending.games()
            if pending.damaged:
                raise StoreError(f"{pending.damaged[0]}: its games must be played again; the same command does it")
            ordered = [games[number] for number in sorted(games)]
            with StoreAppender(self._folder.games) as store:
                store.append(ordered)
        pending.clear()
        return ordered


def number_of(record: GameRecord) -> int:
    """The number of a self-play game in its cycle."""
    return _number(record.source)


def _number(source: str) -> int:
    return int(source.rpartition("/")[2])


class FolderGames:
    """`CycleGames` as a folder of small files, each complete or absent. Blocks are claimed by locks on files.

    Of the files that were read it keeps the numbers of their games: records would keep the files open.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = folder / "open"  # while the cycle is: filelock may make a folder anew that was removed
        self.damaged: list[Path] = []  # files that could not be read; their games count as unplayed
        self._waiting: list[GameRecord] = []
        self._flushed = time.monotonic()
        self._read: dict[Path, list[int]] = {}
        self._lock = threading.RLock()

    def begin(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._mark.touch()

    def is_open(self) -> bool:
        return self._mark.exists()

    def add(self, records: Sequence[GameRecord]) -> None:
        with self._lock:
            self._waiting += records
            if len(self._waiting) >= BLOCK or time.monotonic() - self._flushed > _FLUSH_SECONDS:
                self.flush()

    def flush(self) -> None:
        with self._lock:
            self._flushed = time.monotonic()
            if self._waiting:
                path = self._write(self._waiting)
                self._read[path] = [number_of(record) for record in self._waiting]
                self._waiting = []

    def numbers(self) -> set[int]:
        with self._lock:
            there = set(self.folder.glob("games-*.arrow"))  # another process may have set one aside
            self._read = {path: numbers for path, numbers in self._read.items() if path in there}
            for path, shard in self._shards(self._read):
                self._read[path] = [_number(source) for source in shard.batch.column("source").to_pylist()]
            return {number_of(record) for record in self._waiting}.union(*self._read.values())

    def games(self) -> dict[int, GameRecord]:
        """All games of the cycle so far by number, of every process."""
        with self._lock:
            found = [shard.row(i) for _, shard in self._shards() for i in range(len(shard))] + self._waiting
        return {number_of(record): record for record in found}

    def _shards(self, known: Container[Path] = ()) -> Iterator[tuple[Path, Shard]]:
        """The files that are not in `known`. None follows once another process has stored the cycle."""
        for path in sorted(path for path in self.folder.glob("games-*.arrow") if path not in known):
            try:
                yield path, Shard(path, int(path.stem.rpartition("-")[2]))
            except StoreError as error:
                if not self.is_open():
                    return
                # An error of the system, such as too many open files, says nothing about the games.
                if path.exists() and getattr(error.__cause__, "errno", None) is not None:
                    raise
                self._set_aside(path)

    def claim(self, total: int) -> FolderClaim:
        return FolderClaim(self, total)

    def clear(self) -> None:
        """Remove the folder, once its games are in the store."""
        # It goes at once: another process that finds it half empty would take the removed games for unplayed ones.
        stored = self.folder.with_name(self.folder.name + ".stored")
        with contextlib.suppress(OSError):  # it is gone, or Windows keeps a folder with open files in its place
            self.folder.rename(stored)
        for folder in (stored, self.folder):
            shutil.rmtree(folder, ignore_errors=True)

    def _set_aside(self, path: Path) -> None:
        aside = path.with_name(path.name + ".damaged")
        self.damaged.append(aside)
        with contextlib.suppress(FileNotFoundError):  # another process has done it
            path.replace(aside)
            _logger.warning("%s is damaged: it is now %s, and its games are played again", path, aside.name)

    def _write(self, records: Sequence[GameRecord]) -> Path:
        path = self.folder / f"games-{time.time_ns():x}-{os.getpid():x}-{len(records)}.arrow"
        shard = to_shard(pa.Table.from_batches([rows_to_batch(records)]))
        try:
            with (
                write_whole(path) as new,
                pa.OSFile(os.fsencode(new), "wb") as file,
                pa.ipc.new_file(file, SHARD) as out,
            ):
                out.write_batch(shard)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written: {os_reason(error)}; make room, the same command resumes the run"
            ) from error
        return path


class FolderClaim:
    """Claims blocks of games by locks on files, which the system frees when a process ends, however it ends."""

    def __init__(self, games: FolderGames, total: int) -> None:
        self._games = games
        self._total = total
        self._held: dict[int, BaseFileLock] = {}

    def __iter__(self) -> Iterator[int]:
        for block in range(-(-self._total // BLOCK)):
            if block not in self._held and self._claim(block):
                played = self._games.numbers()
                if not self._games.is_open():
                    return  # `played` may lack games that are in the store
                numbers = range(block * BLOCK, min((block + 1) * BLOCK, self._total))
                yield from (number for number in numbers if number not in played)

    def release(self) -> None:
        for lock in self._held.values():
            lock.release()
        self._held.clear()

    def _claim(self, block: int) -> bool:
        try:
            lock = try_lock(self._games.folder / f"block-{block:05d}.lock")
        except (FileNotFoundError, FileExistsError):
            return False  # the cycle is over and its folder removed, perhaps while filelock made it
        if lock is not None:
            self._held[block] = lock
        return lock is not None
