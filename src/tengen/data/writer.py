"""The game store, written: shards beside the final name, then one rename."""

from __future__ import annotations

import datetime
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from tengen.data.lock import Lock
from tengen.data.manifest import MANIFEST, totals, write_manifest
from tengen.data.record import GameRecord
from tengen.data.schema import ROWS, SHARD, rows_to_batch, to_shard
from tengen.disk import DISK_FULL, write_whole
from tengen.errors import StoreError

ROWS_A_SHARD = 8192
_ROWS_A_BATCH = 256


class StoreWriter:
    """Writes a game store; use it as a context manager.

    The shards go to a hidden folder beside `path` that takes the name `path` only when the block ends without an
    error, so whatever interrupts it, `path` is either the whole store, the one that was there before, or nothing. A
    folder left by a killed process is cleared by the next writer. `facts` may be filled until the block ends: they
    go into the manifest.

    Raises StoreError when `path` is there already (and `overwrite` is false), when another process writes the same
    store, and when the disk is full.
    """

    def __init__(self, path: str | os.PathLike[str], overwrite: bool = False, rows_a_shard: int = ROWS_A_SHARD) -> None:
        self.path = Path(os.path.abspath(path))
        self.folder = self.path.with_name(f".{self.path.name}.partial")
        self.facts: dict[str, Any] = {}
        self._overwrite = overwrite
        self._rows_a_shard = rows_a_shard
        self._records: list[GameRecord] = []
        self._batches: list[pa.RecordBatch] = []
        self._waiting = 0
        self._shards: list[dict[str, Any]] = []
        self._lock: Lock | None = None

    def __enter__(self) -> Self:
        check_free(self.path, self._overwrite)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(self.path)
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error.strerror}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
            elif isinstance(error, OSError) and error.errno in DISK_FULL:
                raise self._explained(error) from error
        except OSError as problem:
            raise self._explained(problem) from problem
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
            if self._lock is not None:
                self._lock.release()

    def add(self, record: GameRecord) -> None:
        """Append one game."""
        self._records.append(record)
        if len(self._records) >= _ROWS_A_BATCH:
            self._pack_records()

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Append rows of schema `schema.ROWS`."""
        if batch.schema != ROWS:
            raise StoreError(f"rows of another schema: {batch.schema.names}")
        self._pack_records()
        self._batches.append(batch)
        self._waiting += batch.num_rows
        while self._waiting >= self._rows_a_shard:
            self._write_shard(self._rows_a_shard)

    def flush(self) -> dict[str, int]:
        """Write what is waiting as a last shard; return the totals: games, moves and bytes."""
        self._pack_records()
        if self._waiting:
            self._write_shard(self._waiting)
        return totals(self._shards)

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
            raise self._explained(error) from error

    def _finish(self) -> None:
        self.flush()
        write_manifest(self.folder, self._shards, {"created": now(), **self.facts})
        old = self.path.with_name(f".{self.path.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        check_free(self.path, self._overwrite)
        if self.path.exists():
            self.path.rename(old)
        self.folder.rename(self.path)
        shutil.rmtree(old, ignore_errors=True)

    def _explained(self, error: OSError) -> StoreError:
        if error.errno in DISK_FULL:
            return StoreError(
                f"the disk is full: {self.path} was not finished and what was written is removed; "
                "make room or choose another folder"
            )
        return StoreError(f"{self.path} cannot be written: {error.strerror or error}")


def write_shard(folder: Path, number: int, rows: pa.Table) -> dict[str, Any]:
    """Write rows of schema ROWS as shard `number` of a store; return what the manifest says of it."""
    shard = to_shard(rows)
    path = folder / f"shard-{number:05d}.arrow"
    with write_whole(path) as temporary, pa.OSFile(str(temporary), "wb") as file, pa.ipc.new_file(file, SHARD) as out:
        out.write_batch(shard)
    moves = int(np.asarray(shard.column("moves").offsets)[-1])
    return {"file": path.name, "rows": shard.num_rows, "moves": moves, "bytes": path.stat().st_size}


def now() -> str:
    """The time as manifests hold it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def check_free(path: Path, overwrite: bool) -> None:
    """Raise StoreError unless a store may be written to `path`.

    An empty folder may always be taken, a finished store only with `overwrite`, anything else never.
    """
    if not path.exists():
        return
    if path.is_dir() and (not any(path.iterdir()) or ((path / MANIFEST).is_file() and overwrite)):
        return
    if path.is_dir() and (path / MANIFEST).is_file():
        raise StoreError(f"{path} is a finished store already; pass --force to replace it, or choose another folder")
    raise StoreError(f"{path} is there already and is no game store; choose another folder")
