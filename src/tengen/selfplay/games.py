"""The games of one cycle as columns: what statistics are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tengen.data.record import colors_of, points_of
from tengen.data.store import Store
from tengen.errors import StoreError

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class SelfPlayGames:
    """n games with m moves in all. Per-game arrays are [n], per-move arrays [m], the games one after the other.

    `winner` is 0 black, 1 white, 2 draw, -1 unknown; `score` is Black minus White with komi, NaN where not counted.
    `values` are root values for the side to move in -1..1 and `surprises` in nats, NaN where a move has none.
    """

    size: npt.NDArray[np.uint8]
    komi: Floats
    winner: npt.NDArray[np.int8]
    score: Floats
    ending: list[str]
    hash: npt.NDArray[np.uint64]
    lengths: Ints
    moves: npt.NDArray[np.uint16]
    values: Floats
    surprises: Floats

    def __len__(self) -> int:
        return len(self.size)

    @classmethod
    def of(cls, store: Store, first: int = 0, end: int | None = None) -> SelfPlayGames:
        """The games of rows first <= row < end of a store. Raises StoreError where values do not fit the moves."""
        parts = list(_parts(store, first, len(store) if end is None else end))
        lengths = _joined(parts, "moves", pc.list_value_length, np.int64)
        return cls(
            size=_joined(parts, "size", None, np.uint8),
            komi=_joined(parts, "komi", None, np.float32, np.nan),
            winner=_joined(parts, "winner", None, np.int8, -1),
            score=_joined(parts, "score", None, np.float32, np.nan),
            ending=[text for part in parts for text in part.column("ending").to_pylist()],
            hash=_joined(parts, "hash", None, np.uint64),
            lengths=lengths,
            moves=_joined(parts, "moves", lambda column: column.flatten(), np.uint16),
            values=_per_move(store, parts, "root_values", lengths),
            surprises=_per_move(store, parts, "surprises", lengths),
        )

    @property
    def points(self) -> npt.NDArray[np.uint16]:
        return points_of(self.moves)

    @property
    def colors(self) -> npt.NDArray[np.int64]:
        return colors_of(self.moves).astype(np.int64)

    @property
    def starts(self) -> Ints:
        """Where each game's moves begin, int64 [n + 1]."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @property
    def owner(self) -> Ints:
        """The game of each move, int64 [m]."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def black_results(self) -> Floats:
        """1 where Black won, -1 where White did, 0 for a draw, NaN for unknown: [n]."""
        return np.array([1, -1, 0, np.nan], np.float32)[self.winner]

    @property
    def black_values(self) -> Floats:
        """Root values from Black's side, [m]."""
        return np.asarray(self.values * (1 - 2 * self.colors), np.float32)

    def first_moves(self, count: int) -> npt.NDArray[np.uint16]:
        """The first `count` moves of every game, uint16 [n, count]; 0xFFFF after its end."""
        starts, places = self.starts[:-1, None], np.arange(count)
        inside = places < self.lengths[:, None]
        padded = np.append(self.moves, np.uint16(0xFFFF))
        return np.asarray(np.where(inside, padded[np.minimum(starts + places, len(self.moves))], np.uint16(0xFFFF)))


def _parts(store: Store, first: int, end: int) -> Iterator[pa.RecordBatch]:
    """The stretches of the shards that hold rows first..end."""
    for shard, start in zip(store.shards, store.starts, strict=False):
        low, high = max(first, int(start)), min(end, int(start) + len(shard))
        if low < high:
            yield shard.batch.slice(low - int(start), high - low)


def _joined(
    parts: list[pa.RecordBatch],
    name: str,
    change: Callable[[pa.Array], pa.Array] | None,
    kind: type[_Number],
    unknown: float = 0,
) -> npt.NDArray[_Number]:
    if not parts:
        return np.empty(0, kind)
    columns = [part.column(name) if change is None else change(part.column(name)) for part in parts]
    filled = [column.fill_null(unknown) if column.null_count else column for column in columns]
    return np.concatenate([np.asarray(column.to_numpy(zero_copy_only=False)) for column in filled]).astype(kind)


def _per_move(store: Store, parts: list[pa.RecordBatch], name: str, lengths: Ints) -> Floats:
    """A list column with one number a move, or none at all for a game: NaN there."""
    result = np.full(int(lengths.sum()), np.nan, np.float32)
    found = _joined(parts, name, pc.list_value_length, np.int64)
    if np.any((found != lengths) & (found != 0)):
        game = int(np.flatnonzero((found != lengths) & (found != 0))[0])
        raise StoreError(
            f"{store.path}: {found[game]} {name} for a game of {lengths[game]} moves; one a move is needed"
        )
    if not found.any():
        return result
    known = np.repeat(found == lengths, lengths)
    result[known] = _joined(parts, name, lambda column: column.flatten(), np.float32, np.nan)
    return result
