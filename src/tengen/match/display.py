"""Progress of a match in the terminal: the score, its interval and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tengen.match.names import numbered_players
from tengen.match.outcome import Outcome
from tengen.match.runner import MatchObserver
from tengen.match.settings import MatchSettings
from tengen.match.sprt import SprtState
from tengen.match.summary import game_line, pairing_line, tally
from tengen.runs.progress import Eta, LiveDisplay, duration
from tengen.statistics import Tally

_QUIET_SECONDS = 60.0  # between two lines where there is no terminal


class Display(LiveDisplay, MatchObserver):
    """A live panel on a terminal, and a line a minute everywhere else; use it as a context manager."""

    def __init__(self, settings: MatchSettings, console: Console | None = None) -> None:
        super().__init__(console)
        self._settings = settings
        self._played = 0
        self._last: Outcome | None = None
        self._tallies: dict[str, Tally] = dict.fromkeys((spec.name for spec in settings.players), Tally())
        self._all = len(settings.indices())
        self._up_to = "up to " if settings.sprt or settings.within else ""
        self._eta = Eta(self._all)
        self._printed = time.monotonic()
        self._test: SprtState | None = None

    def __enter__(self) -> Self:
        return self  # the panel appears when the players are ready

    def started(self, earlier: Sequence[Outcome], at_once: int) -> None:
        for outcome in earlier:
            self._count(outcome)
        self._eta = Eta(self._all, len(earlier), at_once)
        self._printed = time.monotonic()
        there = f", {len(earlier)} of them played before" if earlier else ""
        self.print(f"{self._up_to}{self._all} games{there}, {at_once} at once: {self._who()}")
        for name, player in numbered_players([spec.model_dump() for spec in self._settings.players]).items():
            self.print(f"{name} is {player}")
        self.show()

    def played(self, outcome: Outcome, test: SprtState | None) -> None:
        self._count(outcome)
        self._test = test
        if outcome.disputed:
            self.print(f"{game_line(outcome)}, with different winners: {outcome.counts}")
        if not self.console.is_terminal and time.monotonic() > self._printed + _QUIET_SECONDS:
            self._printed = time.monotonic()
            self.print(f"{self._progress()}: {self._standing()}")

    def complete(self, games: int) -> None:
        self.print(_no_game_missing(games))

    def _count(self, outcome: Outcome) -> None:
        self._played += 1
        self._last = outcome
        for name in (outcome.black, outcome.white):
            self._tallies[name] += tally([outcome], name)

    def panel(self) -> RenderableType:
        """The bar, the standing and the last game."""
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(self._all, self._played, width=30), Text(self._progress()))
        last = game_line(self._last) if self._last else ""
        return Group(bar, self._players(), Text(last, style="dim", overflow="ellipsis", no_wrap=True))

    def _players(self) -> RenderableType:
        if len(self._settings.pairings) == 1:
            return Text(self._standing())
        table = Table(box=None, pad_edge=False)
        for heading in ("player", "games", "points", "score", "95%"):
            table.add_column(heading, justify="left" if heading == "player" else "right")
        for name, whole in self._ranked():
            low, high = (f"{end:.1%}" for end in whole.interval())
            table.add_row(Text(name), str(whole.games), f"{whole.points:g}", f"{whole.score:.1%}", f"{low} to {high}")
        return table

    def _progress(self) -> str:
        progress = f"{self._played} of {self._all} games"
        if (left := self._eta.seconds(self._played)) is not None:
            progress += f", {self._up_to}{duration(left)} left"
        return progress

    def _standing(self) -> str:
        if len(self._settings.pairings) > 1:
            return ", ".join(f"{name} {whole.score:.1%}" for name, whole in self._ranked())
        a, b = self._settings.pairings[0]
        line = pairing_line(a, b, self._tallies[a])
        return f"{line}\n{self._test}" if self._test else line

    def _ranked(self) -> list[tuple[str, Tally]]:
        """The tallies of all players, the best first."""
        return sorted(self._tallies.items(), key=lambda item: -item[1].score)

    def _who(self) -> str:
        names = [spec.name for spec in self._settings.players]
        return f"{self._settings.schedule.kind}, " + " - ".join(names)


class QuietDisplay(MatchObserver):
    """Shows no progress, and prints only that no game was missing."""

    def complete(self, games: int) -> None:
        print(_no_game_missing(games), file=sys.stderr)


def _no_game_missing(games: int) -> str:
    return f"no game was missing: all {games} were played before"
