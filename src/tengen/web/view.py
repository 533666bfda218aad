"""What the page draws: a position for the board, and the places of the nodes in the tree of variations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tengen.game import Game
from tengen.sgf import GameNode, GameTree
from tengen.web.counting import territory

STONES = "XO."
MAX_LABEL = 100
"""Characters of a label that are sent; the board draws three, and shows the others under the pointer."""


@dataclass(frozen=True)
class BoardView:
    """What the board draws of a position.

    `stones` and `territory` have a letter a point, row-major: `X`, `O`, `.` and `b`, `w`, `.`. The territory is that of
    a count, or what the record marks, else empty.
    `last` and `ko` are -1 for none, and so is `next`, the move that follows in the shown line. `branches` are points of
    moves that follow, where there are several. `marks` are (point, kind), `labels` (point, text), `lines` (from, to,
    whether it is an arrow).
    """

    size: int
    stones: str
    last: int
    ko: int
    turn: int
    dead: tuple[int, ...]
    territory: str
    branches: tuple[int, ...]
    next: int
    marks: tuple[tuple[int, str], ...]
    labels: tuple[tuple[int, str], ...]
    lines: tuple[tuple[int, int, bool], ...]
    dimmed: tuple[int, ...]

    @staticmethod
    def of(game: Game, node: GameNode, dead: Collection[int] | None) -> BoardView:
        """The view of `node`, whose position is `game`; `dead` are the stones marked dead, None before a count."""
        size = game.size
        last = game.moves[-1][1] if game.moves else -1
        branches = tuple(child.point for child in node.variations if child.point is not None)
        following = node.tree.following(node)
        onward = following.point if following is not None and following.point is not None else -1
        return BoardView(
            size=size,
            stones="".join(STONES[value] for value in game.board.ravel()),
            last=last if last != game.pass_point else -1,
            ko=game.ko if game.ko is not None else -1,
            turn=game.to_play,
            dead=tuple(sorted(dead or ())),
            territory=territory(game, dead) if dead is not None else _marked_territory(node),
            branches=tuple(point for point in branches if point != game.pass_point) if len(branches) > 1 else (),
            next=onward if onward != game.pass_point else -1,
            marks=tuple(sorted(node.marks.items())),
            labels=tuple((point, text[:MAX_LABEL]) for point, text in sorted(node.labels.items())),
            lines=tuple((*pair, arrow) for arrow in (False, True) for pair in (node.lines, node.arrows)[arrow]),
            dimmed=tuple(node.dimmed),
        )


def _marked_territory(node: GameNode) -> str:
    marked = node.territory
    return "".join("bw"[marked[point]] if point in marked else "." for point in range(node.tree.size**2)) * bool(marked)


TreeCell = tuple[int, int, int, str, int, int, int]


def tree_layout(tree: GameTree, grades: Mapping[int, int] = MappingProxyType({})) -> list[TreeCell]:
    """(id, column, row, kind, index of the parent in this list or -1, move number, grade) of every node, parents first.

    `grades` are the classes of losses by node; a move without one has -1. The kind is `black` or `white` for a move,
    else `root` or `note`. The main line is the first row. A variation takes the highest row below its parent that is
    free from its own column on.
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
        cells.append((node.id, column, row, kind, parent, number, grades.get(node.id, -1)))
    return cells


class _Rows:
    """The last column taken in each row, as the leaves of a binary tree of minimums: trees have thousands of rows."""

    def __init__(self, rows: int) -> None:
        self._first = 1 << rows.bit_length()  # more leaves than rows, so that one is always free
        self._last = [-1] * (2 * self._first)

    def take(self, row: int, column: int) -> None:
        """Take a column of a row, and all before it."""
        at, last = self._first + row, self._last
        last[at] = max(last[at], column)
        while at > 1:
            at //= 2
            last[at] = min(last[2 * at], last[2 * at + 1])

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
