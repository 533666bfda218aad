"""What a run tells whoever watches it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tengen.selfplay.timing import Clock


class Watcher(Protocol):
    """Whoever wants to see a run as it goes. Cycles count from 0. `clock`, if there is one, tells when it ends."""

    @property
    def clock(self) -> Clock | None: ...

    def playing(self, cycle: int, done: int, games: int, evaluations: int) -> None:
        """`done` of `games` games of a cycle have ended, after so many evaluations in this process."""

    def learning(self, cycle: int) -> None: ...

    def progress(self, share: float) -> None:
        """How much of the learning or rating is done, 0..1."""

    def judging(self, cycle: int) -> None:
        """Figures, gate and report are made."""

    def rating(self, cycle: int) -> None: ...

    def rated(self, text: str) -> None:
        """What came of the rating, in one line."""

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        """The event of a cycle, as the log has it."""


class Nobody:
    """Watches nothing."""

    clock: Clock | None = None

    def playing(self, cycle: int, done: int, games: int, evaluations: int) -> None:
        pass

    def learning(self, cycle: int) -> None:
        pass

    def progress(self, share: float) -> None:
        pass

    def judging(self, cycle: int) -> None:
        pass

    def rating(self, cycle: int) -> None:
        pass

    def rated(self, text: str) -> None:
        pass

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        pass
