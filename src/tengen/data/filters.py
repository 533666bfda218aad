"""Which of the legal games a store is to hold."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass
from typing import Any

from tengen.data.record import ENDINGS, GameRecord
from tengen.errors import SgfError
from tengen.sgf.values import rank, rank_strength


@dataclass(frozen=True)
class Filters:
    """What a game must be to be kept; None and empty mean anything.

    sizes: board sizes. min_rank: both players at least that, as `5k`, `3d`, `1p`. since, until: dates, inclusive; a
    game without a date fails either. endings: of `record.ENDINGS`. max_handicap: stones. komi: values in points; an
    unknown komi is none of them. min_moves, max_moves: length, inclusive. min_part: legal moves that a damaged game
    needs to be kept in part.
    """

    sizes: tuple[int, ...] = ()
    min_rank: str = ""
    since: datetime.date | None = None
    until: datetime.date | None = None
    endings: tuple[str, ...] = ()
    max_handicap: int | None = None
    komi: tuple[float, ...] = ()
    min_moves: int = 10
    max_moves: int | None = None
    min_part: int = 30

    def __post_init__(self) -> None:
        if self.min_rank and rank(self.min_rank) != self.min_rank:
            raise SgfError(f"{self.min_rank!r} is no rank; write one such as 5k, 3d or 1p")
        if strange := [size for size in self.sizes if not 5 <= size <= 19]:
            raise SgfError(f"{strange[0]} is no board size; sizes are 5 to 19")
        if strange_endings := [ending for ending in self.endings if ending not in ENDINGS]:
            raise SgfError(f"{strange_endings[0]!r} is no ending; choose from {', '.join(ENDINGS)}")
        if self.max_handicap is not None and self.max_handicap < 0:
            raise SgfError(f"max_handicap must be 0 or more, not {self.max_handicap}; 0 keeps even games")
        if self.max_moves is not None and self.max_moves < self.min_moves:
            raise SgfError(f"no game has {self.min_moves} moves or more and {self.max_moves} or fewer")
        if self.since and self.until and self.since > self.until:
            raise SgfError(f"no day is from {self.since} on and until {self.until}")

    def refuse(self, game: GameRecord) -> str:
        """Name the first filter that the game fails; empty when it passes all."""
        if self.sizes and game.size not in self.sizes:
            return "board size"
        if self.min_rank and not self._strong(game):
            return "rank"
        if not self._in_time(game.date):
            return "date"
        if self.endings and game.ending not in self.endings:
            return "result"
        if self.max_handicap is not None and game.handicap > self.max_handicap:
            return "handicap"
        if self.komi and (game.komi is None or not any(abs(game.komi - value) < 0.01 for value in self.komi)):
            return "komi"
        if len(game.moves) < self.min_moves:
            return "too short"
        if self.max_moves is not None and len(game.moves) > self.max_moves:
            return "too long"
        return ""

    def as_dict(self) -> dict[str, Any]:
        """The filters that are set, as JSON can hold them."""
        values = {name: value for name, value in asdict(self).items() if value not in (None, (), "")}
        return {name: str(value) if isinstance(value, datetime.date) else value for name, value in values.items()}

    def _strong(self, game: GameRecord) -> bool:
        least = rank_strength(self.min_rank)
        return all(name and rank_strength(name) >= least for name in (game.black_rank, game.white_rank))

    def _in_time(self, day: datetime.date | None) -> bool:
        if day is None:
            return self.since is None and self.until is None
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)
