"""One line of GTP to a command: control characters, comments, spacing and ids as in section 3 of the protocol."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tengen import coords
from tengen.errors import GtpError, TengenError
from tengen.game import BLACK, WHITE

_COLORS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # all but the tab
_ID = re.compile(r"[0-9]+")
_INTEGER = re.compile(r"[+-]?[0-9]{1,12}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,12}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?")
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True)
class Command:
    """A command: its id as written, or None; its name; its arguments."""

    id: str | None
    name: str
    args: Arguments


def parse_line(line: str) -> Command | None:
    """The command of one line; None for an empty line or a comment."""
    words = _CONTROL.sub("", line).split("#", 1)[0].split()
    if not words:
        return None
    identifier = words.pop(0) if _ID.fullmatch(words[0]) else None
    name = words.pop(0) if words else ""
    return Command(identifier, name, Arguments(tuple(words)))


@dataclass(frozen=True)
class Arguments:
    """The words after the name of a command. Each reader raises GtpError with the bad word."""

    words: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.words)

    def expect(self, minimum: int, maximum: int | None = None) -> None:
        """Check the number of arguments: `minimum`, or from `minimum` to `maximum`."""
        top = minimum if maximum is None else maximum
        if len(self.words) < minimum:
            raise GtpError(f"syntax error: {_arguments(minimum)} expected, got {len(self.words)}")
        if len(self.words) > top:
            raise GtpError(f"syntax error: unexpected argument {self.words[top]}")

    def text(self, index: int) -> str:
        return self.words[index]

    def color(self, index: int) -> int:
        return parse_color(self.words[index])

    def vertex(self, index: int, size: int) -> int:
        """A point of a board of this size; pass is `size * size`."""
        return parse_vertex(self.words[index], size)

    def integer(self, index: int) -> int:
        word = self.words[index]
        if not _INTEGER.fullmatch(word):
            raise GtpError(f"syntax error: {word} is not a whole number")
        return int(word)

    def number(self, index: int) -> float:
        word = self.words[index]
        if not _NUMBER.fullmatch(word):
            raise GtpError(f"syntax error: {word} is not a number")
        return float(word)

    def boolean(self, index: int) -> bool:
        word = self.words[index].lower()
        if word not in _BOOLEANS:
            raise GtpError(f"syntax error: {self.words[index]} is neither true nor false")
        return _BOOLEANS[word]


def parse_color(word: str) -> int:
    color = _COLORS.get(word.lower())
    if color is None:
        raise GtpError(f"invalid color {word}: black or white expected")
    return color


def is_color(word: str) -> bool:
    return word.lower() in _COLORS


def parse_vertex(word: str, size: int) -> int:
    try:
        return coords.from_gtp(word, size)
    except TengenError as error:
        raise GtpError(f"invalid vertex {word}") from error


def json_object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GtpError(f"invalid JSON: {error}") from error
    if not isinstance(value, dict):
        raise GtpError(f"a JSON object expected, not {text}")
    return value


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"
