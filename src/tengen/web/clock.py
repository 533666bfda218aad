"""Two clocks for a game, as they are seen while they run. Time is handed in, never read here."""

from __future__ import annotations

from dataclasses import replace

from tengen.engine import Clock, TimeControl


class GameClock:
    """The clocks of both players; at most one runs. All times `now` are seconds of one steady timer of the caller."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._clocks = [control.start(), control.start()]
        self._spent = [0.0, 0.0]  # on the move that is being thought about
        self._running: int | None = None
        self._since = 0.0

    def start(self, color: int, now: float) -> None:
        """Let the clock of `color` run, and stop the other."""
        if self._running != color:
            self.stop(now)
            self._running, self._since = color, now

    def stop(self, now: float) -> None:
        """Stop both clocks."""
        self._tick(now)
        self._running = None

    def moved(self, color: int, now: float) -> None:
        """`color` has played: what the move took is spent, its increment added, its byo-yomi period made whole."""
        self._tick(now)
        self._clocks[color] = self._clocks[color].spend(self._spent[color])
        self._spent[color] = 0.0
        if self._running == color:
            self._running = None

    def flagged(self, color: int, now: float) -> bool:
        """Whether the time of `color` is up."""
        self._tick(now)
        return self.seconds(color) <= 0

    def seconds(self, color: int) -> float:
        """What `color` may still spend on this move, byo-yomi periods included, as of the last call with a time."""
        left = self._left(color)
        return left.main + (left.period + (left.count - 1) * self.control.period if left.count > 0 else 0.0)

    def face(self, color: int) -> str:
        """What the clock shows: `12:07`, in byo-yomi `0:24 (3)`, under ten seconds tenths."""
        left = self._left(color)
        overtime = left.main <= 0 and left.count > 0
        seconds = left.period if overtime else max(0.0, left.main)
        text = f"{seconds:.1f}" if seconds < 10 else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
        return f"{text} ({left.count})" if overtime else text

    def remaining(self, color: int) -> Clock:
        """The clock of `color` for an engine that is about to think."""
        return self._left(color)

    def _left(self, color: int) -> Clock:
        """The clock in the middle of a move: main time run down, then whole byo-yomi periods."""
        clock, spent = self._clocks[color], self._spent[color]
        if spent < clock.main or clock.count == 0:
            return replace(clock, main=clock.main - spent)
        over = spent - max(0.0, clock.main)
        if over < clock.period:
            return replace(clock, main=0.0, period=clock.period - over)
        lost, rest = divmod(over - clock.period, self.control.period)
        return replace(clock, main=0.0, period=self.control.period - rest, count=max(0, clock.count - 1 - int(lost)))

    def _tick(self, now: float) -> None:
        if self._running is not None:
            self._spent[self._running] += max(0.0, now - self._since)
            self._since = now
