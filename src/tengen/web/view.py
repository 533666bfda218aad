"""The view of a position: what the board draws of it, and the numbers of its moves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from tengen.game import Game
from tengen.sgf import GameNode
from tengen.sgf.main_line import SgfProblem, setup_points
from tengen.web.counting import territory

STONES = "XO."
MAX_LABEL = 100
"""Characters of a label that are sent; the board draws three, and shows the others under the pointer."""
MAX_LINES = 1000
"""Lines and arrows that are sent: a record may have 400,000 in a position, and nobody can see more than a few."""
MoveNumbers = Literal["none", "last", "variations", "all"]
"""Which stones show the numbers of their moves: those of the last `LAST_NUMBERS` moves, or those of a variation."""
MOVE_NUMBERS: tuple[MoveNumbers, ...] = get_args(MoveNumbers)
LAST_NUMBERS = 5


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
        lines = [(*pair, False) for pair in node.lines] + [(*pair, True) for pair in node.arrows]
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
            lines=tuple(lines[:MAX_LINES]),
            dimmed=tuple(node.dimmed),
        )


def _marked_territory(node: GameNode) -> str:
    marked = node.territory
    if not marked:
        return ""
    return "".join("bw"[marked[point]] if point in marked else "." for point in range(node.tree.size**2))


def _selected(node: GameNode) -> list[int]:
    """The selected points (SL), none where one is off the board."""
    try:
        return setup_points(node.properties, "SL", node.tree.size)
    except SgfProblem:
        return []


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
