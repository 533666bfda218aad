"""Progress of long work on the terminal: bars, a live panel, durations, rates and the time that is left."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

_WIDE = 100  # columns of a window with room for a long bar


def new_bar(shown: bool = True) -> Progress:
    """A bar on standard error with the description of a task, its share done, and the time spent and left."""

    console = Console(stderr=True)
    bar = 20 if console.width >= _WIDE else 10
    figures = {"share": 6, "spent": 7, "left": 4, "remaining": 7}
    whole = {name: Column(no_wrap=True, width=width) for name, width in figures.items()}
    # In a narrow window the description is cut, not the figures.
    room = console.width - bar - sum(figures.values()) - len(figures) - 1
    cut = Column(no_wrap=True, overflow="ellipsis", max_width=max(10, room))
    return Progress(
        TextColumn("{task.description}", table_column=cut),
        BarColumn(bar_width=bar),
        TextColumn("{task.percentage:>5.1f}%", table_column=whole["share"]),
        TimeElapsedColumn(table_column=whole["spent"]),
        TextColumn("left", table_column=whole["left"]),
        TimeRemainingColumn(table_column=whole["remaining"]),
        console=console,
        redirect_stdout=sys.stdout.isatty(),  # what goes into a file or a pipe stays there
        disable=not shown,
    )


class LiveDisplay(ABC):
    """A panel that a terminal shows at the bottom while the `with` block runs, under lines that stay.

    Subclasses define `panel`. Elsewhere (a pipe, a file) only the lines of `print` appear.
    """

    def __init__(self, console: Console | None = None, *, refresh_per_second: float = 4) -> None:
        self.console = console or Console(stderr=True)
        self._refresh_per_second = refresh_per_second
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self.show()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self) -> None:
        """Show the panel from now on, on a terminal."""
        if self.console.is_terminal and self._live is None:
            self._live = Live(
                console=self.console,
                get_renderable=self.panel,
                refresh_per_second=self._refresh_per_second,
                transient=True,
            )
            self._live.start()

    def print(self, line: str, style: str = "") -> None:
        """Print one line that stays."""
        self.console.print(Text(line, style=style), soft_wrap=True)

    @abstractmethod
    def panel(self) -> RenderableType:
        """What the terminal shows now."""


class Eta:
    """Time left of `total` equal pieces of work of which `done` were done before this process began.

    Of several `at_once`, those that go on while one ends count as half done: the first of 64 games to end says nothing
    of the pace of one after the other.
    """

    def __init__(
        self, total: float, done: float = 0.0, at_once: int = 1, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._before = done
        self._at_once = at_once
        self._now = now
        self._began = now()

    def seconds(self, done: float) -> float | None:
        """Seconds until all is done at the pace so far; None before any progress."""
        if done <= self._before:
            return None
        begun = max(0.0, min(self._at_once - 1, self._total - done)) / 2
        pace = (self._now() - self._began) / (done - self._before + begun)
        return pace * max(0.0, self._total - done - begun)


class Timings:
    """Seconds by what they were spent on."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds: dict[str, float] = {}
        self._now = now
        self._last = now()

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def add(self, name: str) -> None:
        """Count the time since the last call, or since the beginning, as spent on `name`."""
        now = self._now()
        self.seconds[name] = round(self.seconds.get(name, 0.0) + now - self._last, 2)
        self._last = now


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `1 h 05 min`, `2 days 3 h`."""
    if seconds < 59.5:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days} days {hours} h"


def rate_text(per_second: float) -> str:
    """Two significant digits below 10, whole numbers above."""
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.2g}"
