"""Time controls and what is left of them: main time alone, Japanese byo-yomi, Canadian overtime, Fischer increments.

A `Clock` is a value. `allot` says how long to think about one move, `spend` gives the clock after it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import Enum

from tengen.errors import RecipeError

MARGIN = 0.25
"""Seconds that a move may cost beyond the search itself: the last batch, the pipe, the other program."""

# Moves of both sides in an ordinary game, as a share of the board's points, and the share of them always still to come.
_GAME_LENGTH = 0.72
_TAIL = 0.12

_UNITS = {"h": 3600, "m": 60, "s": 1}
_SPAN = re.compile(r"(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?|0")
_CONTROL = re.compile(
    r"(?P<main>[^+]+)\+(?:(?P<periods>\d{1,9})x(?P<byoyomi>.+)|(?P<stones>\d{1,9})/(?P<block>.+)|(?P<gain>.+))"
)


class Overtime(Enum):
    """What follows the main time."""

    NONE = "none"
    BYOYOMI = "byoyomi"
    CANADIAN = "canadian"
    FISCHER = "fischer"


@dataclass(frozen=True)
class TimeControl:
    """The time each side has for a game, in seconds.

    `period` is one byo-yomi period or one Canadian block; `count` the periods, or the stones of a block;
    `increment` is what Fischer adds after each move, up to `main_cap`, and `move_cap` the limit of each of its moves.
    Raises RecipeError for times that no clock could show.
    """

    main: float
    overtime: Overtime = Overtime.NONE
    period: float = 0.0
    count: int = 0
    increment: float = 0.0
    main_cap: float = math.inf
    move_cap: float = math.inf

    def __post_init__(self) -> None:
        for name in ("main", "period", "increment"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise RecipeError(f"{name} time {value} is not a number of seconds from 0 up")
        if not self.main_cap >= self.main or not self.move_cap >= 0:
            raise RecipeError(f"a cap of {self.main_cap:g} s for {self.main:g} s, or of {self.move_cap:g} s a move")
        in_blocks = self.overtime in (Overtime.BYOYOMI, Overtime.CANADIAN)
        if in_blocks and (self.period <= 0 or self.count < 1):
            raise RecipeError(f"{self.overtime.value} needs a period above 0 s and a count from 1 up")

    @classmethod
    def absolute(cls, main: float) -> TimeControl:
        return cls(main)

    @classmethod
    def byoyomi(cls, main: float, period: float, periods: int) -> TimeControl:
        return cls(main, Overtime.BYOYOMI, period, periods)

    @classmethod
    def canadian(cls, main: float, period: float, stones: int) -> TimeControl:
        return cls(main, Overtime.CANADIAN, period, stones)

    @classmethod
    def fischer(
        cls, main: float, increment: float, main_cap: float = math.inf, move_cap: float = math.inf
    ) -> TimeControl:
        return cls(main, Overtime.FISCHER, increment=increment, main_cap=main_cap, move_cap=move_cap)

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """The times that a word tells: main time, a plus, and what follows it.

        `10m+5x30s` is byo-yomi of five periods, `10m+25/5m` Canadian with 25 stones in each block of five minutes,
        `5m+3s` Fischer, `5m+0` main time alone. A time is written as `1h30m`, `2m`, `2.5s` or `0`. RecipeError for
        another word.
        """
        found = _CONTROL.fullmatch(text)
        times = {name: found[name] for name in ("main", "byoyomi", "block", "gain") if found[name]} if found else {}
        spans = {name: parse_seconds(time) for name, time in times.items()}
        if not found or None in spans.values():
            raise RecipeError(
                f"{text!r} is no time control: write 10m+5x30s (byo-yomi), 10m+25/5m (Canadian), 5m+3s (Fischer) or "
                "5m+0 (main time alone)"
            )
        seconds = {name: span for name, span in spans.items() if span is not None}
        if found["periods"]:
            return cls.byoyomi(seconds["main"], seconds["byoyomi"], int(found["periods"]))
        if found["stones"]:
            return cls.canadian(seconds["main"], seconds["block"], int(found["stones"]))
        if seconds["main"] == seconds["gain"] == 0:
            raise RecipeError(f"{text!r} leaves no time to play")
        return cls.fischer(seconds["main"], seconds["gain"]) if seconds["gain"] else cls.absolute(seconds["main"])

    def __str__(self) -> str:
        """The time control as text that `parse` reads."""
        main = show_seconds(self.main)
        match self.overtime:
            case Overtime.NONE:
                return f"{main}+0"
            case Overtime.FISCHER:
                return f"{main}+{show_seconds(self.increment)}"
            case Overtime.BYOYOMI:
                return f"{main}+{self.count}x{show_seconds(self.period)}"
            case Overtime.CANADIAN:
                return f"{main}+{self.count}/{show_seconds(self.period)}"

    @property
    def sgf(self) -> tuple[str, str]:
        """Main time (TM) and overtime (OT) as SGF writes them."""
        match self.overtime:
            case Overtime.BYOYOMI:
                overtime = f"{self.count}x{self.period:g} byo-yomi"
            case Overtime.CANADIAN:
                overtime = f"{self.count}/{self.period:g} Canadian"
            case Overtime.FISCHER:
                overtime = f"{self.increment:g} fischer"
            case Overtime.NONE:
                overtime = ""
        return f"{self.main:g}", overtime

    def start(self) -> Clock:
        """The clock of either side before its first move."""
        return Clock(self, self.main, self.period, self.count)


@dataclass(frozen=True)
class Clock:
    """What one side has left: seconds of `main` time, then of the running `period`, with `count` periods or stones."""

    control: TimeControl
    main: float
    period: float = 0.0
    count: int = 0

    @property
    def in_overtime(self) -> bool:
        return self.main <= 0 and self.control.overtime in (Overtime.BYOYOMI, Overtime.CANADIAN)

    @property
    def flagged(self) -> bool:
        """Whether the time is up."""
        return self.main < 0 or (self.in_overtime and self.count <= 0)

    @property
    def max_seconds(self) -> float:
        """Seconds that the next move may take without losing on time."""
        match self.control.overtime:
            case Overtime.BYOYOMI:
                further = self.period + self.control.period * (self.count - 1)
            case Overtime.CANADIAN:
                further = self.period
            case _:
                further = 0.0
        return min(max(self.main, 0.0) + further, self.control.move_cap)

    def saves(self, elapsed: float) -> bool:
        """Whether the clock keeps what a move leaves that ends after these seconds: byo-yomi periods and the last stone
        of a Canadian block renew it, and the cap of Fischer time cuts it off."""
        match self.control.overtime:
            case Overtime.NONE:
                return True
            case Overtime.FISCHER:
                return elapsed > self._free
            case Overtime.BYOYOMI:
                return elapsed < self.main
            case Overtime.CANADIAN:
                return elapsed < self.main or self.count > 1

    @property
    def _free(self) -> float:
        """Seconds of a move that Fischer's increment gives back in full, as its cap would cut them off."""
        return self.main + self.control.increment - self.control.main_cap

    def running(self, seconds: float) -> Clock:
        """The clock during a move that has taken this long so far: periods run down, nothing is added or renewed."""
        overtime = seconds - max(self.main, 0.0)
        if overtime < 0 or self.control.overtime not in (Overtime.BYOYOMI, Overtime.CANADIAN) or self.count == 0:
            return replace(self, main=self.main - seconds)
        if overtime < self.period:
            return replace(self, main=0.0, period=self.period - overtime)
        if self.control.overtime is Overtime.CANADIAN:
            return replace(self, main=0.0, period=0.0, count=0)
        used, rest = divmod(overtime - self.period, self.control.period)
        return replace(self, main=0.0, period=self.control.period - rest, count=max(0, self.count - 1 - int(used)))

    def spend(self, seconds: float) -> Clock:
        """The clock after a move that took this long; `flagged` when it took too long."""
        main = self.main - seconds
        if self.control.overtime is Overtime.FISCHER:
            return replace(self, main=min(main + self.control.increment, self.control.main_cap) if main >= 0 else main)
        if self.control.overtime is Overtime.NONE or main > 0:
            return replace(self, main=main)
        after_main = replace(self, main=0.0)
        if self.control.overtime is Overtime.BYOYOMI:
            return after_main._spend_byoyomi(-main)
        return after_main._spend_canadian(-main)

    def allot(self, size: int, move_number: int, lag_buffer: float = MARGIN) -> float:
        """Seconds to think about the next move of a game on this board after `move_number` moves of both sides.

        The clock charges a move `lag_buffer` seconds more, such as those of the network to a server; less than MARGIN
        count as that. Never more than the clock allows less these; 0 means to answer at once.
        """
        if self.flagged:
            return 0.0
        moves_left = expected_moves_left(size, move_number)
        share = _without_lag(self.main, lag_buffer) / moves_left
        match self.control.overtime:
            case Overtime.NONE:
                seconds = share
            case Overtime.FISCHER:
                longest = _without_lag(min(self.main, self.control.move_cap), lag_buffer)
                seconds = max(share + 0.9 * self.control.increment, _without_lag(self._free, lag_buffer))
                seconds = min(seconds, longest)
            case Overtime.BYOYOMI:
                seconds = max(share, _without_lag(self.period, lag_buffer))
            case Overtime.CANADIAN:  # an even share of the running block, untouched as long as main time is left
                seconds = max(share, _without_lag(self.period / max(self.count, 1), lag_buffer))
        return seconds

    def _spend_byoyomi(self, seconds: float) -> Clock:
        used = 0 if seconds <= self.period else math.ceil((seconds - self.period) / self.control.period)
        return replace(self, period=self.control.period, count=self.count - used)

    def _spend_canadian(self, seconds: float) -> Clock:
        if seconds > self.period:
            return replace(self, period=0.0, count=0)
        if self.count == 1:
            return replace(self, period=self.control.period, count=self.control.count)
        return replace(self, period=self.period - seconds, count=self.count - 1)


def _without_lag(seconds: float, lag_buffer: float) -> float:
    """The seconds to think of these seconds of a clock: as in KataGo the lag takes half of them at most, but never less
    than MARGIN."""
    return max(seconds - max(lag_buffer, MARGIN), min(seconds / 2, seconds - MARGIN), 0.0)


def expected_moves_left(size: int, move_number: int) -> float:
    """Moves that the side to move still has to make, as a plan: it shrinks with the game and never comes near 0."""
    points = size * size
    return max(_GAME_LENGTH * points - move_number, _TAIL * points) / 2 + 2


def parse_seconds(text: str) -> float | None:
    """The seconds that `1h30m`, `2m`, `2.5s` or `0` tells; None for another text."""
    found = _SPAN.fullmatch(text)
    if not found:
        return None
    return sum(_UNITS[unit] * float(part or 0) for unit, part in zip("hms", found.groups(), strict=True))


def show_seconds(seconds: float) -> str:
    """Seconds as text that `parse_seconds` reads: `1h30m`, `2.5s`, `0`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = [(hours, "h"), (minutes, "m"), (round(rest, 3), "s")]
    return "".join(f"{value:g}{unit}" for value, unit in parts if value) or "0"
