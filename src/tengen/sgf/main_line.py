"""The main line of a record: game information, setup and moves, with the quirks of servers.

The moves are not checked by the rules; `tengen.sgf.read_game` and the importer do that.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from tengen import coords
from tengen.coords import MAX_SIZE, MIN_SIZE, SIZES
from tengen.errors import SgfError, printable
from tengen.handicap import fixed_handicap
from tengen.sgf.grammar import RECORD_LIMITS, Line, Properties, RecordLimits, has_lost_names, read_line
from tengen.sgf.info import SgfInfo, read_info, text_of

Moves = npt.NDArray[np.uint16]
"""Packed moves, as in the game store: the point (`size * size` for pass), with bit 15 set for White."""

SMALL_NAMES = "no moves, but properties with names in small letters"

_COLOR_SHIFT = 15
_PLAYERS = {b"B": 0, b"1": 0, b"W": 1, b"2": 1}
# Missing handicap stones are placed on the corner points. Servers place more than four stones differently.
_MAX_MISSING_STONES = 4


class SgfProblem(SgfError):
    """A record that cannot be used. `reason` is one of a few fixed texts, `detail` gives the value or the place."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        self.detail = printable(detail)
        super().__init__(f"{reason}: {self.detail}" if detail else reason)


@dataclass(frozen=True, eq=False)
class SgfRecord:
    """The main line of a game, not checked by the rules.

    stones: the setup, color by point. first: the color to play first. problem: what ended the line early, or None.
    """

    size: int
    info: SgfInfo
    stones: dict[int, int]
    first: int
    moves: Moves
    problem: SgfProblem | None = None

    def setup(self, color: int) -> list[int]:
        """The points of one color's setup stones, in order."""
        return sorted(point for point, owner in self.stones.items() if owner == color)


def read_record(data: bytes, limits: RecordLimits = RECORD_LIMITS) -> SgfRecord:
    """Read the first game tree in `data`. Raises SgfProblem unless it is a game of Go on a square board of a size that
    this build plays."""
    try:
        limits.check(data)
    except SgfError as error:
        raise SgfProblem("record too large", str(error)) from None
    try:
        line = read_line(data)
    except SgfError as error:
        raise SgfProblem("no game tree", str(error)) from None
    size = board_size(line.nodes[0])
    moves, problem = _read_moves(line, size)
    played = (divmod(int(move), 1 << _COLOR_SHIFT) for move in moves)
    info = read_info(line.nodes[0], line.charset, leading_stones(played, size))
    stones, to_play = read_setup(_until_first_move(line.nodes), size)
    first = int(moves[0] >> _COLOR_SHIFT) if len(moves) else first_player(stones, to_play)
    stones = stones or missing_handicap(info, size, first)
    return SgfRecord(size, info, stones, first, moves, problem)


def board_size(root: Properties) -> int:
    """The board size of a root. Raises SgfProblem unless it is Go on a square board of MIN_SIZE to MAX_SIZE lines."""
    game, text = text_of(root, "GM", "ascii").strip(), text_of(root, "SZ", "ascii").strip()
    if game not in ("", "1"):
        raise SgfProblem("not a game of Go", f"GM[{game[:40]}]")
    width, _, height = text.partition(":")
    if height and height != width:
        raise SgfProblem("board is not square", f"SZ[{text[:40]}]")
    if not text:
        return 19
    if not (width.isdecimal() and len(width) < 9 and MIN_SIZE <= int(width) <= MAX_SIZE):
        raise SgfProblem(f"board size is not {SIZES}", f"SZ[{text[:40]}]")
    return int(width)


def leading_stones(moves: Iterable[tuple[int, int]], size: int) -> int:
    """How many stones Black plays before White's first move, of moves as (color, point); 0 where White makes none."""
    stones = 0
    for color, point in moves:
        if color:
            return stones
        stones += point != coords.pass_point(size)
    return 0


def read_setup(
    nodes: Iterable[Properties], size: int, off_board: list[str] | None = None
) -> tuple[dict[int, int], int | None]:
    """The stones that these nodes set up, color by point, and the color to play if given; see setup_points."""
    stones: dict[int, int] = {}
    to_play = None
    for node in nodes:
        for color, name in enumerate(("AB", "AW", "AE")):
            for point in setup_points(node, name, size, off_board):
                stones[point] = color
        to_play = player(node, to_play)
    return {point: color for point, color in stones.items() if color < 2}, to_play


def first_player(stones: dict[int, int], to_play: int | None) -> int:
    """Who begins where no move says it: the color given, else White after a handicap, two or more stones of Black's
    alone."""
    if to_play is not None:
        return to_play
    return int(len(stones) > 1 and not any(stones.values()))


