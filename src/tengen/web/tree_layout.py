"""The layout of a game tree: the column, the row and the look of every node."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tengen.sgf import GameNode, GameTree
from tengen.web.annotations import annotated_grade, has_remark

TreeCell = tuple[int, int, int, str, int, int, int, int]


def tree_layout(tree: GameTree, grades: Mapping[int, int] = MappingProxyType({})) -> list[TreeCell]:
    """(id, column, row, kind, index of the parent in this list or -1, move number, grade, whether it has a remark as 0
    or 1) of every node, parents first.

    `grades` are the classes of losses by node; a move without one has the grade of its annotation, or -1. The kind is
    `black` or `white` for a move, else `root` or `note`. The main line is the first row. A variation takes the highest
    row below its parent that is free from its own column on.
    """
    rows = _Rows(len(tree))
    cells: list[TreeCell] = []
    pending: list[tuple[GameNode, bool, int, int, int, int]] = [(tree.root, True, 0, 0, -1, 0)]
    while pending:
        node, is_main, column, row, parent, moves = pending.pop()
        if not is_main:
            row = rows.next_free(row + 1, column)
        rows.take(row, column)
        kind = ("black", "white")[node.color] if node.color is not None else "root" if parent < 0 else "note"
        number = moves + (node.move is not None)
        variations = list(enumerate(node.variations))
        pending.extend((child, not place, column + 1, row, len(cells), number) for place, child in variations[::-1])
        grade = grades[node.id] if node.id in grades else annotated_grade(node)
        cells.append((node.id, column, row, kind, parent, number, grade, int(has_remark(node))))
    return cells


class _Rows:
    """The last column taken in each row, as the leaves of a binary tree of minimums: trees have thousands of rows."""

    def __init__(self, rows: int) -> None:
        self._first = 1 << rows.bit_length()  # more leaves than rows, so that one is always free
        self._last = [-1] * (2 * self._first)

    def take(self, row: int, column: int) -> None:
        """Take a column of a row, and all before it."""
        at, last = self._first + row, self._last
        while at and last[at] < column:  # above a minimum that stays all others stay too
            last[at] = column
            column = min(column, last[at ^ 1])
            at //= 2

    def next_free(self, row: int, column: int) -> int:
        """The first row from this one on that is free from a column on, with a gap before it."""
        at = self._first + row
        while self._last[at] >= column - 1:
            while at % 2:
                at //= 2
            at += 1
        while at < self._first:
            at = 2 * at + (self._last[2 * at] >= column - 1)
        return at - self._first
