"""What the page shows: a position for the board, the remarks of a record, and the places of the nodes in the tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from tengen.game import Game
from tengen.review.game import BAD, DOUBTFUL
from tengen.sgf import GameNode, GameTree
from tengen.sgf.main_line import SgfProblem, setup_points
from tengen.web.counting import territory
from tengen.web.language import N_, _

STONES = "XO."
MAX_LABEL = 100
"""Characters of a label that are sent; the board draws three, and shows the others under the pointer."""
MoveNumbers = Literal["none", "last", "variations", "all"]
"""Which stones show the numbers of their moves: those of the last `LAST_NUMBERS` moves, or those of a variation."""
MOVE_NUMBERS: tuple[MoveNumbers, ...] = get_args(MoveNumbers)
LAST_NUMBERS = 5
MAX_NAME = 200
"""Characters of a node's name that are shown."""
GOOD = 6
"""The grade of a move that the record calls good or interesting: after those of losses, 0 to 5."""

# The words for the annotations of SGF; the second ones where its value is 2.
ANNOTATIONS: dict[str, tuple[str, ...]] = {
    "TE": (N_("Good move"), N_("Very good move")),
    "IT": (N_("Interesting move"),),
    "DO": (N_("Doubtful move"),),
    "BM": (N_("Bad move"), N_("Very bad move")),
    "GB": (N_("Good for Black"), N_("Very good for Black")),
    "GW": (N_("Good for White"), N_("Very good for White")),
    "DM": (N_("Even position"),),
    "UC": (N_("Unclear position"), N_("Very unclear position")),
    "HO": (N_("Hotspot"), N_("Important hotspot")),
}
# The grades of moves that a record annotates; a move that is very bad has the next one.
MOVE_GRADES = {"TE": GOOD, "IT": GOOD, "DO": DOUBTFUL, "BM": BAD}


@dataclass(frozen=True)
class BoardView:
    """What the board draws of a position.

    `stones` and `territory` have a letter a point, row-major: `X`, `O`, `.` and `b`, `w`, `.`. The territory is that of
    a count, or what the record marks, else empty.
    `last` and `ko` are -1 for none, and so is `next`, the move that follows in the shown line. `branches` are points of
    moves that follow, where there are several. `marks` are (point, kind), the kind `selected` too (SL), `labels`
    (point, text), `lines` (from, to, whether it is an arrow).
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
            marks=tuple(sorted({**dict.fromkeys(_selected(node), "selected"), **node.marks}.items())),
            labels=tuple((point, text[:MAX_LABEL]) for point, text in sorted(node.labels.items())),
            lines=tuple((*pair, arrow) for arrow in (False, True) for pair in (node.lines, node.arrows)[arrow]),
            dimmed=tuple(node.dimmed),
        )


def _marked_territory(node: GameNode) -> str:
    marked = node.territory
    return "".join("bw"[marked[point]] if point in marked else "." for point in range(node.tree.size**2)) * bool(marked)


def _selected(node: GameNode) -> list[int]:
    """The selected points (SL), none where one is off the board."""
    try:
        return setup_points(node.properties, "SL", node.tree.size)
    except SgfProblem:
        return []


def remarks(node: GameNode) -> str:
    """The name of a node (N) and its annotations in words, as one line; empty where it has neither."""
    name = " ".join(node.text("N").split())
    if len(name) > MAX_NAME:
        name = f"{name[:MAX_NAME]}\u2026"
    found = {key: words for key, words in ANNOTATIONS.items() if key in node.properties}
    said = [_(words[-1] if _is_strong(node, key) else words[0]) for key, words in found.items()]
    return " \u00b7 ".join(filter(None, (name, *said)))


def _is_strong(node: GameNode, annotation: str) -> bool:
    return node.text(annotation).strip() == "2"


def _has_remark(node: GameNode) -> bool:
    """Whether a node has a comment, a name or an annotation that no color of a move shows."""
    text = b"".join(value for name in ("C", "N") for value in node.properties.get(name, ()))
    return bool(text.strip()) or any(name in node.properties for name in ANNOTATIONS if name not in MOVE_GRADES)


def _annotated_grade(node: GameNode) -> int:
    """The grade of the annotation of a move, -1 without one."""
    name = next((name for name in MOVE_GRADES if name in node.properties), None)
    if node.move is None or name is None:
        return -1
    return MOVE_GRADES[name] + (name == "BM" and _is_strong(node, name))


def move_numbers(game: Game, node: GameNode, wanted: MoveNumbers) -> list[tuple[int, int]]:
    """(point, number) of the stones of `game`, the position of `node`, that show the number of their move.

    The moves count from 1, passes too; with `variations` from where the path to `node` leaves the main line.
    """
    if wanted == "none":
        return []
    numbers: dict[int, int] = {}
    count, is_main = 0, True
    for step in node.path:
        if wanted == "variations" and is_main and step.parent is not None and step is not step.parent.variations[0]:
            count, is_main = 0, False
            numbers.clear()
        for point in step.setup:
            numbers.pop(point, None)
        if step.point is not None:
            count += 1
            numbers[step.point] = count
    if wanted == "variations" and is_main:
        return []
    first = count - LAST_NUMBERS if wanted == "last" else 0
    stones = game.board.ravel()
    return [
        (point, number)
        for point, number in sorted(numbers.items())
        if number > first and point != game.pass_point and STONES[stones[point]] != "."
    ]


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
        grade = grades[node.id] if node.id in grades else _annotated_grade(node)
        cells.append((node.id, column, row, kind, parent, number, grade, int(_has_remark(node))))
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