def setup_points(node: Properties, name: str, size: int, off_board: list[str] | None = None) -> list[int]:
    """The points of a setup property: single points and rectangles `dd:ff`.

    An empty value, as in `AB[]`, is no point. Raises SgfProblem for a value off the board, unless a list `off_board`
    takes it, such as `AB[zz]`.
    """
    points: list[int] = []
    for value in filter(bytes.strip, node.get(name, ())):
        corner, _, other = value.partition(b":")
        first, last = board_point(corner, size), board_point(other or corner, size)
        if first is None or last is None:
            strange = printable(f"{name}[{value[:12].decode('ascii', 'replace')}]")
            if off_board is None:
                raise SgfProblem("a point off the board", strange)
            off_board.append(strange)
            continue
        if len(points) > size * size:  # rectangles that cover the board again and again
            raise SgfProblem("more stones than points", f"{len(node[name]):,} values of {name} in one node")
        rows, columns = (sorted(part) for part in zip(divmod(first, size), divmod(last, size), strict=True))
        points += [r * size + c for r in range(rows[0], rows[1] + 1) for c in range(columns[0], columns[1] + 1)]
    return points


def player(node: Properties, otherwise: int | None = None) -> int | None:
    """The color to play that a node gives (PL): a word, or 1 and 2 as in old records."""
    return _PLAYERS.get(node["PL"][0].strip()[:1].upper(), otherwise) if "PL" in node else otherwise


def move_of(node: Properties, size: int) -> tuple[int, int] | None:
    """The (color, point) that a node plays, None without a move. Raises SgfProblem for two different moves.

    Lizzie and LizzieYzy write a pass as the point (size, size): `B[jj]` on 9x9.
    """
    played = {(color, value.strip()) for color, name in enumerate("BW") for value in node.get(name, ())}
    if len(played) > 1:
        raise SgfProblem("two moves in one node")
    for color, value in played:
        is_pass = value == bytes([ord("a") + size]) * 2
        return color, coords.pass_point(size) if is_pass else point_of(value, size)
    return None


def point_of(value: bytes, size: int) -> int:
    """The point of a raw value, `size * size` for pass. Raises SgfProblem off the board."""
    point = _points(size).get(value.strip())
    if point is None:
        raise SgfProblem("a point off the board", f"[{value.strip()[:12].decode('ascii', 'replace')}]")
    return point


def board_point(value: bytes, size: int) -> int | None:
    """The point of a raw value; None for a pass and off the board."""
    point = _points(size).get(value.strip())
    return None if point == coords.pass_point(size) else point


@cache
def _points(size: int) -> dict[bytes, int]:
    """The points and the pass by their values: a node may have 400,000, which are read each time that it is drawn."""
    points = {}
    for text in ("", *map("".join, product(coords.SGF_LETTERS, repeat=2))):
        with suppress(SgfError):
            points[text.encode()] = coords.from_sgf(text, size)
    return points


def missing_handicap(info: SgfInfo, size: int, first: int) -> dict[int, int]:
    """The handicap stones that a record does not give although White plays first.

    Raises SgfProblem where their points are unknown: more than four stones, or a board below 7x7.
    """
    if info.handicap < 2 or first == 0:
        return {}
    if info.handicap > _MAX_MISSING_STONES or size < 7:
        raise SgfProblem("handicap stones not given", f"HA[{info.handicap}]")
    return dict.fromkeys(fixed_handicap(size, info.handicap), 0)


def _until_first_move(nodes: list[Properties]) -> list[Properties]:
    with_moves = (i for i, node in enumerate(nodes) if "B" in node or "W" in node)
    return nodes[: next(with_moves, len(nodes)) + 1]


def _read_moves(line: Line, size: int) -> tuple[Moves, SgfProblem | None]:
    moves: list[int] = []
    try:
        for node in line.nodes:
            if moves and any(name in node for name in ("AB", "AW", "AE")):
                raise SgfProblem("stones set up in mid-game")
            if move := move_of(node, size):
                moves.append(move[1] | move[0] << _COLOR_SHIFT)
    except SgfProblem as problem:
        where = f"after move {len(moves)}"
        detail = f"{problem.detail} {where}" if problem.detail else where
        return np.array(moves, np.uint16), SgfProblem(problem.reason, detail)
    plain = _plain_moves(line, size)
    whole = np.concatenate([np.array(moves, np.uint16), plain])
    if len(plain) < len(line.plain):
        return whole, SgfProblem("a point off the board", f"after move {len(whole)}")
    if not len(plain) and has_lost_names(line.nodes):
        return whole, SgfProblem(SMALL_NAMES)
    return whole, SgfProblem(line.damage, f"after move {len(whole)}") if line.damage else None


def _plain_moves(line: Line, size: int) -> Moves:
    """The plain moves up to the first one off the board; the point (size, size) is a pass, as for `move_of`."""
    column, row = (line.plain[:, i].astype(np.uint16) - ord("a") for i in (1, 2))
    is_pass = (column == size) & (row == size)
    points = np.where(is_pass, np.uint16(coords.pass_point(size)), row * size + column)
    packed = points | (line.plain[:, 0] == ord("W")).astype(np.uint16) << _COLOR_SHIFT
    off = np.flatnonzero(((column >= size) | (row >= size)) & ~is_pass)
    return np.asarray(packed[: off[0]] if len(off) else packed, np.uint16)
