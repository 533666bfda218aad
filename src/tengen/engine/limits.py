"""Limits of a search: visits, playouts, seconds or a clock, whichever is reached first."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tengen.engine.clock import MARGIN, Clock
from tengen.errors import RecipeError


@dataclass(frozen=True)
class Limits:
    """Limits of one search; None is no limit, and `Limits()` runs until it is stopped.

    `visits` counts the root's visits with those of a tree kept from before, `playouts` only the new ones; `seconds`
    is wall time, `clock` the clock of the side to move, which charges a move `lag_buffer` seconds beyond its search,
    such as those of the network to a server. `early_stop` ends the search when no other move can get as many visits as
    the best within the limits. Under visits or playouts alone it does so only where the most visited move is played
    (`lcb` off). `None` does so with a clock, where that keeps the time for later moves (`Clock.saves`). Raises
    RecipeError for impossible limits.
    """

    visits: int | None = None
    playouts: int | None = None
    seconds: float | None = None
    clock: Clock | None = None
    early_stop: bool | None = None
    lag_buffer: float = MARGIN

    def __post_init__(self) -> None:
        for name in ("visits", "playouts"):
            value = getattr(self, name)
            if value is not None and (value < 1 or value % 1 != 0):
                raise RecipeError(f"{name} must be a whole number, 1 or more, not {value}")
        for name in ("seconds", "lag_buffer"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise RecipeError(f"{name} must be a finite number, 0 or more, not {value}")

    def for_move(self) -> Limits:
        """As for a move of a game: the search ends once no other move can overtake the best, unless the time that this
        saves would be lost: that of `seconds`, or what the clock does not keep."""
        return replace(self, early_stop=None if self.seconds is not None or self.clock is not None else True)

    def budget(self, size: int, move_number: int) -> Budget:
        """The same limits for one position, with the clock converted to seconds."""
        seconds = [] if self.seconds is None else [self.seconds]
        if self.clock is not None:
            seconds.append(self.clock.allot(size, move_number, self.lag_buffer))
        early = self.clock is not None if self.early_stop is None else self.early_stop
        saving = self.clock if self.early_stop is None else None
        return Budget(self.visits, self.playouts, min(seconds, default=None), early, saving)


@dataclass(frozen=True)
class Budget:
    """What one search may spend, and how much of it is left; an early stop must save time of the `saving` clock."""

    visits: int | None
    playouts: int | None
    seconds: float | None
    early_stop: bool
    saving: Clock | None = None

    @property
    def is_by_visits(self) -> bool:
        """Whether visits or playouts end the search, and time does not: its results do not depend on the machine."""
        return self.seconds is None and (self.visits is not None or self.playouts is not None)

    def left(self, visits: int, playouts: int, elapsed: float, step: float | None) -> float:
        """Playouts that may still be made, infinite without a bound; 0 when the search is over.

        `step` is how long the last batch took, None before the first one: a batch that would not end in time is not
        begun, but a root without visits is evaluated first.
        """
        if self.seconds is not None and step is not None and visits > 0 and elapsed + step > self.seconds:
            return 0
        by_visits = math.inf if self.visits is None else self.visits - visits
        by_playouts = math.inf if self.playouts is None else self.playouts - playouts
        return max(min(by_visits, by_playouts), 0)

    def fitting(self, elapsed: float, step: float, rows: int) -> float:
        """Positions that the next batch may have to end in time, 1 or more, if the last one, of `rows`, took `step`.

        A batch is taken to cost as much for each position, and no less than the last one.
        """
        if self.seconds is None or step == 0:  # a clock may be too coarse to time a batch
            return math.inf
        return max(rows * (self.seconds - elapsed) / step, 1)

    def decided(self, lead: int, left: float, playouts: int, elapsed: float) -> bool:
        """Whether the best move leads the next one by more visits than the rest of the search can give it."""
        if not self.early_stop or playouts == 0 or (self.saving is not None and not self.saving.saves(elapsed)):
            return False
        if self.seconds is not None and elapsed > 0:
            left = min(left, playouts / elapsed * (self.seconds - elapsed))
        return lead > left
