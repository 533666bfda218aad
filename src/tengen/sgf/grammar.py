"""Splits a byte stream into game trees and reads the main line of a tree, with sgfmill's grammar.

sgfmill reads about 1,900 games a second on one core. Most of a record is a plain sequence of moves, which one regular
expression reads; the grammar reads only what comes before it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sgfmill import sgf_grammar

from tengen.errors import SgfError
from tengen.sgf.values import guess_charset

Properties = dict[str, list[bytes]]

MAX_TREE_BYTES = 1 << 25
"""Maximum length of a tree in bytes; a longer one ends there."""

_BLOCK = 1 << 20
# The opening bracket of a tree, or the root of a tree without one (some files of the Fox server).
_START = re.compile(rb"\(\s*+;|;\s*+(?=(?:GM|FF|SZ)\[[0-9: ]++\])")
_VALUE = rb"\[[^\]\\]*+(?:\\.[^\]\\]*+)*+\]"
_PLAIN_TREE = re.compile(rb"\([^()\[]*+(?:" + _VALUE + rb"[^()\[]*+)*+\)", re.DOTALL)
_TO_PAREN = re.compile(rb"[^()\[]*+(?:" + _VALUE + rb"[^()\[]*+)*+", re.DOTALL)
# An unescaped root property starts a new game, even if a damaged game before it is still open.
_NEW_GAME = re.compile(rb"\(\s*+;\s*+(?:(?:GM|FF|SZ)\[[0-9: ]++\]|CA\[[\w-]++\])")
_PLAIN_MOVE = re.compile(rb";[BW]\[[a-s]{2}\]")
_PLAIN_TAIL = re.compile(rb"(?:;[BW]\[[a-s]{2}\]\s*+)++\)\s*+")
_HALF_BRACKET = re.compile(rb"[\x81-\xfe][\[\\\]]")
_CHARSET = re.compile(rb"CA\[([\w-]++)\]", re.ASCII)
_PAREN = ord("(")
_SPACE = b" \t\r\n\f\v"


class ByteStream(Protocol):
    """A binary stream: `read(n)` returns up to n bytes, none at the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Line:
    """The main line of a game tree: the nodes before the plain moves, and the plain moves as ASCII codes, uint8 [n, 3].

    A row of `plain` is (`B` or `W`, column letter, row letter). `damage` describes damage of the text, if any.
    """

    nodes: list[Properties]
    plain: npt.NDArray[np.uint8]
    charset: str
    damage: str = ""


def split_trees(stream: ByteStream, max_bytes: int = MAX_TREE_BYTES) -> Iterator[bytes]:
    """Split a stream into the bytes of its game trees, in constant memory.

    Text between trees is skipped. A tree that is never closed ends where the next game begins, so that a damaged game
    does not affect others. Its text is returned unchanged; `read_line` reads it in part or rejects it.
    """
    buffer, at, more = b"", 0, True
    while True:
        start, end = _next_tree(buffer, at, max_bytes if more else 0)
        if end >= 0:
            yield buffer[start:end] if buffer[start] == _PAREN else b"(" + buffer[start:end]
            at = end
        elif more:
            block = stream.read(max(_BLOCK, len(buffer) - start))
            buffer, at, more = buffer[start:] + block, 0, bool(block)
        else:
            return


def first_tree(data: bytes) -> bytes:
    """The bytes of the first game tree of a text; empty where there is none."""
    return next(split_trees(io.BytesIO(data)), b"")


def _next_tree(buffer: bytes, at: int, max_bytes: int) -> tuple[int, int]:
    """Start and end of the next tree. An end of -1 asks for more text from the start on.

    A tree that is still open after `max_bytes` bytes ends there.
    """
    found = _START.search(buffer, at)
    if not found:
        paren = buffer.rfind(b"(", at)
        return (len(buffer) if paren < 0 or len(buffer) - paren > max_bytes else paren), -1
    start = found.start()
    end = _tree_end(buffer, start)
    following = _NEW_GAME.search(buffer, start + 1, len(buffer) if end < 0 else end)
    if following:
        return start, following.start()
    if end < 0 and len(buffer) - start >= max_bytes:
        return start, min(len(buffer), start + max_bytes) if max_bytes else len(buffer)
    return start, end


