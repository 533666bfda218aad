"""What a game tree says: facts of the root, setup, moves of the main line, with the quirks of servers understood.

Nothing here plays a move; `tengen.sgf.read_game` and the importer ask the rules.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen import coords
from tengen.errors import SgfError
from tengen.handicap import fixed_handicap
from tengen.sgf import values
from tengen.sgf.grammar import Line, Properties, read_line
from tengen.sgf.values import Result

Moves = npt.NDArray[np.uint16]
"""Moves as the game store packs them: the point, `size * size` for pass, with bit 15 set for White."""

_WHITE = 0x8000
_MIN_SIZE, _MAX_SIZE = 5, 19

# Handicap stones that a record leaves out go to the corners; of more than four the servers' places differ.
_MOST_MISSING_STONES = 4


class SgfProblem(SgfError):
    """A game that cannot be used: `reason` is one of a few fixed texts, `detail` says more."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class SgfInfo:
    """The facts of a game's root. Empty text, None and `Result()` mean unknown; ranks read `9d`, `2p` or `5k`."""

    black: str = ""
    white: str = ""
    black_rank: str = ""
    white_rank: str = ""
    komi: float | None = None
    rules: str = ""
    handicap: int = 0
    result: Result = field(default_factory=Result)
    date: datetime.date | None = None
    event: str = ""
    place: str = ""
    comment: str = ""
    application: str = ""


@dataclass(frozen=True, eq=False)
class SgfRecord:
    """The main line of a game, unplayed.

    `first` is the colour to play first; `problem` names what ended the line early, None when it is whole.
    """

    size: int
    info: SgfInfo
    black_stones: list[int]
    white_stones: list[int]
    first: int
    moves: Moves
    problem: SgfProblem | None = None

    @property
    def rules(self) -> str:
        """The rule set named, else the one that the komi suggests: 7.5 Chinese, any other Japanese."""
        return self.info.rules or ("chinese" if self.info.komi == 7.5 else "japanese")


def read_record(data: bytes) -> SgfRecord:
    """Read the first game tree in `data`; raises SgfProblem where it is no game of Go on a board from 5x5 to 19x19."""
    try:
        line = read_line(data)
    except SgfError as error:
        raise SgfProblem("no game tree", str(error)) from None
    root = line.nodes[0]
    game = _text(root, "GM", line.charset)
    if game not in ("", "1"):
        raise SgfProblem("not a game of Go", f"GM[{game}]")
    return _Reader(line, _board_size(_text(root, "SZ", line.charset))).record()


def read_info(root: Properties, charset: str) -> SgfInfo:
    """Read the facts of a root node."""

    def text(name: str) -> str:
        return _text(root, name, charset)

    komi, zi = values.komi(text("KM"))
    result = values.result(text("RE"), zi)
    handicap = int(text("HA")) if text("HA").isdecimal() else 0
    fox = "TC" in root and "TT" in root
    if fox and result.winner == 2:
        result = Result(2, None, "draw")  # agreed, not counted: too many for jigo, and also with a komi of 6.5
    if komi is not None and _komi_is_wrong(komi, handicap, result, fox):
        komi = None
    return SgfInfo(
        black=text("PB"),
        white=text("PW"),
        black_rank=values.rank(text("BR")),
        white_rank=values.rank(text("WR")),
        komi=komi,
        rules=values.rules(text("RU")),
        handicap=min(handicap, 255),
        result=result,
        date=values.date(text("DT")),
        event=text("EV"),
        place=text("PC"),
        comment=text("GC"),
        application=text("AP"),
    )


def _komi_is_wrong(komi: float, handicap: int, result: Result, fox: bool) -> bool:
    """Tell a komi that was not the game's: 0 in an even game of the Fox server, or one the score does not go with."""
    if komi == 0 and handicap == 0 and fox:
        return True
    return result.score is not None and not (result.score - komi).is_integer()


def _text(node: Properties, name: str, charset: str) -> str:
    return node.get(name, [b""])[0].decode(charset, "replace").replace("\\", "").strip()


