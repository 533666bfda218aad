"""The columns of a game store, and rows to and from Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tengen.data.record import GameRecord, pack_ownership

FORMAT = "tengen-games"
FORMAT_VERSION = 2
READABLE_VERSIONS = (1, 2)
"""Version 2 added the column `surprises`."""

TEXT_COLUMNS = ("rules", "ending", "black_rank", "white_rank")
"""Columns of few distinct texts, held as dictionaries in a shard."""

ROWS = pa.schema(
    [
        pa.field("moves", pa.list_(pa.uint16()), nullable=False),
        pa.field("size", pa.uint8(), nullable=False),
        pa.field("rules", pa.string(), nullable=False),
        pa.field("komi", pa.float32()),
        pa.field("handicap", pa.uint8(), nullable=False),
        pa.field("black_stones", pa.list_(pa.uint16()), nullable=False),
        pa.field("white_stones", pa.list_(pa.uint16()), nullable=False),
        pa.field("first", pa.uint8(), nullable=False),
        pa.field("winner", pa.int8()),
        pa.field("score", pa.float32()),
        pa.field("ending", pa.string(), nullable=False),
        pa.field("black_rank", pa.string(), nullable=False),
        pa.field("white_rank", pa.string(), nullable=False),
        pa.field("date", pa.date32()),
        pa.field("source", pa.string(), nullable=False),
        pa.field("hash", pa.uint64(), nullable=False),
        pa.field("ownership", pa.binary()),
        pa.field("visits", pa.list_(pa.list_(pa.uint32()))),
        pa.field("root_values", pa.list_(pa.float32())),
        pa.field("weight", pa.float32()),
        pa.field("surprises", pa.list_(pa.float32())),
    ]
)
"""Schema of a batch of rows on its way to a shard: texts plain."""

_CODES = pa.dictionary(pa.int16(), pa.string())
SHARD = pa.schema([f.with_type(_CODES) if f.name in TEXT_COLUMNS else f for f in ROWS])
"""Schema of a shard file: the columns of ROWS, the texts of TEXT_COLUMNS as dictionaries."""

_SHARD_1 = SHARD.remove(SHARD.get_field_index("surprises"))


def current(batch: pa.RecordBatch) -> pa.RecordBatch | None:
    """What a shard file of any readable version holds, as SHARD: columns that it lacks are null. None for another."""
    if batch.schema.equals(_SHARD_1):
        return batch.append_column(SHARD.field("surprises"), pa.nulls(batch.num_rows, pa.list_(pa.float32())))
    return batch if batch.schema.equals(SHARD) else None


def rows_to_batch(rows: Iterable[GameRecord]) -> pa.RecordBatch:
    """Turn records into one batch of schema ROWS."""
    records = list(rows)
    columns: dict[str, list[Any]] = {name: [getattr(r, name) for r in records] for name in ROWS.names}
    columns["ownership"] = [None if r.ownership is None else pack_ownership(r.ownership) for r in records]
    return columns_to_batch(columns)


def columns_to_batch(columns: Mapping[str, list[Any]]) -> pa.RecordBatch:
    """Turn columns of Python and numpy values into one batch of schema ROWS; an absent column is all null.

    Lists of moves and stones are numpy arrays; `ownership` is packed bytes or None.
    """
    count = len(columns["moves"])
    arrays = []
    for column in ROWS:
        values = columns.get(column.name)
        if values is None:
            arrays.append(pa.nulls(count, column.type))
        elif column.type == pa.list_(pa.uint16()):
            arrays.append(_uint16_lists(values))
        elif column.name == "visits":
            arrays.append(_nested_lists(values))
        else:
            arrays.append(pa.array(values, column.type))
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def to_shard(rows: pa.Table) -> pa.RecordBatch:
    """Join rows into the single batch that a shard file holds."""
    arrays = []
    for column in SHARD:
        values = rows.column(column.name).combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks)
        if column.name in TEXT_COLUMNS:
            values = pc.dictionary_encode(values).cast(_CODES)
        arrays.append(values)
    return pa.RecordBatch.from_arrays(arrays, schema=SHARD)


def _uint16_lists(values: list[Any]) -> pa.ListArray:
    return _lists(values, np.uint16)


def _nested_lists(values: list[Any]) -> pa.ListArray:
    """Rows of uint32 lists; None is null."""
    inner = _lists([visits for row in values if row is not None for visits in row], np.uint32)
    mask = pa.array([row is None for row in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(_ends([len(row or ()) for row in values])), inner, mask=mask)


def _lists(values: list[Any], dtype: Any) -> pa.ListArray:
    offsets = _ends([len(v) for v in values])
    flat = np.concatenate(values).astype(dtype, copy=False) if offsets[-1] else np.empty(0, dtype)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat))


def _ends(lengths: list[int]) -> npt.NDArray[np.int32]:
    """Where each list starts in the flat values, and their end."""
    return np.cumsum([0, *lengths]).astype(np.int32)
