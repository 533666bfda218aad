"""The parts beside the board: a card for each player, and what the engine thinks of the position."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import ui

from tengen.coords import to_gtp
from tengen.engine import SearchResult
from tengen.game import COLOR_NAMES as NAMES
from tengen.web.components import Heard, visited

ROWS = 6
LINE_SHOWN = 8


class PlayerCard:
    """Who plays a colour: name, captures, clock; lit when it is the player's turn."""

    def __init__(self, color: int) -> None:
        with ui.element("div").classes("tg-player").props(f"data-testid=player-{NAMES[color].lower()}") as self._card:
            ui.element("div").classes(f"tg-chip tg-chip-{NAMES[color].lower()}")
            with ui.element("div").classes("tg-player-text"):
                self._name = ui.label().classes("tg-player-name")
                self._more = ui.label().classes("tg-player-more")
            with ui.element("div").classes("tg-captures"):
                ui.element("div").classes(f"tg-chip tg-chip-{NAMES[1 - color].lower()}")
                self._captures = ui.label()
            self._clock = ui.label().classes("tg-clock")

    def show(self, name: str, more: str, captures: int, turn: bool, thinking: bool) -> None:
        """The name, a line below it, the stones taken, and whether the player is to move or an engine at work."""
        self._name.set_text(name)
        self._more.set_text(more)
        self._captures.set_text(str(captures))
        self._card.classes(add="tg-turn" if turn else "", remove="" if turn else "tg-turn")
        self._card.classes(
            add="tg-player-thinking" if thinking else "", remove="" if thinking else "tg-player-thinking"
        )

    def show_clock(self, face: str, low: bool) -> None:
        """The clock's face, empty for none; `low` when time is short."""
        self._clock.set_text(face)
        self._clock.set_visibility(bool(face))
        self._clock.classes(add="tg-clock-low" if low else "", remove="" if low else "tg-clock-low")


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
            texts = (
                to_gtp(move.point, size),
                f"{move.winrate:.1%}",
                f"{move.score:+.1f}".replace("-", "\u2212"),
                f"{move.visits:,}",
                line,
            )
            for label, text in zip(labels[1:], texts, strict=True):
                label.set_text(text)
            labels[0].style(f"background: {heat(row, top - move.winrate)}")


def heat(rank: int, loss: float) -> str:
    """The colour of a candidate as CSS, as on the board: the best teal, then from green to red at a loss of 12%."""
    return "hsl(176 72% 42%)" if rank == 0 else f"hsl({140 * (1 - min(1.0, max(0.0, loss) / 0.12)) + 4:.0f} 70% 46%)"
