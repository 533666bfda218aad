"""The moves of a game with their variations, and where each is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengen.engine import SearchResult

Drawn = tuple[int, int, int, str, int]


@dataclass(frozen=True)
class Report:
    """What the engine thinks of a position: Black's winrate in 0..1, Black's lead in points, and the search itself."""

    winrate: float
    score: float
    visits: int
    result: SearchResult | None = None


@dataclass(eq=False)
class Node:
    """One move and what follows it. The root has no move: `color` and `point` are None there.

    `other` keeps the properties of a record that the page does not show, as they came.
    """

    id: int
    parent: Node | None = None
    color: int | None = None
    point: int | None = None
    children: list[Node] = field(default_factory=list)
    comment: str = ""
    other: dict[str, list[bytes]] = field(default_factory=dict)
    report: Report | None = None

    @property
    def ply(self) -> int:
        """Moves from the root to here."""
        return sum(1 for _ in self.ancestors())

    def ancestors(self) -> Iterator[Node]:
        """The parents up to the root, the nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def path(self) -> list[Node]:
        """The nodes from the first move to here, without the root."""
        return [self, *self.ancestors()][-2::-1]


class GameTree:
    """Nodes by id, the root's is 0. First children are the main line, but each node knows which child was last seen."""

    def __init__(self) -> None:
        self.root = Node(0)
        self._nodes = {0: self.root}
        self._next = 1
        self._seen: dict[int, Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, node_id: int) -> Node | None:
        """The node with this id, if the tree still holds it."""
        return self._nodes.get(node_id)

    def add(self, parent: Node, color: int, point: int) -> Node:
        """The child of `parent` with this move: the old one where it exists, else a new one at the end."""
        for child in parent.children:
            if (child.color, child.point) == (color, point):
                return child
        node = Node(self._next, parent, color, point)
        self._next += 1
        self._nodes[node.id] = node
        parent.children.append(node)
        return node

    def remove(self, node: Node) -> None:
        """Take a node and all that follows out of the tree; the root stays."""
        if node.parent is None:
            raise ValueError("the root of a game tree cannot be removed")
        node.parent.children.remove(node)
        for gone in list(walk(node)):
            del self._nodes[gone.id]
            self._seen.pop(gone.id, None)
        if self._seen.get(node.parent.id) is node:
            del self._seen[node.parent.id]

    def visit(self, node: Node) -> None:
        """Remember the way to `node`, so that stepping forward follows it again."""
        for step in [node, *node.ancestors()]:
            if step.parent is not None:
                self._seen[step.parent.id] = step

    def following(self, node: Node) -> Node | None:
        """The child that stepping forward leads to."""
        return self._seen.get(node.id) or (node.children[0] if node.children else None)

    def line(self, node: Node) -> list[Node]:
        """The whole line through `node`: its path, then forward to the end, without the root."""
        line = node.path()
        following = self.following(node)
        while following is not None:
            line.append(following)
            following = self.following(following)
        return line

    def drawing(self) -> list[Drawn]:
        """(id, column, row, kind, index of the parent in this list or -1) of every node, parents before children.

        Main lines run straight; a branch takes the highest row that is free from its own column to its end.
        """
        depth_used: list[int] = []  # the rightmost column taken in each row
        drawn: list[Drawn] = []
        pending: list[tuple[Node, int, int, int]] = [(self.root, 0, 0, -1)]
        while pending:
            node, column, at_least, parent = pending.pop()
            row = at_least
            if parent >= 0 and node.parent is not None and node.parent.children[0] is not node:
                row = at_least + 1
                while row < len(depth_used) and depth_used[row] >= column - 1:
                    row += 1
            depth_used.extend([-1] * (row + 1 - len(depth_used)))
            depth_used[row] = max(depth_used[row], column)
            index = len(drawn)
            drawn.append(
                (node.id, column, row, ("black", "white")[node.color] if node.color is not None else "root", parent)
            )
            pending.extend((child, column + 1, row, index) for child in reversed(node.children))
        return drawn


def walk(node: Node) -> Iterator[Node]:
    """`node` and all that follows it, parents before children, main lines first; any depth."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))
