"""How a game of a match ended: one row of its journal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Reason = Literal[
    "count",
    "sure",
    "resign",
    "cycle",
    "limit",
    "illegal",
    "time",
    "died",
    "timeout",
    "refused",
    "nonsense",
    "not found",
]
"""Why a game ended. `count`: two passes; `sure`: decided whatever follows (`referee.sure_margin`); `cycle`: the same
moves over and over; `limit`: too long; all after these are failures of the player that lost: `time` is its clock's,
`timeout` that no answer came at all."""

FAILURES = frozenset[Reason]({"died", "timeout", "refused", "nonsense", "not found"})
"""Reasons after which a player cannot be trusted to play another game: it is started afresh."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended. Players go by the names that they have in the match.

    `index` is the number of the game in the schedule, `pair` that of the two games which share an opening, `round`
    counts how often all pairings of the schedule have met before. `winner` is None for a draw or a void game; `result`
    is as SGF writes it (B+3.5, W+R, Draw, Void). `score` is Black minus White, komi included, None when not counted;
    `counts` holds the scores by each player's dead stones and, where these were not enough, by `playouts`; `disputed`
    says that the players' counts name different winners. `seconds` are spent in all, `visits` are the mean of a search.
    """

    index: int
    round: int
    pair: int
    black: str
    white: str
    winner: str | None
    result: str
    reason: Reason
    moves: int
    score: float | None = None
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False
    detail: str = ""
    last_words: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    visits: dict[str, float] = field(default_factory=dict)

    @property
    def loser(self) -> str | None:
        """None for a draw or a void game."""
        if self.winner is None:
            return None
        return self.white if self.winner == self.black else self.black

    @property
    def counted_apart(self) -> bool:
        """Whether not all opinions about the dead stones lead to the same score."""
        return len(set(self.counts.values())) > 1
