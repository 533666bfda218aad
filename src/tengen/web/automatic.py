"""The automatic level: the next opponent is stronger after a win and weaker after a loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

GENTLE = 2
"""The number of the level that a new player is offered."""


@dataclass(frozen=True)
class AutomaticLevel:
    """The number of the next level, how many levels the next result moves it, and the last result.

    Results move it by two levels until one goes the other way, and by one from then on. A draw moves nothing.
    """

    number: int = GENTLE
    step: int = 2
    won: bool | None = None

    @classmethod
    def parse(cls, values: object) -> AutomaticLevel:
        """What a browser has kept; a new one for whatever makes no sense."""
        if not isinstance(values, Mapping):
            return cls()
        number, step, won = (values.get(name) for name in ("number", "step", "won"))
        whole = type(number) is int and 1 <= number <= 99 and step in (1, 2) and won in (True, False, None)
        return cls(number, step, won) if whole else cls()  # type: ignore[arg-type]

    def after(self, won: bool, highest: int) -> AutomaticLevel:
        """The level after a win or a loss, from 1 to `highest`."""
        step = self.step if self.won in (None, won) else 1
        return AutomaticLevel(min(max(self.number + (step if won else -step), 1), highest), step, won)

    def as_dict(self) -> dict[str, Any]:
        """For the browser to keep."""
        return asdict(self)
