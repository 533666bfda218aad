"""A game of a store: its record, its hash and packed forms."""

from __future__ import annotations

import datetime
import hashlib
import math
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.coords import check_size, pass_point
from tengen.errors import StoreError, TengenError
from tengen.game import Game
from tengen.rules import Rules
from tengen.sgf.values import Result

WHITE_BIT = 0x8000
"""Set in a stored move of White. The lower bits are the point."""

ENDINGS = ("count", "resign", "time", "forfeit", "draw", "void", "unknown")
"""How a game can end: values of the column `ending`."""

UNKNOWN_KOMI = 6.5
"""The komi under which games of unknown komi are encoded, as `kUnknownKomi` in native code."""


def _no_stones() -> npt.NDArray[np.uint16]:
    return np.empty(0, np.uint16)


def pack_moves(colors: npt.ArrayLike, points: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """Join colors (0 black, 1 white) and points, [n] each, into stored moves, uint16 [n].

    Raises ValueError for lists of different lengths, other colors, and points that no board has.
    """
    given, places = np.asarray(colors), np.asarray(points)
    if given.shape != places.shape:
        raise ValueError(f"{given.size} colors and {places.size} points: give a color and a point for each move")
    if len(wrong := given[(given != 0) & (given != 1)]):
        raise ValueError(f"colors has {wrong[0]}: give 0 for Black and 1 for White")
    if len(wrong := places[(places < 0) | (places >= WHITE_BIT)]):
        raise ValueError(f"points has {wrong[0]}: give 0 to size * size, the pass")
    return np.asarray(points, np.uint16) | np.left_shift(np.asarray(colors, np.uint16), 15, dtype=np.uint16)


def points_of(moves: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """The points of packed moves, of any shape."""
    return moves & np.uint16(WHITE_BIT - 1)


def colors_of(moves: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint8]:
    """The colors of packed moves, of any shape: 0 black, 1 white."""
    return (moves >> 15).astype(np.uint8)


def is_opponents(moves: npt.NDArray[np.uint16], player: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which stored moves are those of the opponent of a `GameRecord.player`, or of one for each move.

    None of them where that is neither 0 nor 1.
    """
    player = np.asarray(player)
    found: npt.NDArray[np.bool_] = np.isin(player, (0, 1)) & ((moves >= WHITE_BIT) != (player == 1))
    return found


@dataclass(frozen=True, eq=False)
class GameRecord:
    """One game of a store: moves, facts and, for self-play, the findings of the search.

    Points are row-major from the top-left corner, `row * size + column`; `size * size` is pass. Arrays may be read-only
    views into the memory-mapped file.
    """

    size: int
    """Board size, 2 to `coords.MAX_SIZE`."""
    moves: npt.NDArray[np.uint16]
    """[n]: the point of each move, with bit 15 (`WHITE_BIT`) set for White. See `pack_moves`, `points`, `colors`."""
    rules: str = "chinese"
    """Name or text form of the rule set."""
    komi: float | None = None
    """Komi in points; None where unknown."""
    handicap: int = 0
    """Handicap stones."""
    black_stones: npt.NDArray[np.uint16] = field(default_factory=_no_stones)
    """Points of Black's setup stones."""
    white_stones: npt.NDArray[np.uint16] = field(default_factory=_no_stones)
    """Points of White's setup stones."""
    first: int = 0
    """Color to play first: 0 black, 1 white."""
    winner: int | None = None
    """0 black, 1 white, 2 draw, None unknown."""
    score: float | None = None
    """Black minus White in points, komi included; None where the game was not counted."""
    ending: str = "unknown"
    """How the game ended, one of `ENDINGS`."""
    black_rank: str = ""
    """Rank of Black such as `9d`, `2p` or `5k`; empty where unknown."""
    white_rank: str = ""
    """Rank of White."""
    date: datetime.date | None = None
    """Day on which the game was played."""
    source: str = ""
    """File and place in it."""
    hash: int = 0
    """64-bit hash of size, setup and moves (`game_hash`); finds duplicates and decides the split. 0 is unknown: writers
    of stores compute it."""
    ownership: npt.NDArray[np.uint8] | None = None
    """[size * size]: final owner of each point, 0 black, 1 white, 2 neutral; None where unknown."""
    visits: tuple[npt.NDArray[np.uint32], ...] | None = None
    """Self-play and labels, for each move: points in the low and their visits in the high 16 bits, or a teacher's
    probabilities in 1/65535. Empty: no policy target."""
    root_values: npt.NDArray[np.float32] | None = None
    """[n]: value of the search or the teacher before each move, -1..1 for the side to move; NaN where unknown."""
    weight: float | None = None
    """Weight of the game's positions in training; None is 1."""
    surprises: npt.NDArray[np.float32] | None = None
    """Self-play, [n]: Kullback-Leibler divergence of the visits from the raw policy in nats; NaN where unknown."""
    root_scores: npt.NDArray[np.float32] | None = None
    """Labels, [n]: the teacher's score before each move, points for the side to move; NaN where unknown."""
    root_ownership: tuple[bytes, ...] | None = None
    """Labels, for each move: the teacher's ownership (`pack_shares`), 1 is the side to move. Empty: unknown."""
    player: int | None = None
    """Who of the players that an import was asked for played: 0 black, 1 white, 2 both; None where it asked for none.
    Of a game with 0 or 1 a network learns the moves of that color alone."""

    @property
    def points(self) -> npt.NDArray[np.uint16]:
        """Point of every move, uint16 [n]; `size * size` is pass."""
        return points_of(self.moves)

    @property
    def colors(self) -> npt.NDArray[np.uint8]:
        """Color of every move, uint8 [n]: 0 black, 1 white."""
        return colors_of(self.moves)

    @property
    def result(self) -> str:
        """The result in SGF form: `B+3.5`, `W+R`, `Draw`, `Void` or `?`."""
        return str(Result(self.winner, self.score, self.ending))

    def game(self, moves: int | None = None) -> Game:
        """Replay the first `moves` moves, all by default. An unknown komi becomes 0.

        Raises IllegalMove where a move is illegal by the rules of the record, ValueError for less than 0 moves.
        """
        if moves is not None and moves < 0:
            raise ValueError(f"a game has no {moves} moves: give 0 or more, or None for all")
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


def check_record(record: GameRecord) -> None:
    """Raise StoreError for a record that readers of a store could not use; whether its moves are legal is not asked."""
    points = record.size**2
    if not isinstance(record.rules, str):
        raise _record_error(record, f"rules must be a text such as 'chinese' or Rules().text, not {record.rules!r}")
    try:
        check_size(record.size)
        _checked_rules(record.rules)
    except TengenError as error:
        raise _record_error(record, str(error)) from None
    for name, mask, maximum in (
        ("moves", WHITE_BIT - 1, points),
        ("black_stones", 0xFFFF, points - 1),
        ("white_stones", 0xFFFF, points - 1),
    ):
        column = np.asarray(getattr(record, name))
        if len(column) and not (
            column.dtype.kind in "iu"
            and 0 <= column.min() <= column.max() <= 0xFFFF
            and (column.astype(np.uint16) & mask).max() <= maximum
        ):
            raise _record_error(record, f"{name} must be points 0 to {maximum}, not {column}")
    sides = (None, 0, 1, 2)
    for name, known in (("first", (0, 1)), ("winner", sides), ("ending", ENDINGS), ("player", sides)):
        if (value := getattr(record, name)) not in known:
            raise _record_error(record, f"{name} must be one of {known}, not {value!r}")
    komi, weight, date = record.komi, record.weight, record.date
    for name, fits, wanted in (
        ("handicap", _is_whole(record.handicap, 0xFF), "a whole number 0 to 255"),
        ("komi", komi is None or (_is_number(komi) and (2 * float(komi)).is_integer()), "None, a whole or half number"),
        ("score", record.score is None or _is_number(record.score), "None or a number"),
        ("weight", weight is None or (_is_number(weight) and 0 <= weight < math.inf), "None or a number from 0 on"),
        ("date", date is None or isinstance(date, datetime.date), "None or a datetime.date"),
        ("hash", record.hash is None or _is_whole(record.hash, 2**64 - 1), "a whole number 0 to 2**64 - 1"),
        *((name, isinstance(getattr(record, name), str), "a text") for name in ("black_rank", "white_rank", "source")),
    ):
        if not fits:
            raise _record_error(record, f"{name} must be {wanted}, not {getattr(record, name)!r}")
    count = len(record.moves)
    for name in ("visits", "root_values", "surprises", "root_scores", "root_ownership"):
        column = getattr(record, name)
        if column is not None and len(column) != count:
            raise _record_error(record, f"{name} has {len(column)} entries for {count} moves")
    if record.ownership is not None:
        if len(record.ownership) != points:
            raise _record_error(record, f"ownership has {len(record.ownership)} entries for {points} points")
        if wrong := set(np.asarray(record.ownership).ravel().tolist()) - {0, 1, 2}:
            raise _record_error(record, f"ownership must be 0, 1 or 2 at each point, not {wrong.pop()!r}")


def with_hash(record: GameRecord) -> GameRecord:
    """The record with its `game_hash` where it has none."""
    if record.hash:
        return record
    moves, black, white = (
        np.asarray(column, np.uint16) for column in (record.moves, record.black_stones, record.white_stones)
    )
    return replace(record, hash=game_hash(record.size, moves, black, white))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_whole(value: object, maximum: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= int(value) <= maximum


def _record_error(record: GameRecord, problem: str) -> StoreError:
    return StoreError(f"game {record.source or 'without a source'}: {problem}")


@cache
def _checked_rules(rules: str) -> None:
    """Raise RecipeError for unknown rules."""
    Rules.parse(rules)


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


def pack_shares(shares: npt.NDArray[np.float32]) -> bytes:
    """Pack numbers in -1..1 at 4 bits each, rounded to fifteenths of the range, the first in the low bits."""
    codes = np.zeros((len(shares) + 1) // 2 * 2, np.uint8)
    codes[: len(shares)] = np.round((np.clip(shares, -1, 1) + 1) * 7.5)
    return bytes(codes[::2] | codes[1::2] << 4)


def unpack_shares(packed: bytes | npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.float32]:
    """Undo `pack_shares`: float32 [count]."""
    data = np.frombuffer(packed, np.uint8)
    codes = np.stack([data & 15, data >> 4], axis=1).ravel()[:count]
    return (codes / 7.5 - 1).astype(np.float32)


@cache
def symmetry_table(size: int) -> npt.NDArray[np.uint16]:
    """The image of each point under each symmetry, uint16 [8, size * size + 1]. Pass stays pass.

    Bit 0 flips rows, bit 1 flips columns, bit 2 transposes, in that order.
    """
    points = range(size * size)
    rows = [[*(_native.transform(p, size, symmetry) for p in points), pass_point(size)] for symmetry in range(8)]
    return np.array(rows, np.uint16)


def game_hash(
    size: int, moves: npt.NDArray[np.uint16], black_stones: npt.NDArray[np.uint16], white_stones: npt.NDArray[np.uint16]
) -> int:
    """Hash size, setup and moves to 64 bits. The hash is the same for all eight symmetries of a game.

    Passes that end the game do not count: servers differ in whether they record them.
    """
    table = symmetry_table(size)
    played = np.flatnonzero(points_of(moves) != pass_point(size))
    moves = moves[: played[-1] + 1 if len(played) else 0]
    turned = table[:, points_of(moves)] | moves & np.uint16(WHITE_BIT)
    keys = [row.tobytes() for row in turned]
    if len(black_stones) or len(white_stones):
        setups = (np.sort(table[:, stones], axis=1) for stones in (black_stones, white_stones))
        keys = [b"|".join((b.tobytes(), w.tobytes(), k)) for b, w, k in zip(*setups, keys, strict=True)]
    return int.from_bytes(hashlib.blake2b(bytes([size]) + min(keys), digest_size=8).digest(), "little")
