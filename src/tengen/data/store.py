"""Reading game stores: folders of memory-mapped Arrow shards that a manifest lists."""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tengen.checksums import file_digest
from tengen.data.format import AGAIN, ROWS, current, read_manifest
from tengen.data.record import GameRecord, unpack_ownership
from tengen.data.writer import StoreWriter
from tengen.errors import StoreError

__all__ = ["NO_DATE", "Shard", "Store", "StoreWriter"]

NO_DATE = np.iinfo(np.int32).min
"""Value of `Shard.date` where the date is unknown."""
_RESTING = ("hash", "recorded")


class Shard:
    """One memory-mapped file of games as numpy columns. Row i of a list column is `values[offsets[i]:offsets[i + 1]]`.

    List columns are views of the mapped file and cost no memory. Unknown is NaN in `komi`, `score` and `weight`, -1 in
    `winner` and `player`, `NO_DATE` in `date`, and an empty list in `ownership` (packed bytes, see `unpack_ownership`)
    and in the columns of self-play.

    Raises StoreError for a file that is missing, damaged, has another number of rows, or another SHA-256 than `digest`
    where that is given.
    """

    def __init__(self, path: Path, rows: int, digest: str | None = None) -> None:
        self._path, self._rows, self._digest = path, rows, digest
        self._batch: pa.RecordBatch | None = self._opened()

    def _opened(self) -> pa.RecordBatch:
        path, digest = self._path, self._digest
        try:
            altered = digest is not None and file_digest(path) != digest
            with pa.memory_map(os.fsencode(path)) as file:
                reader = pa.ipc.open_file(file)
                batch = current(reader.get_batch(0)) if reader.num_record_batches == 1 else None
            if batch is not None:
                batch.validate(full=True)  # numpy does not check offsets that point outside the file
        except (OSError, ValueError, pa.ArrowException) as error:
            raise StoreError(f"{path}: damaged or missing shard ({error}); {AGAIN}") from error
        if altered:
            raise StoreError(f"{path}: altered shard, which does not have the SHA-256 in the manifest; {AGAIN}")
        if batch is None or batch.num_rows != self._rows:
            raise StoreError(f"{path}: not the {self._rows} games that the manifest names; {AGAIN}")
        return batch

    def __len__(self) -> int:
        return self._rows

    @property
    def batch(self) -> pa.RecordBatch:
        """The mapped file, opened again after `rest`; raises StoreError as the first time."""
        batch = self._batch
        if batch is None:
            batch = self._batch = self._opened()
        return batch

    def rest(self) -> None:
        """Give up the file and all columns but `hash` and `recorded`, which are copied. Other threads may read on."""
        if self._batch is not None:
            self.__dict__.update({name: np.array(getattr(self, name)) for name in _RESTING})
            self._batch = None
            for name in [name for name, found in vars(Shard).items() if isinstance(found, cached_property)]:
                if name not in _RESTING:
                    self.__dict__.pop(name, None)

    @cached_property
    def moves(self) -> npt.NDArray[np.uint16]:
        """Moves of all games, flat: the point, with bit 15 set for White."""
        return self._values("moves")

    @cached_property
    def offsets(self) -> npt.NDArray[np.int32]:
        """Start of every game in `moves`, int32 [rows + 1]."""
        return self._offsets("moves")

    @cached_property
    def black_stones(self) -> npt.NDArray[np.uint16]:
        return self._values("black_stones")

    @cached_property
    def black_offsets(self) -> npt.NDArray[np.int32]:
        return self._offsets("black_stones")

    @cached_property
    def white_stones(self) -> npt.NDArray[np.uint16]:
        return self._values("white_stones")

    @cached_property
    def white_offsets(self) -> npt.NDArray[np.int32]:
        return self._offsets("white_stones")

    @cached_property
    def ownership(self) -> npt.NDArray[np.uint8]:
        """Packed owners of all games, flat: 2 bits a point."""
        data = self.batch.column("ownership").buffers()[2]
        return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)

    @cached_property
    def ownership_offsets(self) -> npt.NDArray[np.int32]:
        return np.frombuffer(self.batch.column("ownership").buffers()[1], np.int32, len(self) + 1)

    @cached_property
    def visits(self) -> npt.NDArray[np.uint32]:
        """Visits of all moves of all games, flat: the point in the low and the count in the high 16 bits."""
        return np.asarray(self.batch.column("visits").values.values.to_numpy())

    @cached_property
    def visit_offsets(self) -> npt.NDArray[np.int32]:
        """Start of every move's list in `visits`, int32 [lists + 1]."""
        return np.asarray(self.batch.column("visits").values.offsets.to_numpy())

    @cached_property
    def visit_rows(self) -> npt.NDArray[np.int32]:
        """Start of every game in the lists, int32 [rows + 1]; a game has a list a move or none."""
        return self._offsets("visits")

    @cached_property
    def recorded(self) -> npt.NDArray[np.int64]:
        """Positions with visits in every game, int64 [rows]."""
        before = np.concatenate([[0], np.cumsum(np.diff(self.visit_offsets) > 0)])
        return np.diff(before[self.visit_rows])

    @cached_property
    def root_values(self) -> npt.NDArray[np.float32]:
        return self._values("root_values")

    @cached_property
    def root_offsets(self) -> npt.NDArray[np.int32]:
        return self._offsets("root_values")

    @cached_property
    def surprises(self) -> npt.NDArray[np.float32]:
        return self._values("surprises")

    @cached_property
    def surprise_offsets(self) -> npt.NDArray[np.int32]:
        return self._offsets("surprises")

    @cached_property
    def root_scores(self) -> npt.NDArray[np.float32]:
        return self._values("root_scores")

    @cached_property
    def root_score_offsets(self) -> npt.NDArray[np.int32]:
        return self._offsets("root_scores")

    def root_ownership(self, row: int, ply: int) -> npt.NDArray[np.uint8]:
        """The packed ownership before a move (see `unpack_shares`); empty where it is unknown."""
        column = self.batch.column("root_ownership")
        offsets, ends = self._ownership_rows, self._ownership_ends
        at = int(offsets[row]) + ply
        if at >= offsets[row + 1]:
            return np.empty(0, np.uint8)
        data = column.values.buffers()[2]
        return np.frombuffer(data, np.uint8)[ends[at] : ends[at + 1]] if data is not None else np.empty(0, np.uint8)

    @cached_property
    def _ownership_rows(self) -> npt.NDArray[np.int32]:
        return self._offsets("root_ownership")

    @cached_property
    def _ownership_ends(self) -> npt.NDArray[np.int32]:
        values = self.batch.column("root_ownership").values
        return np.frombuffer(values.buffers()[1], np.int32, len(values) + 1) if len(values) else np.zeros(1, np.int32)

    @cached_property
    def size(self) -> npt.NDArray[np.uint8]:
        return self._numbers("size")

    @cached_property
    def handicap(self) -> npt.NDArray[np.uint8]:
        return self._numbers("handicap")

    @cached_property
    def first(self) -> npt.NDArray[np.uint8]:
        return self._numbers("first")

    @cached_property
    def hash(self) -> npt.NDArray[np.uint64]:
        return self._numbers("hash")

    @cached_property
    def komi(self) -> npt.NDArray[np.float32]:
        return self._numbers("komi", np.nan)

    @cached_property
    def score(self) -> npt.NDArray[np.float32]:
        return self._numbers("score", np.nan)

    @cached_property
    def weight(self) -> npt.NDArray[np.float32]:
        return self._numbers("weight", np.nan)

    @cached_property
    def winner(self) -> npt.NDArray[np.int8]:
        return self._numbers("winner", -1)

    @cached_property
    def player(self) -> npt.NDArray[np.int8]:
        """0 black, 1 white, 2 both (`GameRecord.player`)."""
        return self._numbers("player", -1)

    @cached_property
    def date(self) -> npt.NDArray[np.int32]:
        """Days since 1970-01-01."""
        days = self.batch.column("date").cast(pa.int32()).fill_null(int(NO_DATE))
        return np.asarray(days.to_numpy(zero_copy_only=False))

    def texts(self, column: str) -> tuple[npt.NDArray[np.int16], list[str]]:
        """Return codes [rows] and the texts they stand for, of `rules`, `ending`, `black_rank` or `white_rank`."""
        values = self.batch.column(column)
        return values.indices.to_numpy(), values.dictionary.to_pylist()

    def row(self, i: int) -> GameRecord:
        """Row i as a record whose moves and stones are views of the mapped file."""
        plain = {f.name: self.batch.column(f.name)[i].as_py() for f in ROWS if not pa.types.is_list(f.type)}
        plain["ownership"] = plain["ownership"] and unpack_ownership(plain["ownership"], plain["size"] ** 2)
        return GameRecord(
            moves=self.moves[self.offsets[i] : self.offsets[i + 1]],
            black_stones=self.black_stones[self.black_offsets[i] : self.black_offsets[i + 1]],
            white_stones=self.white_stones[self.white_offsets[i] : self.white_offsets[i + 1]],
            visits=self._visits(i),
            root_values=self._floats("root_values", i),
            surprises=self._floats("surprises", i),
            root_scores=self._floats("root_scores", i),
            root_ownership=self._root_ownership(i),
            **plain,
        )

    def _visits(self, i: int) -> tuple[npt.NDArray[np.uint32], ...] | None:
        if not self.batch.column("visits")[i].is_valid:
            return None
        ends = self.visit_offsets[self.visit_rows[i] : self.visit_rows[i + 1] + 1]
        return tuple(self.visits[start:end] for start, end in pairwise(ends.tolist()))

    def _root_ownership(self, i: int) -> tuple[bytes, ...] | None:
        values = self.batch.column("root_ownership")[i]
        return tuple(values.as_py()) if values.is_valid else None

    def _floats(self, column: str, i: int) -> npt.NDArray[np.float32] | None:
        values = self.batch.column(column)[i]
        return np.asarray(values.values.to_numpy()) if values.is_valid else None

    def _values(self, column: str) -> npt.NDArray[Any]:
        return np.asarray(self.batch.column(column).values.to_numpy())

    def _offsets(self, column: str) -> npt.NDArray[np.int32]:
        return np.asarray(self.batch.column(column).offsets.to_numpy())

    def _numbers(self, column: str, unknown: float | None = None) -> npt.NDArray[Any]:
        values = self.batch.column(column)
        return np.asarray(values.to_numpy() if not values.null_count else values.fill_null(unknown).to_numpy())


