"""How the front ends with KataGo's protocols, GTP and JSON, see a search: whose values they report, and which moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tengen.engine.katago_params import Perspective
from tengen.engine.result import Candidate
from tengen.engine.symmetries import distinct_images
from tengen.evaluators.evaluation import Floats
from tengen.game import BLACK, WHITE

Value = TypeVar("Value", float, Floats)


@dataclass(frozen=True)
class Viewpoint:
    """The player whose values are reported: `sign` is 1 for the side to move, -1 for its opponent.

    Its methods turn what holds for the side to move into what holds for that player.
    """

    sign: int

    @classmethod
    def of(cls, perspective: Perspective, to_play: int) -> Viewpoint:
        """That of reportAnalysisWinratesAs in a position where the color `to_play` is to move."""
        return cls(1 if {"BLACK": BLACK, "WHITE": WHITE}.get(perspective, to_play) == to_play else -1)

    def rate(self, winrate: float) -> float:
        """A winrate from 0 to 1, or a bound of one."""
        return winrate if self.sign > 0 else 1 - winrate

    def points(self, value: Value) -> Value:
        """A score or utility, or ownership as an array of any shape."""
        return self.sign * value


def with_copies(
    candidates: Iterable[Candidate], size: int, symmetries: Sequence[int]
) -> Iterator[tuple[Candidate, int]]:
    """Each move of a search with the symmetry 0, and after it with those under which it is another move.

    `symmetries` are those of the position but for the identity where the search has one move of each orbit
    (`merge_symmetric`), else none. `size` is that of the board.
    """
    for candidate in candidates:
        for symmetry in distinct_images(candidate.point, size, symmetries).values():
            yield candidate, symmetry
