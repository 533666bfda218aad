"""How a game of a match ended, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, get_args

from pydantic import Field

from tengen.game import BLACK, WHITE
from tengen.gtp.client import FailureReason
from tengen.sgf import Result

Reason = Literal[
    "count",
    "majority",
    "settled",
    "resign",
    "cycle",
    "limit",
    "illegal",
    "time",
    FailureReason,
]
"""Why a game ended. `count`: two passes; `majority`: the pass-alive area of one side is enough to win; `settled`: every
point is pass-alive area; `cycle`: the same moves again and again; `limit`: too many moves. All after these are failures
of the player that lost; `time`: its clock ran out; `timeout`: it did not answer at all."""

FAILURES = frozenset[Reason](get_args(FailureReason))
"""Reasons for which a program is not trusted with another game: it is started afresh."""


REASON_OF_END: dict[str, Reason] = {"passes": "count", "move limit": "limit", "settled": "settled"}
"""The reason of an outcome by that of the `GameEnd` of a game that the rules alone ended."""

# The ending of a record by the reason of an outcome without score; all others are forfeits.
_ENDINGS = {"resign": "resign", "time": "time", "timeout": "time", "cycle": "void", "majority": "count"}
_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class Outcome:
    """How a game ended: a row of games.jsonl. Players go by the names that they have in the match.

    `index` is the number of the game in the schedule, `pair` that of the two games which share an opening, `round`
    counts how often all pairings of the schedule have met before. `winner` is None for a draw or a void game; `result`
    is as SGF writes it (B+3.5, W+R, Draw, Void). `score` is Black minus White, komi included, None when not counted;
    `counts` holds the scores by each player's dead stones and, where these were not enough, by `playouts`; `disputed`:
    the players' counts, or that of a single one and the playouts, name different winners. `seconds` are the total by
    player, `visits` the mean of a search. The first `opening` of the `moves` were given; 0 in folders of earlier
    versions.
    """

    index: _Count
    round: _Count
    pair: _Count
    black: str
    white: str
    winner: str | None
    result: str
    reason: Reason
    moves: _Count
    score: float | None = None
    counts: dict[str, float] = field(default_factory=dict)
    disputed: bool = False
    detail: str = ""
    last_words: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    visits: dict[str, float] = field(default_factory=dict)
    opening: _Count = 0

    @property
    def loser(self) -> str | None:
        """None for a draw or a void game."""
        if self.winner is None:
            return None
        return self.white if self.winner == self.black else self.black

    @property
    def counts_differ(self) -> bool:
        """Whether the opinions of the players about the dead stones, or that of a single one and the playouts, lead to
        different scores."""
        scores = [score for who, score in self.counts.items() if who != "playouts"]
        return len(set(self.counts.values() if len(scores) == 1 else scores)) > 1

    @property
    def sgf_result(self) -> Result:
        """The result as a record has it."""
        winner = {"B": BLACK, "W": WHITE}.get(self.result[0], 2)
        if self.score is not None:
            return Result(winner, self.score, "draw" if winner == 2 else "count")
        return Result(winner, None, _ENDINGS.get(self.reason, "forfeit"))
