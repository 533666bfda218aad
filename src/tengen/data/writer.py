"""Writing game stores: `StoreWriter` writes a store once, `StoreAppender` adds games to one."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from tengen.checksums import file_digest
from tengen.data.format import (
    MANIFEST,
    ROWS,
    SHARD,
    is_moved_away,
    old_place,
    read_manifest,
    rows_to_batch,
    to_shard,
    totals,
    write_manifest,
)
from tengen.data.record import GameRecord, check_record, with_hash
from tengen.disk import DISK_FULL, PARTIAL, try_lock, write_whole
from tengen.errors import StoreError, os_reason

ROWS_A_SHARD = 8192
_ROWS_A_BATCH = 256


class StoreWriter:
    """Writes a game store; use it as a context manager.

    The shards, of `rows_a_shard` games each, are written to a hidden folder beside `path`. It is renamed to `path` when
    the block ends without an error. After an interruption `path` is the complete new store, the store that was there
    before, or nothing. The next writer removes a folder that a killed process left, and puts an old store back that one
    had moved away (`old_place`). `facts` may be filled until the block ends. They are written into the manifest.

    Raises StoreError when `path` exists already (unless `overwrite` is set and it is a store), when another process
    writes the same store, and when the disk is full.
    """

    def __init__(self, path: str | os.PathLike[str], overwrite: bool = False, rows_a_shard: int = ROWS_A_SHARD) -> None:
        self.path = Path(os.path.realpath(path))
        self.folder = _beside(self.path, PARTIAL)
        self.facts: dict[str, Any] = {}
        self._overwrite = overwrite
        self._rows_a_shard = rows_a_shard
        self._records: list[GameRecord] = []
        self._batches: list[pa.RecordBatch] = []
        self._waiting = 0
        self._shards: list[dict[str, Any]] = []
        self._lock: StoreLock | None = None

    def __enter__(self) -> Self:
        check_free(self.path, self._overwrite)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = StoreLock(self.path)
            try:
                if put_back(self.path):
                    check_free(self.path, self._overwrite)
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir()
            except BaseException:
                self._lock.release()
                raise
        except OSError as error:
            raise self._error(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
            elif isinstance(error, OSError) and error.errno in DISK_FULL:
                raise self._error(error) from error
        except OSError as problem:
            raise self._error(problem) from problem
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def add(self, record: GameRecord) -> None:
        """Append one game, with its hash (`game_hash`) where it has none.

        Raises StoreError outside the `with` block, and for a record that no reader could use.
        """
        self._check_open()
        check_record(record)
        self._records.append(with_hash(record))
        if len(self._records) >= _ROWS_A_BATCH:
            self._pack_records()

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Append rows of schema `format.ROWS`. Raises StoreError for another schema and outside the `with` block."""
        self._check_open()
        if batch.schema != ROWS:
            raise StoreError(f"rows of another schema: {batch.schema.names}")
        self._pack_records()
        self._batches.append(batch)
        self._waiting += batch.num_rows
        while self._waiting >= self._rows_a_shard:
            self._write_shard(self._rows_a_shard)

    def flush(self) -> dict[str, int]:
        """Write the rows that wait as a last shard; return the totals: games, moves and bytes."""
        self._pack_records()
        if self._waiting:
            self._write_shard(self._waiting)
        return totals(self._shards)

    def _check_open(self) -> None:
        if self._lock is None:
            raise StoreError(f"{self.path} is not open: add games within the 'with' block of its writer")

    def _pack_records(self) -> None:
        if self._records:
            records, self._records = self._records, []
            self.add_batch(rows_to_batch(records))

    def _write_shard(self, rows: int) -> None:
        table = pa.Table.from_batches(self._batches, ROWS)
        rest = table.slice(rows)
        self._batches = rest.to_batches()
        self._waiting = rest.num_rows
        try:
            self._shards.append(write_shard(self.folder, len(self._shards), table.slice(0, rows)))
        except OSError as error:
            raise self._error(error) from error

    def _finish(self) -> None:
        self.flush()
        write_manifest(self.folder, self._shards, {"created": now(), **self.facts})
        _remove_old(self.path)
        check_free(self.path, self._overwrite)
        try:
            if self.path.exists():
                self.path.rename(old_place(self.path))
            self.folder.rename(self.path)
        except BaseException:
            with suppress(OSError):
                put_back(self.path)
            raise
        _remove_old(self.path)

    def _error(self, error: OSError) -> StoreError:
        done = "was not finished and what was written is removed; make room or choose another folder"
        return _write_error(self.path, error, done)


def write_shard(folder: Path, number: int, rows: pa.Table) -> dict[str, Any]:
    """Write rows of schema ROWS as shard `number` of a store; return its entry for the manifest."""
    shard = to_shard(rows)
    path = folder / f"shard-{number:05d}.arrow"
    with (
        write_whole(path) as temporary,
        pa.OSFile(os.fsencode(temporary), "wb") as file,
        pa.ipc.new_file(file, SHARD) as out,
    ):
        out.write_batch(shard)
    moves, size = int(np.asarray(shard.column("moves").offsets)[-1]), path.stat().st_size
    return {"file": path.name, "rows": shard.num_rows, "moves": moves, "bytes": size, "sha256": file_digest(path)}


