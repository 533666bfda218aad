"""One game as the store holds it: moves and facts, no planes."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen.game import Game
from tengen.sgf.values import Result

WHITE_BIT = 0x8000
"""Set in a stored move when White played it; the low bits are the point."""

ENDINGS = ("count", "resign", "time", "forfeit", "draw", "void", "unknown")
"""How a game can have ended, as the column `ending` names it."""


def _no_stones() -> npt.NDArray[np.uint16]:
    return np.empty(0, np.uint16)


def pack_moves(colors: npt.ArrayLike, points: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """Join colours (0 black, 1 white) and points into stored moves, uint16 [n]."""
    return np.asarray(points, np.uint16) | np.left_shift(np.asarray(colors, np.uint16), 15, dtype=np.uint16)


@dataclass(frozen=True, eq=False)
class GameRecord:
    """A row of a game store. Arrays may be read-only views into the mapped file.

    `winner` is 0 black, 1 white, 2 draw, None unknown; `score` is Black minus White in points with komi, None when
    the game was not counted; `komi` None means unknown. `ownership` is uint8 [size * size] by row-major point:
    0 black, 1 white, 2 neutral. Self-play gives, move by move: `visits`, an array with the point in the low and the
    visit count in the high 16 bits (empty where the move teaches no policy); `root_values`, of the search, -1..1 for
    the side to move; `surprises`, the Kullback-Leibler divergence of the visits from the raw policy, in nats; NaN
    where there is none.
    """

    size: int
    moves: npt.NDArray[np.uint16]
    rules: str = "chinese"
    komi: float | None = None
    handicap: int = 0
    black_stones: npt.NDArray[np.uint16] = field(default_factory=_no_stones)
    white_stones: npt.NDArray[np.uint16] = field(default_factory=_no_stones)
    first: int = 0
    winner: int | None = None
    score: float | None = None
    ending: str = "unknown"
    black_rank: str = ""
    white_rank: str = ""
    date: datetime.date | None = None
    source: str = ""
    hash: int = 0
    ownership: npt.NDArray[np.uint8] | None = None
    visits: tuple[npt.NDArray[np.uint32], ...] | None = None
    root_values: npt.NDArray[np.float32] | None = None
    weight: float | None = None
    surprises: npt.NDArray[np.float32] | None = None

    @property
    def points(self) -> npt.NDArray[np.uint16]:
        """Point of every move, uint16 [n]; `size * size` is pass."""
        return self.moves & np.uint16(WHITE_BIT - 1)

    @property
    def colors(self) -> npt.NDArray[np.uint8]:
        """Colour of every move, uint8 [n]: 0 black, 1 white."""
        return (self.moves >> 15).astype(np.uint8)

    @property
    def result(self) -> str:
        """The result as SGF writes it: `B+3.5`, `W+R`, `Draw`, `Void` or `?`."""
        return str(Result(self.winner, self.score, self.ending))

    def game(self, moves: int | None = None) -> Game:
        """Replay the first `moves` moves (all when None) by the rules; unknown komi becomes 0.

        Raises IllegalMove where the record is no legal game.
        """
        game = Game(self.size, self.rules, 0.0 if self.komi is None else self.komi)
        game.setup(black=self.black_stones.tolist(), white=self.white_stones.tolist(), to_play=self.first)
        for color, point in zip(self.colors[:moves].tolist(), self.points[:moves].tolist(), strict=True):
            game.play(point, color=color)
        return game

    def __repr__(self) -> str:
        ranks = f"{self.black_rank or '?'} vs {self.white_rank or '?'}"
        komi = "?" if self.komi is None else f"{self.komi:g}"
        date = f", {self.date}" if self.date else ""
        handicap = f", handicap {self.handicap}" if self.handicap else ""
        return (
            f"<GameRecord {self.size}x{self.size}, {len(self.moves)} moves, {self.result}, {ranks}, "
            f"{self.rules} komi {komi}{handicap}{date}, {self.source or 'no source'}>"
        )


def pack_ownership(owner: npt.NDArray[np.uint8]) -> bytes:
    """Pack owners 0, 1, 2 at 2 bits a point, the first point in the lowest bits of the first byte."""
    padded = np.full((len(owner) + 3) // 4 * 4, 2, np.uint8)
    padded[: len(owner)] = owner
    quads = padded.reshape(-1, 4)
    return bytes(quads[:, 0] | quads[:, 1] << 2 | quads[:, 2] << 4 | quads[:, 3] << 6)


def unpack_ownership(packed: bytes | npt.NDArray[np.uint8], points: int) -> npt.NDArray[np.uint8]:
    """Undo `pack_ownership`: uint8 [points] of 0 black, 1 white, 2 neutral."""
    data = np.frombuffer(packed, np.uint8)
    return ((data[:, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(-1)[:points].astype(np.uint8)
