"""Progress of a self-play run: observers and the terminal display."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tengen.runs.events import read_events
from tengen.runs.progress import LiveDisplay, duration
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.diagnose import RunWarning
from tengen.selfplay.events import playing_seconds
from tengen.selfplay.run_clock import DOING, RunClock


class Observer:
    """Receives events while a run goes on, and ignores them. Cycles count from 0.

    `clock`, if there is one, estimates when the run ends.
    """

    clock: RunClock | None = None

    def resumed(self, done: int, cycles: int) -> None:
        """A run goes on of which `done` of `cycles` cycles are over."""

    def playing(self, cycle: int, done: int, games: int, evaluations: int) -> None:
        """`done` of `games` games of a cycle have ended, after `evaluations` evaluations in this process."""

    def learning(self, cycle: int) -> None:
        """Training on the games of a cycle begins."""

    def evaluating(self, cycle: int) -> None:
        """Statistics, gate and report are computed."""

    def rating(self, cycle: int) -> None:
        """Rating of the network after a cycle begins."""

    def rated(self, text: str) -> None:
        """The result of a rating in one line."""

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        """The event of a cycle, as the log has it."""


class TerminalObserver(LiveDisplay, Observer):
    """Shows a run on stderr while its block runs: a live panel on a terminal, one line a cycle elsewhere.

    The panel reads `clock` twice a second. Lines of finished cycles, ratings and new warnings stay.
    """

    clock: RunClock

    def __init__(self, name: str, clock: RunClock, in_flight: int = 0, console: Console | None = None) -> None:
        super().__init__(console, refresh_per_second=2)
        self.clock = clock
        self._name = name
        self._in_flight = in_flight
        self._rating = ""
        self._warnings: list[RunWarning] = []

    @classmethod
    def of(cls, config: SelfPlayConfig, folder: Path) -> TerminalObserver:
        """The observer of a new or resumed run in a folder."""
        rated_cycles = {number - 1 for number in config.rated_networks()}
        clock = RunClock(config.cycles, config.games_per_cycle, rated_cycles, read_events(folder, "cycle"))
        return cls(config.name, clock, config.games_at_once)

    def resumed(self, done: int, cycles: int) -> None:
        rest = "" if done < cycles else ": nothing is left to play; --set cycles=MORE goes on"
        self.print(f"resumed after cycle {done:,} of {cycles:,}{rest}")

    def playing(self, cycle: int, done: int, games: int, evaluations: int) -> None:
        if self.clock.part != "generate" or self.clock.cycle != cycle:
            self.clock.begin(cycle, "generate", played=done)
        self.clock.playing(done, evaluations, self._in_flight)

    def learning(self, cycle: int) -> None:
        self.clock.begin(cycle, "learn")

    def rating(self, cycle: int) -> None:
        self.clock.begin(cycle, "rate")

    def rated(self, text: str) -> None:
        self._rating = text
        self.print(f"rating: {text}")

    def evaluating(self, cycle: int) -> None:
        self.clock.begin(cycle, "other")

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        self.clock.end(event)
        self.print(f"{cycle_line(event, self.clock.cycles)}; {self.clock.words()}")
        # Each warning is printed when it appears.
        warnings = [RunWarning(**warning) for warning in event.get("warnings", [])]
        known = {warning.kind for warning in self._warnings}
        for warning in warnings:
            if warning.kind not in known:
                self.print(f"warning: {warning}", style="yellow")
        self._warnings = warnings

    def panel(self) -> RenderableType:
        """What the terminal shows now."""
        clock = self.clock
        rows = Table.grid(padding=(0, 1))
        rows.add_row(self._part(), ProgressBar(1.0, clock.share, width=40))
        rows.add_row(f"cycle {min(clock.cycle + 1, clock.cycles)} of {clock.cycles}", ProgressBar(1.0, self._run(), 40))
        lines: list[RenderableType] = [rows, Text(clock.words())]
        if self._rating:
            lines.append(Text(f"rating: {self._rating}"))
        lines += [Text(f"warning: {warning.text}", style="yellow") for warning in self._warnings[-2:]]
        return Panel(Group(*lines), title=escape(self._name), title_align="left")

    def _part(self) -> str:
        clock = self.clock
        if clock.part == "generate":
            return f"playing: {clock.played:,} of {clock.games:,} games"
        return DOING.get(clock.part or "", "between cycles")

    def _run(self) -> float:
        """Share of the run that is done, by time."""
        clock = self.clock
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
