"""Tokens and weights of a network file of KataGo, text or binary, whatever stands in it."""

from __future__ import annotations

import gzip
import math
import re
from typing import IO

import numpy as np

from tengen.formats.katago_model import NEWEST, OLDEST, Floats

# Limits of what is plausible. They keep a damaged file from claiming any amount of memory.
MAX_CHANNELS = 1 << 15
_MAX_WEIGHTS = 500_000_000
_MAX_TOKEN, _MAX_NAME, _MAX_NUMBER, _MAX_FILLER, _CHUNK = 1000, 200, 64, 100, 1 << 20

_TOKEN = re.compile(rb"\s*(\S+)")
_INTEGER = re.compile(r"-?\d{1,12}")
_FLOAT = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf|infinity)", re.IGNORECASE)


class Malformed(Exception):
    """What is wrong, to be completed by the name of the file."""


class TokenReader:
    """Tokens and weights from a stream. Memory grows with what was read, never with what a header claims."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile, binary: bool) -> None:
        self._file, self._binary = file, binary
        self._buffer, self._at, self._ended = b"", 0, False
        self._weights = 0

    def token(self, what: str) -> str:
        """The next token; `what` names it in errors."""
        while True:
            found = _TOKEN.match(self._buffer, self._at)
            # A token at the end of the buffer may go on in the next chunk.
            if found and (found.end() < len(self._buffer) or self._ended):
                break
            if len(self._buffer) - self._at > _MAX_TOKEN:
                raise Malformed(f"expected {what}, found {self._buffer[self._at : self._at + 16]!r}")
            if not self._fill() and not found:
                raise Malformed(f"it ends where {what} was expected")
        text = found[1]
        if len(text) > _MAX_TOKEN or not text.isascii():
            raise Malformed(f"expected {what}, found binary data {bytes(text[:16])!r}; it may be damaged")
        self._at = found.end(1)
        return text.decode("ascii")

    def name(self, what: str) -> str:
        """The name of a network or a layer."""
        name = self.token(f"the name of {what}")
        if not name.isprintable() or len(name) > _MAX_NAME:
            raise Malformed(f"expected the name of {what}, found {name[:40]!r}")
        return name

    def integer(self, what: str, minimum: int = 1, maximum: int = MAX_CHANNELS) -> int:
        """A whole number within limits."""
        text = self.token(what)
        if not _INTEGER.fullmatch(text) or not minimum <= int(text) <= maximum:
            raise Malformed(f"{what} must be a whole number from {minimum} to {maximum}, found {text[:40]!r}")
        return int(text)

    def flag(self, what: str) -> bool:
        """0 or 1."""
        return bool(self.integer(what, 0, 1))

    def positive(self, what: str) -> float:
        """A finite number above 0."""
        text = self.token(what)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise Malformed(f"{what} must be a finite number above 0, found {text[:40]!r}")
        return value

    def reserved(self, count: int, what: str) -> None:
        """Slots of the header that are 0 up to format 17."""
        for slot in range(count):
            if (text := self.token(f"reserved option {slot + 1} of {what}")) != "0":
                raise Malformed(
                    f"reserved option {slot + 1} of {what} is {text[:40]!r}, not 0: it comes from a newer KataGo than "
                    f"this version of Tengen reads (formats {OLDEST} to {NEWEST})"
                )

    def floats(self, what: str, *shape: int) -> Floats:
        """Weights of this shape, all finite."""
        count = math.prod(shape)
        self._weights += count
        if self._weights > _MAX_WEIGHTS:
            raise Malformed(f"{what} of {count:,} weights makes more than {_MAX_WEIGHTS:,} in all")
        values = self._binary_floats(what, count) if self._binary else self._text_floats(what, count)
        if not np.isfinite(values).all():
            raise Malformed(f"{what} has weights that are infinite or no numbers")
        return values.reshape(shape)

    def end(self) -> None:
        """Raise unless nothing but blanks is left, which also has gzip verify its checksum."""
        while True:
            rest = self._buffer[self._at :]
            if rest.strip():
                raise Malformed(f"more data follows the last layer, from {rest.strip()[:16]!r}")
            self._at = len(self._buffer)
            if not self._fill():
                return

    def _fill(self) -> bool:
        """Read a further chunk behind what is left; False at the end of the file."""
        chunk = self._file.read(_CHUNK)
        self._buffer, self._at, self._ended = self._buffer[self._at :] + chunk, 0, not chunk
        return bool(chunk)

    def _binary_floats(self, what: str, count: int) -> Floats:
        while (start := self._buffer.find(b"@BIN@", self._at, self._at + _MAX_FILLER + 5)) < 0:
            if len(self._buffer) - self._at > _MAX_FILLER + 5 or not self._fill():
                raise Malformed(
                    f"expected @BIN@ before the {count:,} weights of {what}; it may be cut short or damaged"
                )
        self._at = start + 5
        parts, missing = [self._buffer[self._at : self._at + 4 * count]], 4 * count
        self._at += len(parts[0])
        missing -= len(parts[0])
        while missing:
            chunk = self._file.read(min(missing, _CHUNK))
            if not chunk:
                raise Malformed(f"{what} needs {count:,} weights, but the file ends after "
                                 f"{count - -(-missing // 4):,} of them")  # fmt: skip
            parts.append(chunk)
            missing -= len(chunk)
        return np.frombuffer(b"".join(parts), "<f4").astype(np.float32, copy=False)

    def _text_floats(self, what: str, count: int) -> Floats:
        parts: list[Floats] = []
        missing = count
        while missing:
            tokens = self._buffer[self._at :].split(None, missing)
            # An array of texts takes the memory of the longest for each.
            if max(map(len, tokens[:missing]), default=0) > _MAX_NUMBER:
                raise _no_weight(what, tokens)
            if len(tokens) > missing:
                self._buffer, self._at = tokens.pop(), 0
            elif not self._ended:
                # The last token of the buffer may go on in the next chunk.
                kept = 0 if self._buffer[-1:].isspace() or not tokens else len(tokens.pop())
                self._at = len(self._buffer) - kept
                self._fill()
            elif len(tokens) < missing:
                raise Malformed(f"{what} needs {count:,} weights, but the file ends after "
                                 f"{count - missing + len(tokens):,} of them")  # fmt: skip
            else:
                self._at = len(self._buffer)
            try:
                parts.append(np.array(tokens, "S").astype(np.float32) if tokens else np.empty(0, np.float32))
            except ValueError:
                raise _no_weight(what, tokens) from None
            missing -= len(tokens)
        return np.concatenate(parts)


def _no_weight(what: str, tokens: list[bytes]) -> Malformed:
    """The error about the first token that is no number, or too long for one."""
    wrong = next((token for token in tokens if len(token) > _MAX_NUMBER or not _FLOAT.fullmatch(token)), tokens[0])
    return Malformed(f"{what} has {wrong[:40]!r} where a weight was expected")
