"""Splits a byte stream into game trees and reads the main line of a tree, with sgfmill's grammar.

sgfmill reads about 1,900 games a second on one core. Most of a record is a plain sequence of moves, which one regular
expression reads; the grammar reads only what comes before it.
"""

from __future__ import annotations

import codecs
import io
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from sgfmill import sgf_grammar

from tengen.errors import SgfError
from tengen.sgf.charset import guess_charset, has_escapes

Properties = dict[str, list[bytes]]


@dataclass(frozen=True)
class RecordLimits:
    """What one record may hold; a larger one is refused before it is parsed. Raises SgfError for a limit below 1.

    record_bytes: length; a tree that is longer ends there. nodes: semicolons. values: opening brackets. The largest
    records of real games, reviews with variations at every move, have a tenth of it.
    """

    record_bytes: int = 1 << 23
    nodes: int = 100_000
    values: int = 400_000

    def __post_init__(self) -> None:
        check_limits(self)

    def check(self, data: bytes) -> None:
        """Raise SgfError for a record of too many bytes, nodes or values."""
        if len(data) >= self.record_bytes:
            raise SgfError(f"{self.record_bytes:,} bytes or more, the limit")
        for mark, what, limit in ((b";", "nodes", self.nodes), (b"[", "values", self.values)):
            if (found := data.count(mark)) > limit:
                raise SgfError(f"{found:,} {what}, more than the limit of {limit:,}")


def check_limits(limits: Any) -> None:
    """Raise SgfError for a field of this dataclass that is below 1."""
    for name, value in asdict(limits).items():
        if isinstance(value, int | float) and not value >= 1:
            raise SgfError(f"limit {name} = {value} is too small: it must be 1 or more")


RECORD_LIMITS = RecordLimits()

RECORD_SUFFIXES = (".sgf", ".sgfs")
"""Of files with game records; KataGo's `.sgfs` hold a game a line."""
_BLOCK = 1 << 20
_NEW_GAME_BYTES = 64  # that the opening of a game may take, about
# The opening bracket of a tree, also where no semicolon follows (files of the Nihon Ki-in and of Cyberoro), or the root
# of a tree without one (some files of the Fox server).
_START = re.compile(rb"\(\s*+(?:;|(?=[A-Z]{1,3}+\[))|;\s*+(?=(?:GM|FF|SZ)\[[0-9: ]++\])")


class _TreePatterns:
    """Matches text up to the next parenthesis outside all values, and a tree without variations."""

    def __init__(self, value: bytes) -> None:
        text = rb"[^()\[]*+(?:" + value + rb"[^()\[]*+)*+"
        self.to_paren = re.compile(text, re.DOTALL)
        self.plain_tree = re.compile(rb"\(" + text + rb"\)", re.DOTALL)

    @classmethod
    def of_wide(cls, leads: bytes) -> _TreePatterns:
        """For an encoding whose characters of two bytes begin with `leads` and may end like a bracket or an escape."""
        return cls(rb"\[(?:[^\]\\" + leads + rb"]++|\\?+[" + leads + rb"].|\\.)*+\]")


