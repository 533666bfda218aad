"""Protocol buffers, the form of ONNX files, without a schema: the fields of a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def message_fields(file: BinaryIO, only: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of the length-delimited fields of a message; those but `only` are skipped when it is given.

    Raises EOFError for what is no message, or was cut short.
    """
    end = file.seek(0, 2)
    file.seek(0)
    while file.tell() < end:
        tag = _varint(file)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            _varint(file)
        elif kind in (_FIXED64, _FIXED32):
            file.seek(8 if kind == _FIXED64 else 4, 1)
        elif kind == _BYTES and number:
            length = _varint(file)
            if file.tell() + length > end:
                raise EOFError
            if only is None or number == only:
                yield number, file.read(length)
            else:
                file.seek(length, 1)
        else:
            raise EOFError


def _varint(file: BinaryIO) -> int:
    value = shift = 0
    while True:
        byte = file.read(1)
        if not byte or shift > 63:
            raise EOFError
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7