def _board_size(text: str) -> int:
    width, _, height = text.partition(":")
    if height and height != width:
        raise SgfProblem("board is not square", f"SZ[{text}]")
    if not text:
        return _MAX_SIZE
    if not width.isdecimal() or not _MIN_SIZE <= int(width[:9]) <= _MAX_SIZE:
        raise SgfProblem("board size is not 5 to 19", f"SZ[{text[:40]}]")
    return int(width)


class _Reader:
    """Walks one main line."""

    def __init__(self, line: Line, size: int) -> None:
        self.line = line
        self.size = size
        self.stones: dict[int, int] = {}
        self.to_play: int | None = None
        self.moves: list[int] = []
        self.problem = SgfProblem(line.damage) if line.damage else None

    def record(self) -> SgfRecord:
        info = read_info(self.line.nodes[0], self.line.charset)
        moves = self._all_moves()
        first = int(moves[0] >= _WHITE) if len(moves) else self.to_play or 0
        if not self.stones and info.handicap > 1 and first == 1:
            self._place_handicap(info.handicap)
        return SgfRecord(
            size=self.size,
            info=info,
            black_stones=sorted(p for p, color in self.stones.items() if color == 0),
            white_stones=sorted(p for p, color in self.stones.items() if color == 1),
            first=first,
            moves=moves,
            problem=self.problem,
        )

    def _all_moves(self) -> Moves:
        try:
            for node in self.line.nodes:
                self._read_node(node)
        except SgfProblem as problem:
            self.problem = problem
            return np.array(self.moves, np.uint16)
        return np.concatenate([np.array(self.moves, np.uint16), self._plain_moves()])

    def _plain_moves(self) -> Moves:
        column, row = (self.line.plain[:, i].astype(np.uint16) - ord("a") for i in (1, 2))
        off = np.flatnonzero((column >= self.size) | (row >= self.size))
        if len(off):
            self.problem = SgfProblem("a move off the board", f"move {len(self.moves) + int(off[0]) + 1}")
        packed = row * self.size + column | (self.line.plain[:, 0] == ord("W")).astype(np.uint16) << 15
        return np.asarray(packed[: off[0] if len(off) else None], np.uint16)

    def _read_node(self, node: Properties) -> None:
        if any(name in node for name in ("AB", "AW", "AE")):
            self._set_up(node)
        if "PL" in node and not self.moves:
            self.to_play = int(node["PL"][0][:1].upper() == b"W")
        played = [(color, value) for color, name in enumerate("BW") for value in node.get(name, ())]
        if len(set(played)) > 1:
            raise SgfProblem("two moves in one node", f"after move {len(self.moves)}")
        if played:
            color, value = played[0]
            self.moves.append(self._point(value.strip()) | color << 15)

    def _set_up(self, node: Properties) -> None:
        if self.moves:
            raise SgfProblem("stones set up in mid-game", f"after move {len(self.moves)}")
        for color, name in ((0, "AB"), (1, "AW"), (None, "AE")):
            for point in (p for value in node.get(name, ()) for p in self._rectangle(value.strip())):
                if color is None:
                    self.stones.pop(point, None)
                else:
                    self.stones[point] = color

    def _rectangle(self, value: bytes) -> list[int]:
        """Return the points of a setup value, `dd` or a rectangle `dd:ff`."""
        corner, _, other = value.partition(b":")
        a, b = self._point(corner, "setup"), self._point(other or corner, "setup")
        rows = range(min(a, b) // self.size, max(a, b) // self.size + 1)
        columns = sorted((a % self.size, b % self.size))
        return [row * self.size + column for row in rows for column in range(columns[0], columns[1] + 1)]

    def _point(self, value: bytes, what: str = "move") -> int:
        text = value[:12].decode("ascii", "replace")
        try:
            point = coords.from_sgf(text, self.size)
        except SgfError:
            point = -1
        if point < 0 or (what == "setup" and point == self.size * self.size):
            raise SgfProblem(f"a {what} off the board", f"[{text}] after move {len(self.moves)}")
        return point

    def _place_handicap(self, stones: int) -> None:
        """Place the stones that a record leaves out although White plays first."""
        if stones > _MOST_MISSING_STONES:
            raise SgfProblem("handicap stones not given", f"HA[{stones}]")
        self.stones = dict.fromkeys(fixed_handicap(self.size, stones), 0)