def _tree_end(buffer: bytes, start: int) -> int:
    """The position after the tree that begins at `start`, or -1 where the buffer ends first."""
    plain = _PLAIN_TREE.match(buffer, start)
    if plain:
        return plain.end()
    depth, at = int(buffer[start] != _PAREN), start
    while True:
        at = _TO_PAREN.match(buffer, at).end()  # type: ignore[union-attr]  # matches the empty text too
        paren = buffer[at : at + 1]
        if paren not in (b"(", b")"):
            return -1
        depth += 1 if paren == b"(" else -1
        at += 1
        if depth == 0:
            return at


def read_line(data: bytes) -> Line:
    """Read the main line of one game tree of `split_trees`.

    A damaged tree is read up to the damage, and `damage` describes it. Raises SgfError where no node can be read.
    """
    data = without_half_brackets(data)
    return _plain_line(data) or _any_line(data)


def without_half_brackets(data: bytes) -> bytes:
    """Convert a text to UTF-8 where the second byte of a two-byte character may look like a bracket or an escape."""
    if not _HALF_BRACKET.search(data):
        return data
    declared = _CHARSET.search(data)
    charset = guess_charset(data, declared[1].decode("ascii") if declared else "")
    return data if charset == "utf-8" else data.decode(charset, "replace").encode()


def declared_charset(root: Properties) -> str:
    """The encoding that a root declares (CA), empty where it declares none."""
    return root.get("CA", [b""])[0].decode("ascii", "ignore").strip()


def _plain_line(data: bytes) -> Line | None:
    """Read a tree that ends in a plain sequence of moves; None for any other.

    The grammar reads the head to its end, outside any value, so what follows can only be moves.
    """
    first = _PLAIN_MOVE.search(data)
    if not first or not (tail := _PLAIN_TAIL.fullmatch(data, first.start())):
        return None
    head = data[: first.start()]
    try:
        tree = sgf_grammar.parse_sgf_game(head + b")")
    except ValueError:
        return None
    if tree.children:
        return None
    moves = np.frombuffer(tail[0].translate(None, _SPACE + b")"), np.uint8).reshape(-1, 6)[:, [1, 3, 4]]
    return Line(tree.sequence, moves, guess_charset(head, declared_charset(tree.sequence[0])))


def _any_line(data: bytes) -> Line:
    nodes, damage = _main_line(data)
    if not nodes:
        raise SgfError("no game tree in the text")
    return Line(nodes, np.empty((0, 3), np.uint8), guess_charset(data, declared_charset(nodes[0])), damage)


def _main_line(data: bytes) -> tuple[list[Properties], str]:
    try:
        return list(sgf_grammar.main_sequence_iter(sgf_grammar.parse_sgf_game(data))), ""
    except ValueError:
        tokens, end = sgf_grammar.tokenise(data)
        rest = data[end:].strip()
        broken_off = not rest or (rest.startswith(b"[") and b"]" not in rest)
        return _readable_nodes(tokens), "the text breaks off" if broken_off else "the text is damaged"


def _readable_nodes(tokens: list[tuple[str, bytes]]) -> list[Properties]:
    """The nodes of the main line up to the first misplaced token."""
    nodes: list[Properties] = []
    name = ""
    for (kind, token), (following, _) in pairwise([*tokens, ("", b"")]):
        if kind == "I":
            if not nodes or following != "V":
                break
            name = token.decode("ascii")
        elif kind == "V":
            if not name:
                break
            nodes[-1].setdefault(name, []).append(token)
        elif token == b")":
            break
        else:
            name = ""
            if token == b";":
                nodes.append({})
    return nodes
