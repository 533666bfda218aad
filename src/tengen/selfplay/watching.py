"""A run on the terminal: what it reports, told to the clock and the display."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console

from tengen.runs.log import read_log
from tengen.selfplay.config import ZeroConfig
from tengen.selfplay.diagnose import RunWarning
from tengen.selfplay.display import Display
from tengen.selfplay.timing import Clock


class TerminalWatcher:
    """Shows a run on stderr while its block runs: a live panel on a terminal, one line a cycle elsewhere."""

    def __init__(self, config: ZeroConfig, folder: Path) -> None:
        history = [entry for entry in read_log(folder / "log.jsonl") if entry["event"] == "cycle"]
        rated = {cycle - 1 for cycle in config.rated_cycles()}
        self._in_flight = config.games_at_once
        self.clock = Clock(config.cycles, config.games_per_cycle, rated, history)
        self._display = Display(config.name, self.clock, Console(stderr=True))

    def __enter__(self) -> Self:
        self._display.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.__exit__(kind, error, trace)

    def playing(self, cycle: int, done: int, games: int, evaluations: int) -> None:
        if self.clock.part != "generate" or self.clock.cycle != cycle:
            self.clock.begin(cycle, "generate", played=done)
        self.clock.playing(done, evaluations, self._in_flight)

    def learning(self, cycle: int) -> None:
        self.clock.begin(cycle, "learn")

    def progress(self, share: float) -> None:
        self.clock.progress(share)

    def rating(self, cycle: int) -> None:
        self.clock.begin(cycle, "rate")

    def rated(self, text: str) -> None:
        self._display.rated(text)

    def judging(self, cycle: int) -> None:
        self.clock.begin(cycle, "other")

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        self.clock.end(event)
        self._display.cycle(event)
        self._display.warn([RunWarning(**warning) for warning in event.get("warnings", [])])