_BYTES = _TreePatterns(rb"\[[^\]\\]*+(?:\\.[^\]\\]*+)*+\]")
_SHIFT_JIS = _TreePatterns.of_wide(rb"\x81-\x9f\xe0-\xfc")
_CHINESE = _TreePatterns.of_wide(rb"\x81-\xfe")
_WIDE = {
    # Between two escape sequences any bytes may be characters.
    "iso2022_jp": _TreePatterns(rb"\[(?:[^\]\\\x1b]++|\x1b\$[^\x1b]*+|\x1b|\\.)*+\]"),
    **dict.fromkeys(("shift_jis", "cp932", "shift_jis_2004", "shift_jisx0213"), _SHIFT_JIS),
    **dict.fromkeys(("big5", "cp950", "big5hkscs", "gb2312", "gbk", "gb18030"), _CHINESE),
}
# An unescaped root property starts a new game, even if a damaged game before it is still open.
_NEW_GAME = re.compile(rb"\(\s*+;\s*+(?:(?:GM|FF|SZ)\[[0-9: ]++\]|CA\[[\w-]++\])")
_PLAIN_MOVE = re.compile(rb";[BW]\[[a-s]{2}\]")
_PLAIN_TAIL = re.compile(rb"(?:;[BW]\[[a-s]{2}\]\s*+)++\)\s*+")
_HALF_BRACKET = re.compile(rb"[\x81-\xfe][\[\\\]]")
_ROOT = re.compile(rb"\(\s*+;")
_VALUE = rb"\s*+\[[^\]\\]*+(?:\\.[^\]\\]*+)*+\]"
# The root up to its declaration, the first group, and the declaration; not what looks like one in a comment.
_ROOT_CHARSET = re.compile(
    rb"(\(\s*+;(?:\s*+\w++(?:" + _VALUE + rb")++)*?\s*+)CA(?:" + _VALUE + rb")++", re.DOTALL | re.IGNORECASE
)
_CHARSET = re.compile(rb"CA\[([\w-]++)\]", re.ASCII)
_HEAD = 512
_OTHER_FORMATS = {  # of Tygem, Pandanet and WBaduk
    "a GIB file": re.compile(rb"\A\W*\\(?:HS|\[GAME)"),
    "a UGF file": re.compile(rb"\A\W*Header\]"),
    "an NGF file": re.compile(rb"^PM[A-Z]{2}[BW][A-Z]{4}\s", re.MULTILINE),
}
_ARCHIVES = {
    "a 7z archive": re.compile(rb"7z\xbc\xaf\x27\x1c"),
    "a RAR archive": re.compile(rb"Rar!\x1a\x07"),
    "a zst archive": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # or a frame to be skipped
}
_PAREN = ord("(")
_SPACE = b" \t\r\n\f\v"
ANY_VALUE = rb"\[[^\]\\]*+(?:\\.[^\]\\]*+)*+(?:\]|\\?+\Z)"
"""The pattern of a value, with re.DOTALL. One that is never closed ends with the text: a search for the bracket that is
missing, from each bracket on, would take quadratic time."""
_VALUE_OR_NAME = re.compile(ANY_VALUE + rb"|(\w++)", re.DOTALL)
_STAND_IN = "QZQZ"  # begins a name of letters that stands for one with digits
_SMALL_NAME = b"x"  # a property that sgfmill gives without a name
_HEX, _HEX_LETTERS = "0123456789abcdef", "ABCDEFGHIJKLMNOP"
_MAX_NAME = 64  # of sgfmill
_Token: TypeAlias = tuple[str, bytes]
"""Of sgfmill: kind (`I` name, `V` value, `D` delimiter) and text."""
_OPEN, _CLOSE, _NODE = ("D", b"("), ("D", b")"), ("D", b";")


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


def split_trees(stream: ByteStream, max_bytes: int = RECORD_LIMITS.record_bytes) -> Iterator[bytes]:
    """Split a stream into the bytes of its game trees, in constant memory and linear time.

    Text between trees is skipped. A tree that is never closed ends where the next game begins, so that a damaged game
    does not affect others; `read_line` reads it in part or rejects it. Text is returned unchanged, except that a tree
    begins with `(;` where the bracket or the semicolon is missing, that UTF-16 with a byte order mark becomes UTF-8,
    and that games of a file with a mark declare UTF-8 where they are not ASCII, whatever they declared before.
    """
    stream = _Utf8Stream(stream)
    buffer, at, more, following, skips = b"", 0, True, 0, False
    while True:
        if skips:  # the rest of a tree that was cut is none
            found = _NEW_GAME.search(buffer, at)
            skips, at = not found, found.start() if found else max(at, len(buffer) - _NEW_GAME_BYTES)
        if skips and not more:
            return
        if skips:
            block = stream.read(_BLOCK)
            buffer, at, more = buffer[at:] + block, 0, bool(block)
            continue
        start, end, following = _next_tree(buffer, at, following, max_bytes if more else 0)
        if end >= 0:
            tree = _with_start(buffer[start:end])
            yield _declaring_utf8(tree) if stream.is_marked and not tree.isascii() else tree
            skips, at = more and end - start >= max_bytes, end
        elif more:
            block = stream.read(max(_BLOCK, len(buffer) - start))
            buffer, at, more, following = buffer[start:] + block, 0, bool(block), 0
        else:
            return


class _Utf8Stream:
    """A stream whose bytes are UTF-8 where they are UTF-16 with a byte order mark, and else those of the `source`."""

    def __init__(self, source: ByteStream) -> None:
        self._source = source
        self._decoder: codecs.IncrementalDecoder | None = None
        self._begun = False
        self.is_marked = False  # by a byte order mark, which declares an encoding as CA does

    def read(self, size: int, /) -> bytes:
        data = self._source.read(size)
        if not self._begun and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        if not self._begun:
            self.is_marked = self._decoder is not None or data.startswith(codecs.BOM_UTF8)
        self._begun = True
        if self._decoder is None:
            return data
        return self._decoder.decode(data, final=not data).encode("utf-8", "replace")


