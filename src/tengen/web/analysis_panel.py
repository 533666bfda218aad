"""The analysis panel: the best moves, what the board shows of them, and the graph of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import events, ui

from tengen.engine import SearchResult
from tengen.engine.result import score_lead
from tengen.game import Game
from tengen.web.components import EventHandler, GraphElement, heat, visited
from tengen.web.language import _
from tengen.web.panels import heading, switch_class
from tengen.web.words import color_names, vertex

ROWS = 5
PV_LENGTH = 8
CLICK = "(event) => emit(tengen.focusClicked(event))"
"""JavaScript for a click: it gives the focus, and tells whether a finger has clicked. The variation of the row that
loses the focus goes from the board."""


class AnalysisPanel:
    """The switch that starts the analysis, and below it what the engine finds, with the `graph` of the game.

    `on_switch` gets the state of the switch, `on_settings` opens the settings, `on_options` is called when a checkbox
    changes, `on_review` starts or stops the review. `on_line` is called when `line` changes, `on_choose` gets a chosen
    move, `on_seek` a place of the graph; `on_release` is called when the board should be in view.
    """

    def __init__(
        self,
        *,
        on_switch: Callable[[bool], None],
        on_settings: Callable[[], None],
        on_options: Callable[[], None],
        on_review: Callable[[], None],
        on_line: Callable[[], None],
        on_choose: EventHandler,
        on_seek: EventHandler,
        on_release: Callable[[], object],
    ) -> None:
        self._on_switch = on_switch
        with ui.element("div").classes("tg-card"):
            with ui.element("div").classes("tg-row"):
                heading(_("Analyze"))
                self._caption = ui.label().classes("tg-note").props("data-testid=searched")
                self._review = ui.button(_("Review game"), on_click=on_review, color=None)
                self._review.props("flat dense no-caps data-testid=review").classes("tg-link")
                with ui.element("div").classes("tg-row-end"):
                    settings = ui.button(icon="tune", on_click=on_settings, color=None)
                    settings.props("flat dense size=sm data-testid=analysis-settings")
                    settings.props["aria-label"] = _("Network and visits")
                    settings.tooltip(_("Network and visits"))
                    self._switch = ui.switch(on_change=self._switched)
                    self._switch.props("dense color=teal data-testid=analysis").props["aria-label"] = _("Analyze")
            with ui.element("div").classes("tg-toggles") as self._options:
                self._moves, self._ownership = (
                    ui.checkbox(text, value=True, on_change=on_options).props("dense size=sm color=teal")
                    for text in (_("Best moves"), _("Ownership"))
                )
            self._table = MoveTable(on_line=on_line, on_choose=on_choose, on_tap=on_release)
            self.graph = GraphElement(on_seek=on_seek, on_release=on_release)
            self.graph.classes("mt-2").props("data-testid=graph")

    @property
    def shows_moves(self) -> bool:
        """Whether the board shows the candidate moves."""
        return bool(self._moves.value)

    @property
    def line(self) -> Sequence[int]:
        """The variation of the move under the pointer; empty without one."""
        return self._table.line

    @property
    def shows_ownership(self) -> bool:
        """Whether the board shows the ownership."""
        return bool(self._ownership.value)

    def toggle(self) -> None:
        """Turn the analysis on or off, as the switch does."""
        self._switch.set_value(not self._switch.value)

    def show(
        self, result: SearchResult | None, position: object, game: Game, caption: str, on: bool, graph: bool
    ) -> None:
        """Draw the search result of a position, at the end of `game`; `caption` stands beside the switch."""
        self._caption.set_text(caption)
        self._switch.set_value(on)
        self._options.set_visibility(on or result is not None)
        self.graph.set_visibility(graph)
        self._table.show(result, position, game, room=on and not game.is_over)

    def show_review(self, possible: bool, runs: bool) -> None:
        """Show the button of the review where a review is possible or runs, which it then stops."""
        self._review.set_visibility(possible or runs)
        self._review.set_text(_("Stop review") if runs else _("Review game"))

    def _switched(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        self._on_switch(bool(event.value))


class MoveTable:
    """The engine's best moves as a table, whose head says whose winrate and lead it has. `on_line` is called when the
    pointer or the focus changes `line`.

    A click chooses a move. A finger cannot point: its first tap shows the variation of a move, for which `on_tap` is
    called, and its second tap chooses it.
    """

    def __init__(self, *, on_line: Callable[[], None], on_choose: EventHandler, on_tap: Callable[[], object]) -> None:
        self._on_line, self._on_choose, self._on_tap = on_line, on_choose, on_tap
        self._pointed: int | None = None
        self._tapped: int | None = None  # the move whose variation a tap has shown
        self._shown: object = None
        self._lines: list[Sequence[int]] = [()] * ROWS
        self._rows: list[tuple[ui.element, list[ui.label]]] = []
        with ui.element("div").classes("tg-moves") as self._table:
            with ui.element("div").classes("tg-move tg-move-head"):
                ui.label()
                self._head = [ui.label(title) for title in (_("Move"), "", "", _("Visits"), _("Variation"))]
            for row in range(ROWS):
                with ui.element("button").classes("tg-move").props("type=button") as element:
                    labels = [ui.label() for _ in range(6)]
                labels[0].classes("tg-dot")
                for enter in ("mouseenter", "focus"):
                    element.on(enter, lambda row=row: self._point(row), args=[])
                element.on("mouseleave", self._left, args=[])
                element.on("blur", lambda: self._point(None), args=[])
                element.on("click", lambda event, row=row: self._clicked(row, event.args is True), js_handler=CLICK)
                self._rows.append((element, labels))

    @property
    def line(self) -> Sequence[int]:
        """The variation of the row under the pointer; empty without one."""
        return () if self._pointed is None else self._lines[self._pointed]

    def show(self, result: SearchResult | None, position: object, game: Game, room: bool) -> None:
        """Show the moves of a search of a position, at the end of `game`, for the side to move; none for None.

        With `room` a table without moves takes the same space, so that what is below stays while a search begins.
        """
        if position != self._shown:
            # A finger that taps a row never leaves it, nor does a pointer when the row is hidden.
            self._shown, self._pointed, self._tapped = position, None, None
        self._table.set_visibility(room or result is not None)
        moves = visited(result)[:ROWS] if result is not None else []
        color, size = color_names()[game.to_play], game.size
        self._head[1].set_text(_("{color} winrate", color=color))
        self._head[2].set_text(_("{color} lead", color=color))
        for row, (element, labels) in enumerate(self._rows):
            switch_class(element, "tg-blank", row >= len(moves))
            if row >= len(moves):
                self._lines[row] = ()
                continue
            move = moves[row]
            self._lines[row] = move.pv or (move.point,)
            line = " ".join(vertex(point, size) for point in move.pv[1 : 1 + PV_LENGTH])
            lead = score_lead(move)
            score = "" if lead is None else f"{lead:+.1f}".replace("-", "\u2212")
            texts = (vertex(move.point, size), f"{move.winrate:.1%}", score, f"{move.visits:,}", line)
            for label, text in zip(labels[1:], texts, strict=True):
                label.set_text(text)
            said = ", ".join(f"{head.text} {text}" for head, text in zip(self._head, texts, strict=True) if text)
            if element.props.get("aria-label") != said:
                element.props["aria-label"] = said
            labels[0].style(f"background: {heat(move, moves[0])}")
        if self._tapped is not None:  # its row may be another one now
            self._pointed = next((row for row in range(ROWS) if self._move(row) == self._tapped), None)
            if self._pointed is None:
                self._tapped = None

    def _point(self, row: int | None) -> None:
        self._pointed = row
        if row is None or self._move(row) != self._tapped:
            self._tapped = None
        self._on_line()

    def _move(self, row: int) -> int | None:
        return self._lines[row][0] if self._lines[row] else None

    def _left(self) -> None:
        if self._tapped is None:  # browsers send this too when the page scrolls under the place of a tap
            self._point(None)

    def _clicked(self, row: int, by_finger: bool) -> None:
        move = self._move(row)
        if by_finger and move != self._tapped:
            self._tapped = move
            self._point(row)
            self._on_tap()
        else:
            self._on_choose(move)
