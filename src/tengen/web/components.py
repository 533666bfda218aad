"""The three drawings of the page as NiceGUI elements: board, graph and tree. Each sends its state and hears taps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from tengen.engine import Candidate, SearchResult
from tengen.web.tree import Drawn, Report
from tengen.web.view import BoardView

Heard = Callable[[object], None]
MAX_SHOWN = 10
UNSET = object()


class Drawing(Element):
    """An element that a browser draws from its properties; one that does not change is not sent."""

    def set(self, **props: object) -> None:
        """Change properties of the drawing."""
        changed = {name: value for name, value in props.items() if self._props.get(name, UNSET) != value}
        if changed:
            self._props.update(changed)
            self.update()


class BoardElement(Drawing, component="static/board.js"):
    """The board. `on_point` hears each tapped point as the page sent it: unchecked.

    `set` changes `coordinates`, `sound`, `thinking` (something moves along the edge) and `line` (points of a sequence).
    """

    def __init__(self, on_point: Heard) -> None:
        super().__init__()
        self.set(coordinates=True, sound=True, thinking=False, line=[], candidates=[], ownership=[], refused=None)
        self._refusals = 0
        self.on("point", lambda event: on_point(_argument(event, "point")))

    def show(self, view: BoardView, hover: str, counting: bool) -> None:
        """Draw a position; `hover` is the colour of the stone under the pointer, empty for none."""
        label = f"Go board, {view.size} by {view.size}"
        self.set(**vars(view), hover=hover, counting=counting, label=label)

    def show_search(self, result: SearchResult | None, candidates: bool, ownership: bool) -> None:
        """Draw what a search of the shown position found: its moves, and whose each point will be."""
        self.set(
            candidates=candidate_rows(result) if result is not None and candidates else [],
            ownership=black_ownership(result) if result is not None and ownership else [],
        )

    def refuse(self, point: int) -> None:
        """Cross out a point for a moment."""
        self._refusals += 1
        self.set(refused={"point": point, "key": self._refusals})


class GraphElement(Drawing, component="static/graph.js"):
    """Winrate and score by move. `on_seek` hears the ply that was tapped: unchecked."""

    def __init__(self, on_seek: Heard) -> None:
        super().__init__()
        self.set(points=[], current=0, moves=1)
        self.on("seek", lambda event: on_seek(_argument(event, "ply")))

    def show(self, reports: list[tuple[int, Report]], current: int, moves: int) -> None:
        """Draw the judged plies of a line of so many moves."""
        points = [{"ply": ply, "winrate": round(r.winrate, 4), "score": round(r.score, 2)} for ply, r in reports]
        self.set(points=points, current=current, moves=max(1, moves))


class TreeElement(Drawing, component="static/tree.js"):
    """The variations. `on_choose` hears the id of the tapped node: unchecked."""

    def __init__(self, on_choose: Heard) -> None:
        super().__init__()
        self.set(nodes=[], current=0)
        self.on("choose", lambda event: on_choose(_argument(event, "id")))

    def show(self, nodes: list[Drawn], current: int) -> None:
        """Draw the tree with `current` marked."""
        self.set(nodes=nodes, current=current)


def candidate_rows(result: SearchResult, most: int = MAX_SHOWN) -> list[dict[str, Any]]:
    """The best moves as the board draws them; winrate, score and loss are for the side to move."""
    ranked = visited(result)[:most]
    top = ranked[0] if ranked else None
    return [
        {
            "point": move.point,
            "rank": rank,
            "winrate": round(move.winrate, 4),
            "score": round(move.score, 2),
            "visits": move.visits,
            "share": move.visits / max(1, top.visits),
            "loss": round(max(0.0, top.winrate - move.winrate), 4),
            "pv": list(move.pv),
        }
        for rank, move in enumerate(ranked)
        if top is not None
    ]


def visited(result: SearchResult) -> list[Candidate]:
    """The moves that the search has looked at, the one it would play first, then by visits."""
    moves = [move for move in result.candidates if move.visits > 0]
    return sorted(moves, key=lambda move: (move.point != result.move, -move.visits))


def black_ownership(result: SearchResult) -> list[float]:
    """Ownership row-major with Black positive, rounded for the wire."""
    sign = 1.0 if result.to_play == 0 else -1.0
    return [round(sign * value, 2) for value in result.ownership.ravel().tolist()]


def _argument(event: GenericEventArguments, name: str) -> object:
    return event.args.get(name) if isinstance(event.args, dict) else None