def _with_start(tree: bytes) -> bytes:
    """A tree with the bracket or the semicolon that is missing before its root."""
    if tree[0] != _PAREN:
        return b"(" + tree
    return tree if _ROOT.match(tree) else b"(;" + tree[1:]


def _declaring_utf8(tree: bytes) -> bytes:
    """A game with CA[UTF-8], in place of what it declared; unchanged where it is no UTF-8 in spite of the mark."""
    if _charset_of(tree) != "utf-8":
        return tree
    if (declared := _ROOT_CHARSET.match(tree)) is not None:
        return declared[1] + b"CA[UTF-8]" + tree[declared.end() :]
    root = _ROOT.match(tree)
    return tree if root is None else b"(;CA[UTF-8]" + tree[root.end() :]


def first_tree(data: bytes) -> bytes:
    """The bytes of the first game tree of a text. Raises SgfError for a file of another format; empty where there is no
    tree otherwise."""
    if what := unread_archive(data):
        raise SgfError(what)
    tree = next(split_trees(io.BytesIO(data)), b"")
    if not tree and (what := other_format(data)):
        raise SgfError(what)
    return tree


def other_format(head: bytes) -> str:
    """What a file without a game tree is by its first 512 bytes or more, with what to do; empty where that is
    unknown."""
    name = next((name for name, pattern in _OTHER_FORMATS.items() if pattern.search(head, 0, _HEAD)), "")
    return f"{name}: convert it to SGF first" if name else ""


def unread_archive(head: bytes) -> str:
    """The kind of an archive that is not read, by its first 4 bytes or more, with what to do; empty for all else. To be
    asked before a game tree is looked for: compressed bytes look like one once in some 60 KB."""
    name = next((name for name, pattern in _ARCHIVES.items() if pattern.match(head)), "")
    return f"{name}: unpack it first" if name else ""


def _next_tree(buffer: bytes, at: int, following: int, max_bytes: int) -> tuple[int, int, int]:
    """Start and end of the next tree, and where the next game after its start begins. An end of -1 asks for more text
    from the start on.

    A tree that is still open after `max_bytes` bytes ends there. `following` is what the last call in this buffer
    returned: a file of open trees is searched for the next game once, not from each tree on.
    """
    found = _START.search(buffer, at)
    if not found:
        paren = buffer.rfind(b"(", at)
        return (len(buffer) if paren < 0 or len(buffer) - paren > max_bytes else paren), -1, following
    start = found.start()
    if following <= start:
        next_game = _NEW_GAME.search(buffer, start + 1)
        following = next_game.start() if next_game else len(buffer)
    end = _tree_end(buffer, start, following)
    # Characters of two bytes may hide brackets, so that the tree seems to end too early or not at all.
    wide = _wide_patterns(buffer[start : following if end < 0 else end])
    if wide:
        end = _tree_end(buffer, start, following, wide)
    if end < 0 and following < len(buffer):
        end = following
    elif end < 0 and len(buffer) - start >= max_bytes:
        end = min(len(buffer), start + max_bytes) if max_bytes else len(buffer)
    return start, end, following


def _wide_patterns(text: bytes) -> _TreePatterns | None:
    """The patterns for a tree in an encoding of which the second byte may look like a bracket."""
    return None if text.isascii() and not has_escapes(text) else _WIDE.get(_charset_of(text))


def _charset_of(text: bytes) -> str:
    """The encoding of a tree that is not split into properties yet."""
    declared = _CHARSET.search(text)
    return guess_charset(text, declared[1].decode("ascii") if declared else "")


def _tree_end(buffer: bytes, start: int, stop: int, patterns: _TreePatterns = _BYTES) -> int:
    """The position after the tree that begins at `start`, or -1 where it is still open at `stop`."""
    plain = patterns.plain_tree.match(buffer, start, stop)
    if plain:
        return plain.end()
    depth, at = int(buffer[start] != _PAREN), start
    while True:
        at = patterns.to_paren.match(buffer, at, stop).end()  # type: ignore[union-attr]  # matches the empty text too
        paren = buffer[at : min(at + 1, stop)]
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
    if not has_escapes(data) and not _HALF_BRACKET.search(data):
        return data
    charset = _charset_of(data)
    return data if charset == "utf-8" else data.decode(charset, "replace").encode("utf-8", "replace")


def has_lost_names(line: Sequence[Properties]) -> bool:
    """Whether properties with names in small letters, which sgfmill gives without a name, leave no move and no stone of
    a main line."""
    return any("" in node for node in line) and not any(node.keys() & {"B", "W", "AB", "AW"} for node in line)


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
    parsed = parse_tree(data)
    nodes = list(sgf_grammar.main_sequence_iter(parsed.tree))
    return Line(nodes, np.empty((0, 3), np.uint8), guess_charset(data, declared_charset(nodes[0])), parsed.damage)


