"""The files of a game store: columns, rows to and from Arrow, and the manifest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tengen.checksums import content_digest
from tengen.data.record import GameRecord, pack_ownership
from tengen.disk import json_text, write_text
from tengen.errors import StoreError

MANIFEST = "manifest.json"
AGAIN = "import the games again, or take a copy of the store (tengen verify says what is damaged)"
FORMAT = "tengen-games"
FORMAT_VERSION = 5
READABLE_VERSIONS = (1, 2, 3, 4, 5)
"""Version 2 added the column `surprises`, version 3 `root_scores` and `root_ownership`, version 4 checksums, version 5
`player`."""
_CHECKSUMS = 4

_TOTALS = {"games": "rows", "moves": "moves", "bytes": "bytes"}

TEXT_COLUMNS = ("rules", "ending", "black_rank", "white_rank")
"""Columns with few distinct texts. A shard holds them as dictionaries."""

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
        pa.field("root_scores", pa.list_(pa.float32())),
        pa.field("root_ownership", pa.list_(pa.binary())),
        pa.field("player", pa.int8()),
    ]
)
"""Schema of rows before they are written to a shard, with plain texts."""

_CODES = pa.dictionary(pa.int16(), pa.string())
SHARD = pa.schema([f.with_type(_CODES) if f.name in TEXT_COLUMNS else f for f in ROWS])
"""Schema of a shard file: the columns of ROWS, the texts of TEXT_COLUMNS as dictionaries."""

_OLDER = tuple(pa.schema(list(SHARD)[: len(SHARD) - later]) for later in (4, 3, 1))
"""The schemas of version 1, of version 2, and of versions 3 and 4: later columns were added at the end."""


def current(batch: pa.RecordBatch) -> pa.RecordBatch | None:
    """Convert the contents of a shard file of any readable version to SHARD. Missing columns become null.

    Returns None for any other schema.
    """
    if any(batch.schema.equals(schema) for schema in _OLDER):
        for column in list(SHARD)[len(batch.schema) :]:
            batch = batch.append_column(column, pa.nulls(batch.num_rows, column.type))
    return batch if batch.schema.equals(SHARD) else None


def rows_to_batch(rows: Iterable[GameRecord]) -> pa.RecordBatch:
    """Turn records into one batch of schema ROWS."""
    records = list(rows)
    arrays = []
    for column in ROWS:
        values = [getattr(record, column.name) for record in records]
        if column.name == "ownership":
            arrays.append(pa.array([None if owner is None else pack_ownership(owner) for owner in values], column.type))
        elif column.name == "visits":
            arrays.append(_nested_lists(values))
        elif column.type == pa.list_(pa.uint16()):
            arrays.append(_lists(values, np.uint16))
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
    """The offset of each list in the flat values, and their end."""
    return np.cumsum([0, *lengths]).astype(np.int32)


def old_place(folder: Path) -> Path:
    """Where the store in `folder` waits while a new one takes its place."""
    whole = Path(os.path.realpath(folder))  # `.` has no name
    return whole.parent / f".{whole.name}.old"


def is_moved_away(folder: Path) -> bool:
    """Whether a kill left the store of this folder in its `old_place`, and nothing has taken its own."""
    if not (old_place(folder) / MANIFEST).is_file():
        return False
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read and check the manifest of the store in `folder`. Raises StoreError where there is none that can be read."""
    path = folder / MANIFEST
    if not path.is_file():
        if is_moved_away(folder):
            raise StoreError(
                f"{folder} is not there: an import that replaced it was killed. The old store is "
                f"{old_place(folder)}: rename it to {folder.name}, or import again with --force"
            )
        known = "there is no such folder" if not folder.is_dir() else f"the folder has no {MANIFEST}"
        raise StoreError(f"{folder} is no game store: {known}; make one with 'tengen import PATH... --out {folder}'")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read ({error}); {AGAIN}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path} is not the manifest of a game store")
    version = manifest.get("version")
    if version not in READABLE_VERSIONS:
        raise StoreError(
            f"{folder} is a game store of format version {version}, this program reads "
            f"{READABLE_VERSIONS[0]} to {READABLE_VERSIONS[-1]}: import the games again, or use the program that "
            "wrote it"
        )
    if ("sha256" in manifest or version >= _CHECKSUMS) and manifest.get("sha256") != content_digest(manifest):
        raise StoreError(f"{path} is altered: it does not have the SHA-256 that it was written with; {AGAIN}")
    shards = manifest.get("shards")
    for shard in shards if isinstance(shards, list) else [shards]:
        if not isinstance(shard, dict) or not isinstance(shard.get("file"), str) or type(shard.get("rows")) is not int:
            raise StoreError(f"{path} is damaged: a shard has a file and its rows, not {repr(shard)[:80]}; {AGAIN}")
    return manifest


def write_manifest(folder: Path, shards: list[dict[str, Any]], facts: Mapping[str, Any]) -> None:
    """Write the manifest of the shards in `folder` with `facts` (filters, report, date).

    The totals are computed from the shards. Keys of the manifest itself are ignored in `facts`.
    """
    own = {"format": FORMAT, "version": FORMAT_VERSION, **totals(shards)}
    manifest = {**own, **facts, **own, "shards": shards}
    manifest = json.loads(json_text(manifest))
    manifest["sha256"] = content_digest(manifest)
    write_text(folder / MANIFEST, json_text(manifest, indent=1, ensure_ascii=False) + "\n")


def games_digest(manifest: Mapping[str, Any]) -> str | None:
    """SHA-256 of the SHA-256 of all shards, one after the other in hexadecimal; None where a shard has none.

    Stores of the same games in the same shards have the same, whenever they were written.
    """
    digests = [shard.get("sha256") for shard in manifest["shards"]]
    return None if None in digests else hashlib.sha256("".join(digests).encode()).hexdigest()


def totals(shards: list[dict[str, Any]]) -> dict[str, int]:
    """Games, moves and bytes of all shards together."""
    return {total: sum(shard[one] for shard in shards) for total, one in _TOTALS.items()}
