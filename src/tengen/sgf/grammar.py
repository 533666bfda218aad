"""Cutting a byte stream into game trees, and the main line of one tree, on sgfmill's grammar.

sgfmill reads about 1,900 whole games a second on one core; most of a record is a plain row of moves, so those are
taken by one regular expression and only what comes before them goes through the grammar.
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

LONGEST_TREE = 1 << 25
"""Bytes after which a tree that does not end is given up."""

_BLOCK = 1 << 20
# The opening bracket of a tree, or the root of one that lost it (some files of the Fox server).
_START = re.compile(rb"\(\s*+;|;\s*+(?=(?:GM|FF|SZ)\[[0-9: ]++\])")
_VALUE = rb"\[[^\]\\]*+(?:\\.[^\]\\]*+)*+\]"
_PLAIN_TREE = re.compile(rb"\([^()\[]*+(?:" + _VALUE + rb"[^()\[]*+)*+\)", re.DOTALL)
_TO_PAREN = re.compile(rb"[^()\[]*+(?:" + _VALUE + rb"[^()\[]*+)*+", re.DOTALL)
# An unescaped root property: where it stands a new game begins, whatever a damaged one before it left open.
_NEW_GAME = re.compile(rb"\(\s*+;\s*+(?:(?:GM|FF|SZ)\[[0-9: ]++\]|CA\[[\w-]++\])")
_PLAIN_MOVE = re.compile(rb";[BW]\[[a-s]{2}\]")
_PLAIN_TAIL = re.compile(rb"(?:;[BW]\[[a-s]{2}\]\s*+)++\)\s*+")
_HALF_BRACKET = re.compile(rb"[\x81-\xfe][\[\\\]]")
_CHARSET = re.compile(rb"CA\[([\w-]++)\]", re.ASCII)
_PAREN = ord("(")
_SPACE = b" \t\r\n\f\v"


class ByteStream(Protocol):
    """What a tree splitter reads from: `read(n)` returns up to n bytes, none at the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Line:
    """The main line of a game tree: the nodes before the plain moves, then those moves, int [n, 3] of ASCII codes.

    A row of `plain` is (`B` or `W`, column letter, row letter). `damage` says how the text was mended, if it was.
    """

    nodes: list[Properties]
    plain: npt.NDArray[np.uint8]
    charset: str
    damage: str = ""


def split_trees(stream: ByteStream, longest: int = LONGEST_TREE) -> Iterator[bytes]:
    """Cut a stream into the bytes of its game trees, in constant memory.

    Text between trees is skipped. A tree that never closes ends where the next game begins, so a damaged game costs
    only itself; what is left of it comes out as it is, for `read_line` to mend or refuse.
    """
    buffer, at, more = b"", 0, True
    while True:
        start, end = _next_tree(buffer, at, longest if more else 0)
        if end >= 0:
            yield buffer[start:end] if buffer[start] == _PAREN else b"(" + buffer[start:end]
            at = end
        elif more:
            block = stream.read(max(_BLOCK, len(buffer) - start))
            buffer, at, more = buffer[start:] + block, 0, bool(block)
        else:
            return


def first_tree(data: bytes) -> bytes:
    """The bytes of the first game tree of a text; empty when there is none."""
    return next(split_trees(io.BytesIO(data)), b"")


def _next_tree(buffer: bytes, at: int, longest: int) -> tuple[int, int]:
    """Return start and end of the next tree; an end of -1 asks for more text, from start on.

    A tree that is still open after `longest` bytes ends there.
    """
    found = _START.search(buffer, at)
    if not found:
        paren = buffer.rfind(b"(", at)
        return (len(buffer) if paren < 0 or len(buffer) - paren > longest else paren), -1
    start = found.start()
    end = _tree_end(buffer, start)
    following = _NEW_GAME.search(buffer, start + 1, len(buffer) if end < 0 else end)
    if following:
        return start, following.start()
    if end < 0 and len(buffer) - start >= longest:
        return start, min(len(buffer), start + longest) if longest else len(buffer)
    return start, end


def _tree_end(buffer: bytes, start: int) -> int:
    """Return the place after the tree that begins at `start`, or -1 when the buffer ends first."""
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
    """Read the main line of one game tree, as `split_trees` cuts it.

    A tree that breaks off or holds rubbish is read up to there, and `damage` says so. Raises SgfError when no node can
    be read at all.
    """
    data = without_half_brackets(data)
    return _plain_line(data) or _any_line(data)


def without_half_brackets(data: bytes) -> bytes:
    """Turn a text of two-byte characters, of which some look like a bracket or escape in part, into UTF-8."""
    if not _HALF_BRACKET.search(data):
        return data
    declared = _CHARSET.search(data)
    charset = guess_charset(data, declared[1].decode("ascii") if declared else "")
    return data if charset == "utf-8" else data.decode(charset, "replace").encode()


def declared_charset(root: Properties) -> str:
    """The encoding that a root names, empty when it names none."""
    return root.get("CA", [b""])[0].decode("ascii", "ignore").strip()


def _plain_line(data: bytes) -> Line | None:
    """Read a tree that ends in a plain row of moves; None for any other.

    The grammar has read the head to its end, outside any value, so the moves after it can be nothing but moves.
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
    """Collect the nodes of the main line up to the first token that is out of place."""
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