@dataclass(frozen=True)
class ParsedTree:
    """A game tree as sgfmill's grammar gives it. `damage` describes damage of the text, if any; `is_cut` says whether
    the tree lacks a part of the text."""

    tree: sgf_grammar.Coarse_game_tree
    damage: str = ""
    is_cut: bool = False


def parse_tree(data: bytes) -> ParsedTree:
    """Read one game tree of `split_trees` with its variations; of a damaged one all that comes before the damage.

    Names with digits (LizzieYzy's `LZ2`), which sgfmill does not know, are kept. Variations without a node are left
    out, and so are brackets that hold only variations; a semicolon that is missing before the first node of a variation
    is added. Raises SgfError where no node can be read.
    """
    try:
        return ParsedTree(sgf_grammar.parse_sgf_game(data))
    except ValueError:
        pass
    text = _VALUE_OR_NAME.sub(_letters_for_digits, data)
    tokens, end = sgf_grammar.tokenise(text)
    good, read = _well_formed(tokens)
    if not good:
        raise SgfError("no game tree in the text")
    depth = good.count(_OPEN) - good.count(_CLOSE)
    tree = sgf_grammar.parse_sgf_game(b"".join(map(_token_text, good)) + b")" * depth)
    _restore_names(tree)
    unread, rest = tokens[read:], text[end:].strip()
    if not (depth or unread or rest):
        return ParsedTree(tree)
    in_value = rest.startswith(b"[") and b"]" not in rest
    broken_off = (not rest or in_value) and (not unread or (len(unread) == 1 and unread[0][0] == "I"))
    return ParsedTree(tree, "the text breaks off" if broken_off else "the text is damaged", bool(unread or rest))


def _well_formed(tokens: list[_Token]) -> tuple[list[_Token], int]:
    """The tokens up to the first misplaced one, with variations as `parse_tree` gives them, and how many were read."""
    good: list[_Token] = []
    read = 0
    kept: list[bool] = []  # whether each open bracket is among the good tokens
    for token, following in pairwise([*tokens, ("", b"")]):
        before = good[-1] if good else ("", b"")
        if not _fits(before, token, following):
            break
        read += 1
        if token == _OPEN:
            kept.append(True)
            if before == _OPEN:  # which now stands for this one: the outer one of the two has no node
                kept[-2] = False
                continue
        elif token == _CLOSE:
            if not kept.pop():
                continue
            if before == _OPEN:
                good.pop()
                continue
        elif token[0] == "I" and before == _OPEN:
            good.append(_NODE)
        good.append(token)
    while len(good) > 2 and (good[-1] == _OPEN or (good[-1] == _NODE and read < len(tokens))):
        good.pop()  # a variation or a node that has just begun
    return good, read


def _fits(before: _Token, token: _Token, following: _Token) -> bool:
    """Whether a token may stand between two others: a name in a node or at the start of a variation, and before a
    value, a value after a name or a value, a node not after a variation."""
    if token[0] == "I":
        return following[0] == "V" and (before in (_NODE, _OPEN) or before[0] == "V")
    if token[0] == "V":
        return before[0] in ("I", "V")
    return (before, token) != (_CLOSE, _NODE)


def _token_text(token: _Token) -> bytes:
    """A token as text; a name that had small letters alone is one again."""
    return b"[%b]" % token[1] if token[0] == "V" else token[1] or _SMALL_NAME


def _letters_for_digits(found: re.Match[bytes]) -> bytes:
    """A name with digits as one of letters, which `_restore_names` turns back; all else as it is."""
    name = (found[1] or b"").translate(None, string.ascii_lowercase.encode())  # as sgfmill does
    if not found[1] or (found[1].isalpha() and not name.startswith(_STAND_IN.encode())):
        return found[0]
    letters = _STAND_IN + name.hex().translate(str.maketrans(_HEX, _HEX_LETTERS))
    return letters.encode() if name.isupper() and len(letters) <= _MAX_NAME else _SMALL_NAME


def _restore_names(tree: sgf_grammar.Coarse_game_tree) -> None:
    """Give properties the names that `_letters_for_digits` took from them; their order stays."""
    back = str.maketrans(_HEX_LETTERS, _HEX)

    def restored(name: str) -> str:
        if not name.startswith(_STAND_IN):
            return name
        return bytes.fromhex(name.removeprefix(_STAND_IN).translate(back)).decode("ascii")

    pending = [tree]
    while pending:
        current = pending.pop()
        pending += current.children
        current.sequence = [{restored(name): values for name, values in node.items()} for node in current.sequence]
