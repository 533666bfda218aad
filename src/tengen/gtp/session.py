"""What a GTP session holds between commands: the game, its clocks, the engine and the lines still to come."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tengen.engine.clock import Clock, TimeControl
from tengen.engine.count import Way
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams
from tengen.engine.positions import with_turn
from tengen.engine.result import Count, SearchResult
from tengen.game import BLACK, WHITE, Game
from tengen.gtp.lines import Lines

Emit = Callable[[str], None]
Restriction = tuple[Sequence[int], Sequence[int]]  # moves to allow alone, if any, and moves to avoid


class Player(Protocol):
    """What GTP asks of an engine; `tengen.engine.Engine` keeps this contract, and so does a script in the tests."""

    params: SearchParams

    @property
    def asked_params(self) -> SearchParams: ...

    def params_on(self, size: int) -> SearchParams: ...

    def name_on(self, size: int) -> str: ...

    def warm_up(self, size: int) -> None: ...

    def set_position(self, game: Game, allow: Sequence[int] = (), avoid: Sequence[int] = ()) -> None: ...

    def think(
        self,
        limits: Limits | None = None,
        on_progress: Callable[[SearchResult], None] | None = None,
        *,
        until: Callable[[], bool] | None = None,
        every: float = 0.25,
        cleanup: bool = False,
    ) -> SearchResult: ...

    def ponder(self) -> None: ...

    def stop(self) -> None: ...

    def count(self, game: Game, by: Way = "both") -> Count: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Stream:
    """An answer that grows: `run` gets a function that prints a line, and returns the last one or nothing."""

    run: Callable[[Emit], str]


@dataclass(frozen=True)
class Options:
    """What the command line settles for a session: identity, bounds of a move, whether to think in the other's time."""

    version: str = "0"
    limits: Limits = field(default_factory=Limits)
    visits_without_clock: int | None = 400
    ponder: bool = False


@dataclass
class Session:
    """The state that commands read and change. A command checks all of its input before it changes anything."""

    engine: Player
    game: Game
    lines: Lines = field(default_factory=Lines)
    options: Options = field(default_factory=Options)
    now: Callable[[], float] = time.monotonic
    control: TimeControl | None = None
    clocks: dict[int, Clock] = field(default_factory=dict)
    finished: bool = False
    ponder_next: bool = False

    def set_time(self, control: TimeControl | None) -> None:
        """Both sides start with this time; None for no limit."""
        self.control = control
        self.clocks = {} if control is None else {BLACK: control.start(), WHITE: control.start()}

    def new_game(self, game: Game) -> None:
        """Take the place of the game; clocks start again."""
        self.game = game
        self.set_time(self.control)

    def limits_for(self, color: int) -> Limits:
        """The bounds of a move of this colour: the session's own, and the clock that runs for it."""
        clock = self.clocks.get(color)
        limits = replace(self.options.limits, clock=clock, early_stop=True)
        bounded = any(bound is not None for bound in (limits.visits, limits.playouts, limits.seconds, clock))
        return limits if bounded else replace(limits, visits=self.options.visits_without_clock)

    def search(
        self,
        color: int,
        on_progress: Callable[[SearchResult], None] | None = None,
        *,
        every: float = 0.25,
        cleanup: bool = False,
        restricted: Restriction = ((), ()),
    ) -> SearchResult:
        """Think about a move of this colour within its limits, and charge its clock."""
        started = self.now()
        self.lines.search_begins()
        self.engine.set_position(with_turn(self.game, color), *restricted)
        result = self.engine.think(
            self.limits_for(color), on_progress, until=self.lines.stop_requested, every=every, cleanup=cleanup
        )
        if color in self.clocks:
            self.clocks[color] = self.clocks[color].spend(self.now() - started)
        return result

    def after_command(self) -> None:
        """Think in the other side's time if the command that was answered made a move and nothing is waiting."""
        if self.ponder_next and self.options.ponder and not self.finished and not self.lines.pending():
            self.engine.set_position(self.game)
            self.engine.ponder()
        self.ponder_next = False
