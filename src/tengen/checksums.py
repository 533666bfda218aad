"""SHA-256 checksums: network files and checkpoints end with their own, manifests and logs name those of other files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from tengen.errors import TengenError

_HEX = 64
_ENTRY = b"\x72\x51\x0a\x0dtengen-sha256\x12\x40"
"""Before the digest in an ONNX file: the tags of one more property of the model, which every reader accepts."""
_COMMENT = b"\x40\x00"
"""Before the digest in a zip archive, such as a checkpoint of PyTorch: the length of the archive's comment, else 0."""
_END = b"PK\x05\x06"  # 20 bytes before that length


class Integrity(StrEnum):
    """What a file's checksum says of it."""

    INTACT = "intact"
    ALTERED = "altered"
    MISSING = "missing"
    UNKNOWN = "without a checksum"


def file_digest(path: Path, end: int | None = None) -> str:
    """SHA-256 of a file in hexadecimal; of its first `end` bytes where given. Raises OSError."""
    # Read, not mapped: pages of a mapping would count as memory of this process.
    with path.open("rb") as file:
        if end is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        while end > 0 and (block := file.read(min(end, 1 << 20))):
            digest.update(block)
            end -= len(block)
    return digest.hexdigest()


def seal(path: Path) -> None:
    """Give an ONNX file or a zip archive without a comment its checksum. Both remain what they are for any reader."""
    size, prefix = path.stat().st_size, _prefix(path)
    end = size - len(_COMMENT) if prefix == _COMMENT else size
    digest = file_digest(path, end)
    with path.open("r+b") as file:
        file.seek(end)
        file.write(prefix + digest.encode())


def sealed(path: Path) -> Integrity:
    """Whether a file is as `seal` left it. Raises OSError for a file that cannot be read."""
    if not path.exists():
        return Integrity.MISSING
    prefix = _prefix(path)
    end = path.stat().st_size - _HEX - len(prefix)
    with path.open("rb") as file:
        file.seek(max(0, end - 20))
        tail = file.read()
    given, before = tail[-_HEX:], tail[: -_HEX or None]
    marked = before.endswith(prefix) and (prefix != _COMMENT or before.startswith(_END))
    if marked and given.decode("latin-1") == file_digest(path, end):
        return Integrity.INTACT
    # A digest whose mark is damaged is a damaged checksum, not a missing one.
    return Integrity.ALTERED if marked or re.fullmatch(rb"[0-9a-f]{64}", given) else Integrity.UNKNOWN


def check_seal(path: Path, error: type[TengenError]) -> Integrity:
    """What `sealed` says, but raise this error for an altered file."""
    if (found := sealed(path)) is Integrity.ALTERED:
        raise error(f"{path} is altered: it does not have the SHA-256 that it was written with; take another copy")
    return found


def listed(path: Path, digest: str | None) -> Integrity:
    """Whether a file has the digest that a list gives for it. Raises OSError for a file that cannot be read."""
    if not path.exists():
        return Integrity.MISSING
    if digest is None:
        return Integrity.UNKNOWN
    return Integrity.INTACT if file_digest(path) == digest else Integrity.ALTERED


def content_digest(value: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON object without its own key `sha256`, whatever its layout and the order of its keys."""
    content = {key: inner for key, inner in value.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def with_digest(line: bytes, content: bytes) -> bytes:
    """A JSON object with one more key, the SHA-256 of the object without it and of the `content` that it describes."""
    return line[:-1] + b', "sha256": "' + hashlib.sha256(line + content).hexdigest().encode() + b'"}'


def line_integrity(line: bytes, content: bytes) -> Integrity:
    """Whether a line and its content are as `with_digest` made them."""
    before, key, _ = line.rpartition(b', "sha256": "')
    if not key:
        return Integrity.UNKNOWN
    return Integrity.INTACT if with_digest(before + b"}", content) == line else Integrity.ALTERED


def _prefix(path: Path) -> bytes:
    with path.open("rb") as file:
        return _COMMENT if file.read(4) == b"PK\x03\x04" else _ENTRY
