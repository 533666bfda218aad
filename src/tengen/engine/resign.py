"""When a game is given up: the winrate has been hopeless for several own moves in a row, and not early."""

from __future__ import annotations

from dataclasses import dataclass, field

from tengen.engine.style import Style

BLACK, WHITE = 0, 1

# No game is resigned before this share of the board's points has been played.
EARLIEST = 0.2


@dataclass
class ResignJudge:
    """Remembers the winrates that the engine saw at its own moves of one game, by colour and move number."""

    _seen: dict[int, dict[int, float]] = field(default_factory=lambda: {BLACK: {}, WHITE: {}})

    def judge(self, style: Style, color: int, move_number: int, winrate: float, size: int, handicap: int = 0) -> bool:
        """Note this winrate of `color` and say whether to resign. A move looked at again replaces what it said."""
        seen = self._seen[color] = {n: w for n, w in self._seen[color].items() if n < move_number}
        seen[move_number] = winrate
        if not style.resign or move_number < EARLIEST * size * size:
            return False
        threshold = style.resign_threshold / (1 + handicap if color == WHITE else 1)  # White expects to be behind
        recent = [seen.get(move_number - 2 * back) for back in range(style.resign_moves)]
        return all(w is not None and w < threshold for w in recent)

    def forget(self) -> None:
        """Another game begins."""
        self._seen = {BLACK: {}, WHITE: {}}
