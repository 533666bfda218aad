"""A game store that grows, and is whole at every moment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from tengen.data.lock import Lock
from tengen.data.manifest import MANIFEST, read_manifest, totals, write_manifest
from tengen.data.record import GameRecord
from tengen.data.schema import ROWS, rows_to_batch
from tengen.data.writer import now, write_shard
from tengen.disk import DISK_FULL, PARTIAL
from tengen.errors import StoreError


class StoreAppender:
    """Adds games to the store at `path`, which is created, empty, where there is none.

    Every call of `append` writes one shard, then a manifest that names it, each under a temporary name first: killed
    at any moment, the store holds all games of the calls that returned, perhaps those of the last one too, and
    nothing else. A shard that the manifest does not name is ignored and overwritten. Others may open the store
    meanwhile.

    Raises StoreError when the folder holds something else, when another process writes the store, and when the disk is
    full: then the store is what it was, and the same call may be tried again (`rows` tells).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.abspath(path))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(self.path)
            try:
                self._facts = self._open()
            except BaseException:
                self._lock.release()
                raise
        except OSError as error:
            raise self._explained(error) from error
        self._shards: list[dict[str, Any]] = self._facts.pop("shards")

    @property
    def rows(self) -> int:
        """Games in the store."""
        return totals(self._shards)["games"]

    def append(self, records: Iterable[GameRecord]) -> None:
        """Add games behind those that are there; none is no change."""
        batch = rows_to_batch(records)
        if not batch.num_rows:
            return
        try:
            shard = write_shard(self.path, len(self._shards), pa.Table.from_batches([batch], ROWS))
            write_manifest(self.path, [*self._shards, shard], self._facts)
        except OSError as error:
            raise self._explained(error) from error
        finally:
            # An error, or Ctrl-C, may come after the manifest has got its name: what it says is what there is.
            self._shards = read_manifest(self.path)["shards"]

    def close(self) -> None:
        """Let others write the store."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> dict[str, Any]:
        self.path.mkdir(exist_ok=True)
        if not (self.path / MANIFEST).exists():
            if strange := [entry.name for entry in self.path.iterdir() if not entry.name.endswith(PARTIAL)]:
                raise StoreError(f"{self.path} holds {strange[0]} and is no game store; choose another folder")
            write_manifest(self.path, [], {"created": now()})
        return read_manifest(self.path)

    def _explained(self, error: OSError) -> StoreError:
        if error.errno in DISK_FULL:
            return StoreError(
                f"the disk is full: {self.path} keeps the games that it had and none of the new ones; make room"
            )
        return StoreError(f"{self.path} cannot be written: {error.strerror or error}")
