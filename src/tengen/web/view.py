"""A position as the board draws it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tengen.game import Game
from tengen.web.counting import territory
from tengen.web.tree import Node

STONES = "XO."


@dataclass(frozen=True)
class BoardView:
    """All of a position that the board draws.

    `stones` and `territory` have a letter a point, row-major: `X`, `O`, `.` and `b`, `w`, `.` (empty before a count).
    `last` and `ko` are -1 for none.
    """

    size: int
    stones: str
    last: int
    ko: int
    turn: int
    dead: tuple[int, ...]
    territory: str
    branches: tuple[int, ...]

    @staticmethod
    def of(game: Game, node: Node, dead: Collection[int] | None) -> BoardView:
        """The position of `node`, which `game` stands at; `dead` are the stones marked so, None before a count."""
        size, last = game.size, node.point
        branches = tuple(child.point for child in node.children if child.point is not None)
        return BoardView(
            size=size,
            stones="".join(STONES[value] for value in game.board.ravel()),
            last=last if last is not None and last < size * size else -1,
            ko=game.ko if game.ko is not None else -1,
            turn=game.to_play,
            dead=tuple(sorted(dead or ())),
            territory=territory(game, dead) if dead is not None else "",
            branches=branches if len(node.children) > 1 else (),
        )
