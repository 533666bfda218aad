"""Points, and their conversion to and from the coordinates of GTP, SGF and (row, column).

| system | first column, first row | example on 19x19 | pass |
|---|---|---|---|
| point | 0 is the top-left corner, then row by row | 60 | `size * size` |
| (row, column) | (0, 0) is the top-left corner | (3, 3) | None |
| GTP | A1 is the bottom-left corner, no column I | D16 | pass |
| SGF | aa is the top-left corner | dd | empty; tt too up to 19x19 |
"""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.errors import IllegalMove, SgfError, TengenError

MIN_SIZE, MAX_SIZE = 2, _native.MAX_SIZE
"""The board sizes. Boards are square; the largest is 19, or 25 with TENGEN_MAX_SIZE=25 in the environment."""
SIZES = f"{MIN_SIZE} to {MAX_SIZE}" + (", or to 25 with TENGEN_MAX_SIZE=25" if MAX_SIZE < 25 else "")


def check_size(size: int) -> None:
    """Raise TengenError for a size that no board has."""
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise TengenError(f"board size {size} is out of range: choose {SIZES}")


def pass_point(size: int) -> int:
    """The point that stands for a pass: the number after the last point of the board."""
    return size * size


def policy_index(points: npt.ArrayLike, size: int, edge: int) -> npt.NDArray[np.int64]:
    """The policy indices, of a tensor of edge H = W >= size, of points of any shape; a pass is the last one."""
    points = np.asarray(points, np.int64)
    rows, columns = np.divmod(points, size)
    return np.where(points == pass_point(size), pass_point(edge), rows * edge + columns)


GTP_COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
SGF_LETTERS = "abcdefghijklmnopqrstuvwxy"
_PAIR = re.compile(r"\(\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\)")


def neighbors(point: int, size: int) -> Iterator[int]:
    """The points next to `point`."""
    row, column = divmod(point, size)
    if row > 0:
        yield point - size
    if row < size - 1:
        yield point + size
    if column > 0:
        yield point - 1
    if column < size - 1:
        yield point + 1


def to_rc(point: int, size: int) -> tuple[int, int] | None:
    """Row and column of a point, from the top-left corner; None for pass. Raises IllegalMove off the board."""
    _check(point, size)
    return None if point == pass_point(size) else divmod(point, size)


def to_gtp(point: int, size: int) -> str:
    """The GTP vertex of a point, such as `D4`; `pass` for pass. Raises IllegalMove off the board."""
    place = to_rc(point, size)
    return "pass" if place is None else f"{GTP_COLUMNS[place[1]]}{size - place[0]}"


def from_gtp(text: str, size: int) -> int:
    """The point of `D4`, `d4`, `pass` or, as in KataGo, `(3,15)`: column and row from the top-left corner, from 0.

    Raises IllegalMove for any other text and off the board.
    """
    vertex = text.strip().upper()
    if vertex == "PASS":
        return pass_point(size)
    if (pair := _PAIR.fullmatch(vertex)) and int(pair[1]) < size and int(pair[2]) < size:
        return int(pair[2]) * size + int(pair[1])
    column, number = GTP_COLUMNS.find(vertex[:1]), vertex[1:]
    if vertex and 0 <= column < size and number.isascii() and number.isdecimal() and len(number) <= 2:
        row = size - int(number)
        if 0 <= row < size:
            return row * size + column
    raise IllegalMove(f"{text!r} is not a vertex on {size}x{size}; use A1 to {to_gtp(size - 1, size)}, or pass")


def to_sgf(point: int, size: int) -> str:
    """The SGF value of a point, such as `dd`; empty for pass. Raises IllegalMove off the board."""
    place = to_rc(point, size)
    return "" if place is None else SGF_LETTERS[place[1]] + SGF_LETTERS[place[0]]


def from_sgf(text: str, size: int) -> int:
    """The point of an SGF move value; empty is pass, and `tt` up to 19x19. Raises SgfError for any other text."""
    if text == "" or (text == "tt" and size <= 19):
        return pass_point(size)
    if len(text) == 2:
        column, row = (SGF_LETTERS.find(letter) for letter in text)
        if 0 <= row < size and 0 <= column < size:
            return row * size + column
    raise SgfError(f"{text!r} is not a point of the {size}x{size} board; use aa to {SGF_LETTERS[size - 1] * 2}")


def _check(point: int, size: int) -> None:
    if not 0 <= point <= pass_point(size):
        raise IllegalMove(f"point {point} is off the {size}x{size} board of points 0 to {size * size - 1}")
