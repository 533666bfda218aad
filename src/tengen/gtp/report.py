"""A search's state as the lines that analysis programs read: the format of Leela Zero, and KataGo's wider one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tengen import coords
from tengen.engine.result import Candidate, SearchResult


@dataclass(frozen=True)
class Wishes:
    """What an analysis command asked for: seconds between lines, how many moves, and what besides them.

    `allow` (if not empty) and `avoid` restrict the moves that are searched.
    """

    every: float = 1.0
    least: int = 0
    most: int | None = None
    allow: frozenset[int] = frozenset()
    avoid: frozenset[int] = frozenset()
    root_info: bool = False
    ownership: bool = False

    def choose(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The moves to show: those that were visited, best first, and unvisited ones up to `least`."""
        shown = [c for rank, c in enumerate(candidates) if c.visits > 0 or rank < self.least]
        return shown if self.most is None else shown[: self.most]


Format = Callable[[SearchResult, Wishes, int], str]


def leela_line(result: SearchResult, wishes: Wishes, size: int) -> str:
    """`info move D4 visits 9 winrate 5123 prior 801 lcb 4800 order 0 pv D4 Q16 info ...`; rates in 1/10000."""
    return " ".join(
        f"info move {coords.to_gtp(c.point, size)} visits {c.visits} winrate {_myriad(c.winrate)} "
        f"prior {_myriad(c.prior)} lcb {_myriad(c.lcb)} order {order} pv {_line_of(c, size)}"
        for order, c in enumerate(wishes.choose(result.candidates))
    )


def kata_line(result: SearchResult, wishes: Wishes, size: int) -> str:
    """KataGo's `info` groups, then `rootInfo` and `ownership` if asked for; all for the side to move."""
    parts = [_kata_move(c, order, size) for order, c in enumerate(wishes.choose(result.candidates))]
    if wishes.root_info:
        parts.append(
            f"rootInfo visits {result.visits} utility {_fraction(2 * result.winrate - 1)} "
            f"winrate {_fraction(result.winrate)}{_scores(result.score)} weight {result.visits}"
        )
    if wishes.ownership and result.ownership is not None:
        parts.append("ownership " + " ".join(f"{value:.4f}" for value in result.ownership.ravel()))
    return " ".join(parts)


def _kata_move(c: Candidate, order: int, size: int) -> str:
    return (
        f"info move {coords.to_gtp(c.point, size)} visits {c.visits} edgeVisits {c.visits} "
        f"utility {_fraction(2 * c.winrate - 1)} winrate {_fraction(c.winrate)}{_scores(c.score)} "
        f"prior {_fraction(c.prior)} "
        f"lcb {_fraction(c.lcb)} utilityLcb {_fraction(2 * c.lcb - 1)} weight {c.visits} "
        f"order {order} pv {_line_of(c, size)}"
    )


def _scores(score: float | None) -> str:
    """The fields of the score lead, none where it is not known."""
    if score is None:
        return ""
    text = _fraction(score)
    return f" scoreMean {text} scoreLead {text} scoreSelfplay {text}"


def _line_of(candidate: Candidate, size: int) -> str:
    return " ".join(coords.to_gtp(point, size) for point in candidate.pv or (candidate.point,))


def _myriad(rate: float) -> int:
    return round(10000 * rate)


def _fraction(value: float) -> str:
    return f"{value:.6g}"
