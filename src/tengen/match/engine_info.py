"""What a GTP program tells on stderr of the move that it makes, where it tells it in a form that we know.

Leela Zero prints a line for each move that it considered and one with the visits of the whole search; KataGo prints one
line of chat with `ogsChatToStderr = true`. Both speak for the side to move (KataGo unless its configuration says
otherwise).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tengen.match.player import comment_of

_LEELA_ZERO_MOVE = re.compile(r"\s*(?P<move>[A-T]\d+|pass) -> +\d+ \(V: +(?P<winrate>\d+\.\d+)%\)", re.IGNORECASE)
_LEELA_ZERO_END = re.compile(r"(?P<visits>\d+) visits, \d+ nodes")
_KATAGO = re.compile(
    r"CHAT:\s*Visits (?P<visits>\d+) Winrate (?P<winrate>\d+\.\d+)% ScoreLead (?P<score>-?\d+\.\d+)", re.IGNORECASE
)


@dataclass(frozen=True)
class Thoughts:
    """Winrate (0..1) and score (points) for the side to move, visits of the whole search; None where it did not say."""

    winrate: float | None = None
    score: float | None = None
    visits: int | None = None

    def comment(self, color: int) -> str:
        """For the record; empty when the program said nothing of its winrate."""
        return "" if self.winrate is None else comment_of(color, self.winrate, self.score, self.visits)


def read_thoughts(remarks: Sequence[str], move: str) -> Thoughts:
    """What these lines of stderr tell of the move that was played, as GTP writes it."""
    winrate: float | None = None
    visits: int | None = None
    for line in remarks:
        if found := _KATAGO.search(line):
            return Thoughts(float(found["winrate"]) / 100, float(found["score"]), int(found["visits"]))
        if (found := _LEELA_ZERO_MOVE.match(line)) and found["move"].lower() == move.lower():
            winrate = float(found["winrate"]) / 100
        elif found := _LEELA_ZERO_END.match(line):
            visits = int(found["visits"])
    return Thoughts(winrate, None, visits)
