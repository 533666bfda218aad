"""Style of play: variety, weaker play, resignation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tengen.errors import RecipeError
from tengen.game import BLACK, WHITE

_GREEDY = 1e-4  # temperatures up to this are 0, as in KataGo
_RANGES = {
    "temperature": (0.0, 10.0),
    "late_temperature": (0.0, 10.0),
    "opening": (0.0, 1.0),
    "halflife": (0.1, 100_000.0),
    "policy_temperature": (0.01, 100.0),
    "mean_loss": (0.0, 100.0),
    "policy_floor": (0.0, 1.0),
    "resign_threshold": (0.0, 0.5),
    "resign_moves": (1, 100),
}
EARLIEST_RESIGNATION = 0.2
"""Moves before which no game is resigned, as a share of the board's points."""


@dataclass(frozen=True)
class Style:
    """Settings of play. Raises RecipeError for values out of range.

    `temperature` above 0 draws the moves of the opening by visits to the power 1 / temperature, and `late_temperature`
    those after it. The opening lasts for `opening` x the number of points moves. With `halflife` the temperature falls
    smoothly instead, from the first to the second, by half in `halflife` moves on 19x19, and in proportion to the edge
    on other boards (KataGo's chosenMoveTemperatureEarly, chosenMoveTemperature, chosenMoveTemperatureHalflife).

    `policy_temperature` draws every move from the raw policy at this temperature instead: 1 plays like the games that
    the network was trained on, higher values play more randomly. `mean_loss` gives points away: each move aims at a
    loss drawn from the exponential distribution with this mean, in points, and is drawn by the policy among the moves
    that lose about as much (`engine.weaker_move`). Both choose among moves with at least `policy_floor` times the
    probability of the best one, never an own eye.

    The engine resigns, if `resign` allows it, once the winrate was below `resign_threshold` for `resign_moves` own
    moves.
    """

    temperature: float = 0.0
    opening: float = 0.08
    late_temperature: float = 0.0
    halflife: float | None = None
    policy_temperature: float | None = None
    mean_loss: float | None = None
    policy_floor: float = 0.01
    resign: bool = True
    resign_threshold: float = 0.04
    resign_moves: int = 4

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and low <= value <= high):
                raise RecipeError(f"{name} must lie between {low:g} and {high:g}, not {value:g}")

    @property
    def weakens(self) -> bool:
        """Whether moves are drawn from the policy or give points away, whatever the search found."""
        return self.policy_temperature is not None or self.mean_loss is not None

    def temperature_at(self, move_number: int, size: int) -> float:
        """The temperature of a move, of which `move_number` were made before it; 0 is the best move."""
        if self.halflife is None:
            return self.temperature if move_number < self.opening * size**2 else self.late_temperature
        share = 0.5 ** (move_number / self.halflife * 19 / size)
        found = self.late_temperature + (self.temperature - self.late_temperature) * share
        return found if found > _GREEDY else 0.0


@dataclass
class ResignJudge:
    """Keeps the winrates at the engine's own moves of one game, by color and move number."""

    _seen: dict[int, dict[int, float]] = field(default_factory=lambda: {BLACK: {}, WHITE: {}})

    def judge(self, style: Style, color: int, move_number: int, winrate: float, size: int, handicap: int = 0) -> bool:
        """Record this winrate of `color`; returns whether to resign. A second search of a move replaces its winrate."""
        seen = self._seen[color] = {n: w for n, w in self._seen[color].items() if n < move_number}
        seen[move_number] = winrate
        if not style.resign or move_number < EARLIEST_RESIGNATION * size * size:
            return False
        threshold = style.resign_threshold / (1 + handicap if color == WHITE else 1)  # White expects to be behind
        recent = [seen.get(move_number - 2 * back) for back in range(style.resign_moves)]
        return all(w is not None and w < threshold for w in recent)

    def forget(self) -> None:
        """Start another game."""
        self._seen = {BLACK: {}, WHITE: {}}
