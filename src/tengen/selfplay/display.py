"""What a run shows on the terminal while it goes on: how far it is, when it ends, how strong it is, what ails it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tengen.selfplay.diagnose import RunWarning
from tengen.selfplay.events import playing_seconds
from tengen.selfplay.timing import Clock, duration

_DOING = {"generate": "playing", "learn": "learning", "rate": "rating", "other": "saving"}


class Display:
    """A live panel on a terminal, one line a cycle everywhere else; use it as a context manager.

    The panel reads `clock` twice a second by itself. Lines of finished cycles, ratings and new warnings stay.
    """

    def __init__(self, name: str, clock: Clock, console: Console | None = None) -> None:
        self._name = name
        self._clock = clock
        self._console = console or Console()
        self._rating = ""
        self._warnings: list[RunWarning] = []
        self._live = Live(
            console=self._console, get_renderable=self.panel, refresh_per_second=2, transient=True, screen=False
        )

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def cycle(self, event: Mapping[str, Any]) -> None:
        """A cycle ended: its event as in the log."""
        self._console.print(Text(f"{cycle_line(event, self._clock.cycles)}; {self._clock.words()}"), soft_wrap=True)

    def rated(self, text: str) -> None:
        """A rating in one line."""
        self._rating = text
        self._console.print(Text(f"rating: {text}"), soft_wrap=True)

    def warn(self, warnings: Sequence[RunWarning]) -> None:
        """The warnings that hold now; those that are new are printed."""
        held = {warning.kind for warning in self._warnings}
        for warning in warnings:
            if warning.kind not in held:
                self._console.print(Text(f"warning: {warning}", style="yellow"), soft_wrap=True)
        self._warnings = list(warnings)

    def panel(self) -> RenderableType:
        """What the terminal shows now."""
        clock = self._clock
        rows = Table.grid(padding=(0, 1))
        rows.add_row(self._part(), ProgressBar(1.0, clock.share, width=40))
        rows.add_row(f"cycle {min(clock.cycle + 1, clock.cycles)} of {clock.cycles}", ProgressBar(1.0, self._run(), 40))
        lines: list[RenderableType] = [rows, Text(clock.words())]
        if self._rating:
            lines.append(Text(f"rating: {self._rating}"))
        lines += [Text(f"warning: {warning.text}", style="yellow") for warning in self._warnings[-2:]]
        return Panel(Group(*lines), title=self._name, title_align="left")

    def _part(self) -> str:
        clock = self._clock
        if clock.part == "generate":
            return f"playing: {clock.played:,} of {clock.games:,} games"
        return _DOING.get(clock.part or "", "between cycles")

    def _run(self) -> float:
        """Share of the run that is done, by time."""
        clock = self._clock
        left, cycles = clock.cycle_ends().seconds, max(1, clock.cycles)
        whole = clock.run_ends().seconds / max(1, clock.cycles - clock.cycle)
        within = 1 - min(1.0, left / whole) if whole else 0.0
        return min(1.0, (clock.cycle + within) / cycles)


def cycle_line(event: Mapping[str, Any], cycles: int) -> str:
    """A finished cycle in one line: `cycle 12 of 80: 500 games, 13 s of playing, 38 moves, Black 52%`."""
    statistics = event.get("statistics") or {}
    seconds = playing_seconds(event)
    figures = {
        "{:,} games": statistics.get("games"),
        "{} of playing": duration(seconds) if seconds else None,
        "{:.0f} moves": (statistics.get("length") or {}).get("mean"),
        "Black {:.0%}": statistics.get("black_share"),
        "policy loss {:.2f}": (event.get("losses") or {}).get("policy"),
        "agreement {:.0%}": event.get("agreement"),
    }
    parts = [form.format(figure) for form, figure in figures.items() if figure is not None]
    return f"cycle {event['cycle'] + 1} of {cycles}: {', '.join(parts)}"
