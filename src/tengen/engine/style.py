"""How the engine plays apart from how long it thinks: variety, weaker play, resigning."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tengen.errors import RecipeError


@dataclass(frozen=True)
class Style:
    """Settings of play. Raises RecipeError for values out of range.

    `temperature` above 0 draws the opening's moves by visits to the power 1/temperature, for variety; the opening is
    the first `opening` share of the board's points in moves. `policy_temperature` replaces the choice by a draw from
    the network's own policy at this temperature, for weaker play that is honest: 1 plays like the games that it
    learned from, more plays more freely. `resign` allows to give up when the winrate stayed under `resign_threshold`
    for `resign_moves` own moves.
    """

    temperature: float = 0.0
    opening: float = 0.08
    policy_temperature: float | None = None
    resign: bool = True
    resign_threshold: float = 0.04
    resign_moves: int = 4

    def __post_init__(self) -> None:
        self._check("temperature", self.temperature, 0.0, 10.0)
        self._check("opening", self.opening, 0.0, 1.0)
        self._check("resign_threshold", self.resign_threshold, 0.0, 0.5)
        self._check("resign_moves", self.resign_moves, 1, 100)
        if self.policy_temperature is not None:
            self._check("policy_temperature", self.policy_temperature, 0.01, 100.0)

    @staticmethod
    def _check(name: str, value: float, low: float, high: float) -> None:
        if not (math.isfinite(value) and low <= value <= high):
            raise RecipeError(f"{name} must lie between {low:g} and {high:g}, not {value:g}")
