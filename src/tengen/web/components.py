"""The drawings of the page as NiceGUI elements: board, graph and tree."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from tengen.engine import Candidate, SearchResult
from tengen.engine.result import score_lead
from tengen.sgf import Analysis
from tengen.web.language import _
from tengen.web.tree_layout import TreeCell
from tengen.web.view import BoardView

EventHandler = Callable[[object], None]  # gets what a page sent, unchecked
MAX_CANDIDATES = 10
UNSET = object()
SLOW_SECONDS = 5.0
"""A browser that has not answered for so long, such as that of a hidden tab, gets the next drawing all the same."""


class Drawing(Element):
    """An element that the browser draws from its properties."""

    def set(self, **props: object) -> None:
        """Change properties. A change of one sends all of them."""
        changed = {name: value for name, value in props.items() if self._props.get(name, UNSET) != value}
        if changed:
            self._props.update(changed)
            self.update()


class BoardElement(Drawing, component="static/board.js"):
    """The board. `on_point` gets each tapped point.

    `set` changes `coordinates`, `sound`, `thinking` (an animation at the edge), `line` (points of a sequence), `hint`
    (a point, -1 for none), `policy` (the probability of each point, or nothing), `estimate` (`ScoreEstimate.owners`, or
    nothing), `numbers` (the points of stones with the numbers of their moves), `variations` (whether the moves that
    follow get rings) and `confirm` (whether a tap shows the stone first and a second tap plays it; None: on small touch
    screens).
    """

    def __init__(self, on_point: EventHandler) -> None:
        super().__init__()
        self.set(coordinates=True, sound=True, thinking=False, line=[], candidates=[], ownership=[], refused=None)
        self.set(hint=-1, policy=[], estimate="", confirm=None, said="")
        stones = {"black": _("Black"), "white": _("White"), "empty": _("empty"), "dead": _("dead")}
        marks = {"triangle": _("Triangle"), "square": _("Square"), "circle": _("Circle"), "cross": _("Cross")}
        others = {"selected": _("selected"), "label": _("label {text}"), "hint": _("best move")}
        texts = {"policy": _("policy {percent}%"), "play": _("Play {move}")}
        self.set(words={**stones, **marks, **others, **texts})
        self._refusals = self._asked = self._drawn = 0
        self._asked_at = 0.0
        self.on("point", lambda event: on_point(_argument(event, "point")))
        self.on("drawn", lambda event: self._note_drawn(_argument(event, "number")))

    def show(self, view: BoardView, hover: str, counting: bool, said: str) -> None:
        """Draw a position; `hover` is the color of the stone under the pointer, empty for none.

        `said` is read to those who do not see the board.
        """
        label = _("Go board, {size} by {size}. Arrow keys move a cursor, Enter plays, Esc leaves.", size=view.size)
        self.set(**vars(view), hover=hover, counting=counting, label=label, said=said)

    def show_search(self, result: SearchResult | None, candidates: bool, ownership: bool) -> None:
        """Draw the candidate moves and the ownership that a search of the shown position found."""
        self.set(
            candidates=candidate_rows(result) if result is not None and candidates else [],
            ownership=black_ownership(result) if result is not None and ownership else [],
        )

    def reveal(self) -> None:
        """Scroll the board into view where it is not."""
        self.run_method("reveal")

    def ask_drawn(self) -> None:
        """Ask the browser to tell when it has drawn what was sent before."""
        self._asked, self._asked_at = self._asked + 1, time.monotonic()
        self.run_method("tellDrawn", self._asked)

    @property
    def is_drawn(self) -> bool:
        """Whether the browser has drawn what was sent before the last `ask_drawn`. True also where it was asked more
        than SLOW_SECONDS ago."""
        return self._drawn == self._asked or time.monotonic() - self._asked_at > SLOW_SECONDS

    def _note_drawn(self, number: object) -> None:
        if isinstance(number, int) and self._drawn < number <= self._asked:
            self._drawn = number

    def refuse(self, point: int) -> None:
        """Cross out a point for a moment."""
        self._refusals += 1
        self.set(refused={"point": point, "key": self._refusals})


class GraphElement(Drawing, component="static/graph.js"):
    """Winrate, score lead and times along the line. `on_seek` gets the tapped place in the line, `on_release` is called
    when the pointer that seeks is released."""

    def __init__(self, *, on_seek: EventHandler, on_release: Callable[[], object]) -> None:
        super().__init__()
        self.set(points=(), series=0, mistakes=[], times=[], current=0, last=0, numbers=[0])
        self.set(
            words={
                "label": _("Winrate, score lead and time by move"),
                "winrate": _("Winrate"),
                "score": _("Score lead"),
                "time": _("Time"),
                "move": _("move {move}"),
                "black": _("Black {winrate}"),
                "seconds": _("{seconds} s"),
            }
        )
        self.on("seek", lambda event: on_seek(_argument(event, "place")))
        self.on("released", on_release, args=[])

    @property
    def has_data(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self._props["points"] or self._props["times"])

    def show(
        self,
        analyses: list[tuple[int, Analysis]],
        current: int,
        numbers: list[int],
        mistakes: Sequence[tuple[int, int]],
        times: Sequence[tuple[int, int, float]],
    ) -> None:
        """Draw the analyses of a line by place; `current` is the shown place, `numbers` are the move numbers.

        `mistakes` are places with the class of the loss, `times` places with the color and the seconds of the move. A
        step through the line sends the place alone, and a search that goes on the changed points.
        """
        points = tuple(  # which NiceGUI does not copy
            {"place": place, "winrate": round(found.winrate, 4), "score": rounded(found.score_lead)}
            for place, found in analyses
        )
        marked = [{"place": place, "grade": grade} for place, grade in mistakes]
        used = [{"place": place, "color": color, "seconds": round(seconds, 1)} for place, color, seconds in times]
        line = {"mistakes": marked, "times": used, "last": len(numbers) - 1, "numbers": numbers}
        known = {point["place"]: point for point in self._props["points"]}
        is_same_line = all(self._props[name] == value for name, value in line.items())
        if current != self._props["current"]:
            with self._props.suspend_updates():
                self._props["current"] = current
            self.run_method("mark", current)
        if not is_same_line or not known.keys() <= {point["place"] for point in points}:
            # Messages come after the properties of the same moment: the series tells those of earlier points.
            self.set(points=points, series=self._props["series"] + 1, **line)
        elif changed := [point for point in points if known.get(point["place"]) != point]:
            with self._props.suspend_updates():
                self._props["points"] = points
            self.run_method("merge", changed, self._props["series"])


class TreeElement(Drawing, component="static/tree.js"):
    """The tree of variations. `on_choose` gets the id of the tapped node."""

    def __init__(self, on_choose: EventHandler) -> None:
        super().__init__()
        self.set(nodes=[], current=0, label=_("Tree of variations; the arrow keys go through it."))
        self.on("choose", lambda event: on_choose(_argument(event, "id")))

    def show(self, nodes: list[TreeCell], current: int) -> None:
        """Draw the tree with `current` marked. The nodes, up to a megabyte, are sent when they change."""
        if nodes == self._props["nodes"] and current == self._props["current"]:
            return
        with self._props.suspend_updates():
            self._props["current"] = current
        self.set(nodes=nodes)
        self.run_method("mark", current)


def candidate_rows(result: SearchResult, limit: int = MAX_CANDIDATES) -> list[dict[str, Any]]:
    """The best moves as the board draws them. Winrate and score are for the side to move."""
    ranked = visited(result)[:limit]
    return [
        {
            "point": move.point,
            "rank": rank,
            "winrate": round(move.winrate, 4),
            "score": rounded(score_lead(move)),
            "visits": move.visits,
            "color": heat(move, ranked[0]),
            "pv": list(move.pv),
        }
        for rank, move in enumerate(ranked)
    ]


def heat(move: Candidate, best: Candidate) -> str:
    """The color of a candidate as CSS: teal for the best, then light green through amber to dark red at 12% winrate or
    6 points lost. In a decided game the points alone tell moves apart. The lightness tells the colors apart to who does
    not see red and green; the darkest still carries the dark text."""
    if move is best:
        return "hsl(176 72% 42%)"
    (mine, its), lost = (score_lead(move), score_lead(best)), best.winrate - move.winrate
    points = 0.0 if mine is None or its is None else its - mine
    share = min(1.0, max(0.0, lost / 0.12, points / 6))
    return f"oklch({0.88 - 0.26 * share:.3f} 0.16 {150 - 123 * share:.0f})"


def rounded(score: float | None) -> float | None:
    """Points for the wire."""
    return None if score is None else round(score, 2)


def visited(result: SearchResult) -> list[Candidate]:
    """The moves with 1% of the visits or more: the move to play first, then by visits."""
    total = sum(move.visits for move in result.candidates)
    moves = [move for move in result.candidates if move.visits and 100 * move.visits >= total]
    return sorted(moves, key=lambda move: (move.point != result.move, -move.visits))


def black_ownership(result: SearchResult) -> list[float]:
    """Ownership row-major with Black positive, rounded for the wire; empty where the engine does not know it."""
    if result.ownership is None:
        return []
    sign = 1.0 if result.to_play == 0 else -1.0
    return [round(sign * value, 2) for value in result.ownership.ravel().tolist()]


def _argument(event: GenericEventArguments, name: str) -> object:
    return event.args.get(name) if isinstance(event.args, dict) else None