class Store:
    """A game store, read-only and memory-mapped. `Store.open` opens one; `tengen import` and `StoreWriter` make one.

    `len(store)` is the number of games, `store.row(i)` the game i as a `GameRecord`, and iteration gives all games in
    order. `column` joins a column of all shards. A store that grows holds the games that were there when it was opened;
    `refreshed` gives the rest. Pickling keeps the path and the manifest only.

    `shards` are those that are open already, the first ones of the manifest. The others are opened and their checksums
    compared, where the manifest has them: 0.8 s a GB, so that a store which opens is the one that was written.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], shards: Sequence[Shard] = ()) -> None:
        self.path = path
        self.manifest = manifest
        further = manifest["shards"][len(shards) :]
        self.shards = (*shards, *(Shard(path / s["file"], s["rows"], s.get("sha256")) for s in further))
        self.starts = np.cumsum([0, *(len(s) for s in self.shards)])
        """Index of the first game of every shard, followed by the number of games."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open the store in folder `path`. Raises StoreError when it is missing, damaged or of another version."""
        folder = Path(path)
        if folder.is_file():
            raise StoreError(f"{folder} is a file, no game store: a store is a folder that 'tengen import' makes")
        return cls(folder, read_manifest(folder))

    def head(self, shards: int) -> Store:
        """The same store with its first `shards` files only."""
        manifest = {**self.manifest, "shards": self.manifest["shards"][:shards]}
        return Store(self.path, manifest, self.shards[:shards])

    def refreshed(self) -> Store:
        """The store as it is on the disk now. Shards that both have are not opened again. Raises as `open`."""
        manifest = read_manifest(self.path)
        pairs = zip(self.manifest["shards"], manifest["shards"], strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return Store(self.path, manifest, self.shards[:same])

    def rest(self, row: int) -> None:
        """Let all shards rest that end before game `row`: see `Shard.rest`."""
        for shard in self.shards[: bisect.bisect_right(self.starts, row) - 1]:
            shard.rest()

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.path, self.manifest)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __repr__(self) -> str:
        return f"<Store {self.path}: {len(self)} games, {self.positions} moves, {len(self.shards)} shards>"

    def __iter__(self) -> Iterator[GameRecord]:
        return (shard.row(i) for shard in self.shards for i in range(len(shard)))

    @property
    def positions(self) -> int:
        """Number of moves in all games, which is the number of positions with a move to predict."""
        return int(sum(len(s.moves) for s in self.shards))

    def locate(self, row: int) -> tuple[int, int]:
        """Return the index of the shard of a game, and the game's row in it. Raises IndexError out of range."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a store of {len(self)} games")
        shard = bisect.bisect_right(self.starts, row) - 1
        return shard, row - int(self.starts[shard])

    def row(self, row: int) -> GameRecord:
        """Return game number `row`. Raises IndexError out of range."""
        shard, i = self.locate(row)
        return self.shards[shard].row(i)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int32]:
        """Number of moves of every game, int32 [games]."""
        return self._join([np.diff(s.offsets) for s in self.shards], np.int32)

    @cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """Hash of every game up to symmetry, uint64 [games]."""
        return self.column("hash")

    @cached_property
    def first_rows(self) -> npt.NDArray[np.int64]:
        """The first row with the hash of each row, int64 [games]: one number for all rows of a game.

        A game has several rows where it was labelled several times, or played again in self-play.
        """
        _, first, row = np.unique(self.hashes, return_index=True, return_inverse=True)
        return first[row].astype(np.int64)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Join a column with one value a game, such as `komi`: an array [games], unknown values as in `Shard`."""
        return self._join([getattr(s, name) for s in self.shards], ROWS.field(name).type.to_pandas_dtype())

    @staticmethod
    def _join(parts: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
        return np.concatenate(parts) if parts else np.empty(0, dtype)