def now() -> str:
    """The time now in the form of manifests."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def check_free(path: Path, overwrite: bool) -> None:
    """Raise StoreError unless a store may be written to `path`.

    An empty folder is always free, a finished store only with `overwrite`, anything else never.
    """
    if not path.exists():
        return
    if path.is_dir() and (not any(path.iterdir()) or ((path / MANIFEST).is_file() and overwrite)):
        return
    if path.is_dir() and (path / MANIFEST).is_file():
        raise StoreError(f"{path} is a finished store already; pass --force to replace it, or choose another folder")
    raise StoreError(f"{path} is there already and is no game store; choose another folder")


def put_back(path: Path) -> bool:
    """Put a store back that a kill left in its `old_place`; whether there was one. Its lock must be held."""
    if not is_moved_away(path):
        return False
    if path.exists():
        path.rmdir()
    old_place(path).rename(path)
    return True


def _remove_old(path: Path) -> None:
    """Remove what is in the `old_place` of a store, the manifest first: after a kill the rest is no store."""
    with suppress(OSError):
        (old_place(path) / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(old_place(path), ignore_errors=True)


def _beside(path: Path, end: str) -> Path:
    """The hidden file or folder beside a store with its name and this end. Raises StoreError where it has no name."""
    if not path.name:
        raise StoreError(f"{path} is the root of a file system, which cannot be a game store; choose another folder")
    return path.with_name(f".{path.name}{end}")


class StoreLock:
    """Held by the process that writes the store at `path`, until `release()` or the end of the process.

    The lock is a hidden file beside the store. Raises StoreError when another process holds it.
    """

    def __init__(self, path: Path) -> None:
        self._path = _beside(path, ".lock")
        lock = try_lock(self._path)
        if lock is None:
            raise StoreError(f"{path}: another process is writing this store; wait for it to end")
        self._lock = lock

    @property
    def is_held(self) -> bool:
        """Whether it is not released."""
        return self._lock.is_locked

    def release(self) -> None:
        """Release the store, and remove the file: a process that opened it before locks a new one."""
        if self._lock.is_locked:
            with suppress(OSError):  # Windows keeps a file that is open
                self._path.unlink()
            self._lock.release()


def _write_error(path: Path, error: OSError, disk_full: str) -> StoreError:
    if error.errno in DISK_FULL:
        return StoreError(f"the disk is full: {path} {disk_full}")
    return StoreError(f"{path} cannot be written: {os_reason(error)}")


class StoreAppender:
    """Adds games to the store at `path`. Creates an empty store, with `facts` in its manifest, where there is none.

    Each call of `append` writes one shard and then a manifest that names it, both atomically. If the process is killed,
    the store holds the games of all calls that returned, possibly those of the last call too, and nothing else. A shard
    that the manifest does not name is ignored and overwritten. Other processes may read the store meanwhile.

    Raises StoreError when the folder holds something else, when another process writes the store, and when the disk is
    full. After an error the store is unchanged and the call may be repeated; `rows` is the number of games in it.
    """

    def __init__(self, path: str | os.PathLike[str], facts: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.path = Path(os.path.realpath(path))
        self._new = {"created": now(), **facts}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = StoreLock(self.path)
            try:
                self._facts = self._open()
            except BaseException:
                self._lock.release()
                raise
        except OSError as error:
            raise self._error(error) from error
        self._shards: list[dict[str, Any]] = self._facts.pop("shards")

    @property
    def facts(self) -> Mapping[str, Any]:
        """The entries of the manifest except the shards."""
        return self._facts

    @property
    def rows(self) -> int:
        """Games in the store."""
        return totals(self._shards)["games"]

    def append(self, records: Iterable[GameRecord]) -> None:
        """Add games at the end, with their hash (`game_hash`) where they have none. Without records nothing is written.

        Raises StoreError after `close`, and for a record that no reader could use.
        """
        self._check_open()
        records = list(records)
        for record in records:
            check_record(record)
        batch = rows_to_batch(map(with_hash, records))
        if not batch.num_rows:
            return
        try:
            shard = write_shard(self.path, len(self._shards), pa.Table.from_batches([batch], ROWS))
            write_manifest(self.path, [*self._shards, shard], self._facts)
        except OSError as error:
            raise self._error(error) from error
        finally:
            # An error or Ctrl-C may come after the manifest was renamed. The file on disk is right.
            self._shards = read_manifest(self.path)["shards"]

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Replace the entries of the manifest except the shards. Raises StoreError after `close`."""
        self._check_open()
        try:
            write_manifest(self.path, self._shards, {**self._facts, **facts})
        except OSError as error:
            raise self._error(error) from error
        self._facts = {**self._facts, **facts}

    def close(self) -> None:
        """Release the store for other writers."""
        self._lock.release()

    def _check_open(self) -> None:
        if not self._lock.is_held:  # another process may write the store by now
            raise StoreError(f"{self.path} is closed: make another StoreAppender to add games")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> dict[str, Any]:
        put_back(self.path)
        self.path.mkdir(exist_ok=True)
        if not (self.path / MANIFEST).exists():
            if strange := [entry.name for entry in self.path.iterdir() if not entry.name.endswith(PARTIAL)]:
                raise StoreError(f"{self.path} holds {strange[0]} and is no game store; choose another folder")
            write_manifest(self.path, [], self._new)
        return read_manifest(self.path)

    def _error(self, error: OSError) -> StoreError:
        return _write_error(self.path, error, "keeps the games that it had and none of the new ones; make room")
