"""What the engine thinks, beside the board: its best moves, what the board shows of it, and the graph of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import events, ui

from tengen.coords import to_gtp
from tengen.engine import SearchResult
from tengen.web.components import GraphElement, Heard, visited
from tengen.web.tree import Report

ROWS = 5
LINE_SHOWN = 8


class AnalysisPanel:
    """A switch, and below it what it brings."""

    def __init__(
        self,
        on_switch: Callable[[bool], None],
        on_options: Callable[[], None],
        on_review: Callable[[], None],
        on_line: Callable[[Sequence[int]], None],
        on_choose: Heard,
        on_seek: Heard,
    ) -> None:
        self._on_switch = on_switch
        with ui.element("div").classes("tg-card"):
            with ui.element("div").classes("tg-row"):
                ui.label("Analysis").classes("tg-heading tg-grow")
                self._told = ui.label().classes("tg-note").props("data-testid=searched")
                self._switch = ui.switch(on_change=self._switched)
                self._switch.props('dense color=teal data-testid=analysis aria-label="Analysis"')
            with ui.element("div").classes("tg-toggles") as self._options:
                self._moves, self._owners = (
                    ui.checkbox(text, value=True, on_change=on_options).props("dense size=sm color=teal")
                    for text in ("Moves", "Territory")
                )
                review = ui.button("Judge the whole game", on_click=on_review, color=None)
                review.props("flat dense no-caps data-testid=review").classes("tg-link")
            self._table = MoveTable(on_line, on_choose)
            self._graph = GraphElement(on_seek).classes("mt-2").props("data-testid=graph")

    @property
    def shows_moves(self) -> bool:
        """Whether a person wants to see the candidates on the board."""
        return bool(self._moves.value)

    @property
    def shows_owners(self) -> bool:
        """Whether a person wants to see there whose each point will be."""
        return bool(self._owners.value)

    def toggle(self) -> None:
        """Turn the analysis on or off, as the switch does."""
        self._switch.set_value(not self._switch.value)

    def show(self, result: SearchResult | None, size: int, told: str, on: bool, graph: bool) -> None:
        """Draw a search of a position on a board of this size, `told` beside the switch, which is `on` or off."""
        self._told.set_text(told)
        self._switch.set_value(on)
        self._options.set_visibility(on)
        self._graph.set_visibility(graph)
        self._table.show(result, size)

    def show_line(self, reports: list[tuple[int, Report]], ply: int, moves: int) -> None:
        """Draw the graph of a line of so many moves, at one of its positions."""
        self._graph.show(reports, ply, moves)

    def _switched(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        self._on_switch(bool(event.value))


class MoveTable:
    """The engine's best moves as a list; pointing at one shows its line on the board through `on_line`."""

    def __init__(self, on_line: Callable[[Sequence[int]], None], on_choose: Heard) -> None:
        self._lines: list[Sequence[int]] = [()] * ROWS
        self._rows: list[tuple[ui.element, list[ui.label]]] = []
        with ui.element("div").classes("tg-moves") as self._table:
            with ui.element("div").classes("tg-move tg-move-head"):
                for title in ("", "Move", "Win", "Score", "Visits", "Expected line"):
                    ui.label(title)
            for row in range(ROWS):
                with ui.element("div").classes("tg-move") as element:
                    labels = [ui.label() for _ in range(6)]
                labels[0].classes("tg-dot")
                element.on("mouseenter", lambda row=row: on_line(self._lines[row]), args=[])
                element.on("mouseleave", lambda: on_line(()), args=[])
                element.on(
                    "click", lambda row=row: on_choose(self._lines[row][0] if self._lines[row] else None), args=[]
                )
                self._rows.append((element, labels))

    def show(self, result: SearchResult | None, size: int) -> None:
        """The moves of a search on a board of this size, for the side to move; nothing for None."""
        self._table.set_visibility(result is not None)
        moves = visited(result)[:ROWS] if result is not None else []
        top = moves[0].winrate if moves else 0.0
        for row, (element, labels) in enumerate(self._rows):
            element.set_visibility(row < len(moves))
            if row >= len(moves):
                continue
            move = moves[row]
            self._lines[row] = move.pv or (move.point,)
            line = " ".join(to_gtp(point, size) for point in move.pv[1 : 1 + LINE_SHOWN])
            score = f"{move.score:+.1f}".replace("-", "\u2212")
            texts = (to_gtp(move.point, size), f"{move.winrate:.1%}", score, f"{move.visits:,}", line)
            for label, text in zip(labels[1:], texts, strict=True):
                label.set_text(text)
            labels[0].style(f"background: {heat(row, top - move.winrate)}")


def heat(rank: int, loss: float) -> str:
    """The colour of a candidate as CSS, as on the board: the best teal, then from green to red at a loss of 12%."""
    if rank == 0:
        return "hsl(176 72% 42%)"
    return f"hsl({140 * (1 - min(1.0, max(0.0, loss) / 0.12)) + 4:.0f} 70% 46%)"
