"""What the checksums of a store, run, match, network file or checkpoint say of its files."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tengen import _native
from tengen.checksums import Integrity, content_digest, line_integrity, listed, sealed
from tengen.errors import TengenError
from tengen.protocol_buffer import message_fields

_SEALED = (".onnx", ".ckpt", ".pt")
_GRAPH = 7  # the number of the field `graph` of an ONNX model
Finding = tuple[Path, Integrity]


def verify(path: Path) -> Iterator[Finding]:
    """Every file below a path, and what its checksum says; hidden files are left out.

    A log whose lines cannot all be read is altered. Raises TengenError for a path that is not there and for a part of a
    store or match, whose checksums stand in another file; OSError for a file that cannot be read.
    """
    if path.suffix not in _SEALED and (whole := next(filter(_lists_files, path.absolute().parents[:2]), None)):
        raise TengenError(f"{path} is a part of {whole}, where its checksum stands: give that folder")
    if path.is_file():
        yield path, _file(path)
    elif not path.is_dir():
        raise TengenError(f"{path} is not there: give a store, a run folder, a match folder, a network or a checkpoint")
    elif (path / "manifest.json").is_file():
        yield from _store(path)
    elif (path / "match.json").is_file():
        yield from _match(path)
    else:
        for entry in _entries(path):
            yield from verify(entry)


def _lists_files(folder: Path) -> bool:
    return (folder / "manifest.json").is_file() or (folder / "match.json").is_file()


def _entries(folder: Path) -> list[Path]:
    there = (entry for entry in folder.iterdir() if not entry.name.startswith("."))
    return sorted(entry for entry in there if entry.is_file() or (entry.is_dir() and not entry.is_symlink()))


def _file(path: Path) -> Integrity:
    if path.suffix in _SEALED:
        found = sealed(path)
        # The checksum is at the end: a file that was cut short has none, as one of an earlier version.
        return Integrity.ALTERED if found is Integrity.UNKNOWN and not _is_whole(path) else found
    if path.suffix == ".playout":
        try:
            _native.read_linear_weights(path)  # compares the checksum of the format's own
        except ValueError:
            return Integrity.ALTERED
        return Integrity.INTACT
    if path.suffix == ".jsonl":
        complete = path.read_bytes().split(b"\n")[:-1]  # a kill cuts the last line short
        return Integrity.UNKNOWN if all(_object(line) is not None for line in complete) else Integrity.ALTERED
    return Integrity.UNKNOWN


def _is_whole(path: Path) -> bool:
    """Whether a network file or checkpoint without a checksum goes on to its end."""
    if path.suffix != ".onnx":
        return zipfile.is_zipfile(path)
    try:
        with path.open("rb") as file:
            return len(list(message_fields(file, only=_GRAPH))) > 0
    except EOFError:
        return False


def _store(folder: Path) -> Iterator[Finding]:
    path = folder / "manifest.json"
    manifest = _object(path.read_bytes()) or {}
    shards = manifest.get("shards")
    if (given := manifest.get("sha256")) is None and isinstance(shards, list) and manifest.get("version") in (1, 2, 3):
        state = Integrity.UNKNOWN  # written by an earlier version
    else:
        state = Integrity.INTACT if given == content_digest(manifest) else Integrity.ALTERED
    yield path, state
    known = {path.name}
    for shard in shards if isinstance(shards, list) else ():
        if isinstance(shard, dict) and isinstance(name := shard.get("file"), str):
            known.add(name := Path(name).name)
            yield folder / name, listed(folder / name, shard.get("sha256"))
    yield from ((entry, Integrity.UNKNOWN) for entry in _entries(folder) if entry.name not in known)


def _match(folder: Path) -> Iterator[Finding]:
    """A game is the line and the record of that number: either of them is as it was, or both count as altered."""
    lines, named = folder / "games.jsonl", set()
    state = _file(lines) if lines.exists() else Integrity.MISSING
    for line in lines.read_bytes().split(b"\n")[:-1] if lines.exists() else ():
        row = _object(line)
        if row is None or not isinstance(number := row.get("index"), int):
            state = Integrity.ALTERED
            continue
        named.add(record := folder / "games" / f"{number:05d}.sgf")
        yield record, line_integrity(line, record.read_bytes()) if record.is_file() else Integrity.MISSING
    yield lines, state
    for entry in _entries(folder):
        for file in _entries(entry) if entry.is_dir() else [entry]:
            if file != lines and file not in named:
                yield file, Integrity.UNKNOWN


def _object(text: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or no UTF-8; brackets without end
        return None
    return value if isinstance(value, dict) else None
