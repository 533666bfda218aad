"""The clocks of a game on the page, and the times that a record tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from tengen.engine import Clock, Overtime, TimeControl
from tengen.sgf import GameNode

_FISCHER = re.compile(r"(\d+(?:\.\d+)?)\s*fischer", re.IGNORECASE)


class GameClock:
    """The clocks of both players; at most one runs. All times `now` are seconds of one steady timer of the caller."""

    def __init__(self, control: TimeControl, left: Sequence[Sequence[float]] = ()) -> None:
        self._clocks = [control.start(), control.start()]
        if left:
            self._clocks = [Clock(control, main, period, int(count)) for main, period, count in left]
        self._spent = [0.0, 0.0]  # seconds of the move in progress
        self._running: int | None = None
        self._since = 0.0

    def start(self, color: int, now: float) -> None:
        """Start the clock of `color` and stop the other."""
        if self._running != color:
            self.stop(now)
            self._running, self._since = color, now

    def stop(self, now: float) -> None:
        """Stop both clocks."""
        self._tick(now)
        self._running = None

    def moved(self, color: int, now: float) -> float:
        """`color` has played: spend its time, add the increment, renew the byo-yomi period; gives the seconds spent."""
        self._tick(now)
        spent = self._spent[color]
        self._clocks[color] = self._clocks[color].spend(spent)
        self._spent[color] = 0.0
        if self._running == color:
            self._running = None
        return spent

    def turn(self, color: int) -> Clock:
        """The clock of `color` when its move in progress began."""
        return self._clocks[color]

    def take_back(self, color: int, before: Clock, spent: float) -> None:
        """`color` takes back a move: the clock is what it was `before`, as though the player had thought on since.

        So an increment, a renewed period and a counted stone are gone, and the time that was used stays used. A take
        back costs no byo-yomi period and never loses the game: the clock stays where it would.
        """
        left, now = before.running(self._spent[color] + spent), self.remaining(color)
        if left.max_seconds > 0 and (before.control.overtime is not Overtime.BYOYOMI or left.count >= now.count):
            self._clocks[color] = before
            self._spent[color] += spent

    def flagged(self, color: int, now: float) -> bool:
        """Whether the time of `color` has run out."""
        self._tick(now)
        return self.seconds(color) <= 0

    def seconds(self, color: int) -> float:
        """Seconds that `color` may still spend on this move, byo-yomi periods included, as of the last call."""
        return self.remaining(color).max_seconds

    def text(self, color: int) -> str:
        """What the clock shows: `12:07`, in byo-yomi `0:24 (3)`, below ten seconds with tenths."""
        left = self.remaining(color)
        seconds = left.period if left.in_overtime else max(0.0, left.main)
        text = f"{seconds:.1f}" if seconds < 10 else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
        return f"{text} ({left.count})" if left.in_overtime else text

    def remaining(self, color: int) -> Clock:
        """The clock of `color` during its move, as of the last call."""
        return self._clocks[color].running(self._spent[color])

    def _tick(self, now: float) -> None:
        if self._running is not None:
            self._spent[self._running] += max(0.0, now - self._since)
            self._since = now


def seconds_used(line: Sequence[GameNode]) -> dict[int, float]:
    """The seconds of moves by their place in a line from its root, by the time that a record says is left (BL, WL).

    What is left in overtime is counted differently by each server, so that its moves are unknown.
    """
    root = line[0]
    increment = _FISCHER.search(root.text("OT"))
    added = float(increment[1]) if increment else 0.0
    left: list[float | None] = [_seconds(root.text("TM"))] * 2
    used = {}
    for place, node in enumerate(line):
        if node.color is None:
            continue
        color, letter = node.color, "BW"[node.color]
        now = None if node.text(f"O{letter}") else _seconds(node.text(f"{letter}L"))
        before, left[color] = left[color], now
        if now is not None and before is not None and before + added >= now:
            used[place] = before + added - now
    return used


def _seconds(text: str) -> float | None:
    """A time of a record; None for none, and for what makes no sense."""
    with suppress(ValueError):
        if 0 <= (seconds := float(text)) < 1e7:
            return seconds
    return None
