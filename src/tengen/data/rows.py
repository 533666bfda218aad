"""Game trees into store rows: reading, replay by the rules, filters and final ownership. Import workers run this."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tengen import _native, coords
from tengen.coords import MAX_SIZE, MIN_SIZE, SIZES
from tengen.data.record import ENDINGS, WHITE_BIT, GameRecord, game_hash
from tengen.data.sources import SourceProblem, Tree
from tengen.errors import SgfError
from tengen.sgf.grammar import RECORD_LIMITS, RecordLimits
from tengen.sgf.main_line import SgfProblem, SgfRecord, read_record
from tengen.sgf.values import rank, rank_strength

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Filters:
    """Filters of an import. None and empty accept every game. Raises SgfError for a value out of range.

    sizes: board sizes. min_rank: minimum rank of both players, such as `5k`, `3d` or `1p`. since, until: dates,
    inclusive; a game without a date fails both. endings: values of `record.ENDINGS`. max_handicap: stones. komi: values
    in points; an unknown komi fails. min_moves, max_moves: length, inclusive. min_part: legal moves that a damaged game
    needs to be kept in part. players: names as in the record (PB, PW), in any case of the letters; one of the game's
    players needs such a name.
    """

    players: tuple[str, ...] = ()
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
        if not all(name.strip() for name in self.players):
            raise SgfError("a player's name is empty; write it as the records have it after PB and PW")
        if strange := [size for size in self.sizes if not MIN_SIZE <= size <= MAX_SIZE]:
            raise SgfError(f"{strange[0]} is no board size; sizes are {SIZES}")
        if strange_komi := [komi for komi in self.komi if not math.isfinite(komi)]:
            raise SgfError(f"{strange_komi[0]} is no komi; write a number of points such as 6.5")
        if strange_endings := [ending for ending in self.endings if ending not in ENDINGS]:
            raise SgfError(f"{strange_endings[0]!r} is no ending; choose from {', '.join(ENDINGS)}")
        if self.max_handicap is not None and self.max_handicap < 0:
            raise SgfError(f"max_handicap must be 0 or more, not {self.max_handicap}; 0 keeps even games")
        for name in ("min_moves", "min_part"):
            if (number := getattr(self, name)) < 0:
                raise SgfError(f"{name} must be 0 or more, not {number}")
        if self.max_moves is not None and self.max_moves < self.min_moves:
            raise SgfError(f"no game has {self.min_moves} moves or more and {self.max_moves} or fewer")
        if self.since and self.until and self.since > self.until:
            raise SgfError(f"no day is from {self.since} on and until {self.until}")

    def player(self, black: str, white: str) -> int | None:
        """The color of the player that is asked for: 0 black, 1 white, 2 both; None where it is neither."""
        asked = {name.strip().casefold() for name in self.players}
        colors = [color for color, name in enumerate((black, white)) if name.casefold() in asked]
        return 2 if len(colors) == 2 else next(iter(colors), None)

    def refuse(self, game: GameRecord) -> str:
        """The name of the first filter that the game fails; empty when it passes all."""
        if self.players and game.player is None:
            return "player"
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
            return f"fewer than {self.min_moves} moves"
        if self.max_moves is not None and len(game.moves) > self.max_moves:
            return f"more than {self.max_moves} moves"
        return ""

    def as_dict(self) -> dict[str, Any]:
        """The filters that are set, in a form for JSON."""
        values = {name: value for name, value in asdict(self).items() if value not in (None, (), "")}
        return {name: str(value) if isinstance(value, datetime.date) else value for name, value in values.items()}

    def _strong(self, game: GameRecord) -> bool:
        minimum = rank_strength(self.min_rank)
        return all(name and rank_strength(name) >= minimum for name in (game.black_rank, game.white_rank))

    def _in_time(self, day: datetime.date | None) -> bool:
        if day is None:
            return self.since is None and self.until is None
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)


TOLERANCE = 1.0
"""Largest difference in points between the playouts' count and the recorded score: a last dame, or a seki."""


def final_owners(row: GameRecord, playouts: int) -> GameRecord:
    """Return the row with `ownership` where the playouts' count agrees with its score, else the row itself.

    A third of the playouts is enough for most games. A game where they disagree with the record gets `playouts` more. A
    row without score or komi is returned unchanged. The seed is the game's hash.
    """
    if row.score is None or row.komi is None:
        return row
    game = _native.Game(row.size, row.rules, row.komi)
    for color, stones in enumerate((row.black_stones, row.white_stones)):
        for point in stones.tolist():
            game.setup(point, color)
    game.play_moves(row.moves)
    board = np.asarray(game.board()).ravel()
    for tries in (max(1, playouts // 3), playouts):
        owner = np.asarray(_native.final_ownership(game, tries, row.hash)).astype(np.uint8).ravel()
        dead = np.flatnonzero((board != 2) & (owner != board)).tolist()
        if abs(game.score(dead) - row.score) <= TOLERANCE:
            return replace(row, ownership=owner)
    return row


PART, DROPPED, FILTERED, UNREADABLE = "kept in part", "dropped", "filtered out", "not read"


class Note(NamedTuple):
    """A game that is not kept in full or a file that cannot be read: the verdict, the reason and the place."""

    verdict: str
    reason: str
    place: str
    detail: str = ""


@dataclass(frozen=True)
class RowOptions:
    """Options of reading.

    default_rules: for records that name no rule set or an unknown one; empty chooses by the komi for the first, and
    leaves out the others.
    """

    filters: Filters = field(default_factory=Filters)
    default_rules: str = ""
    playouts: int = 32
    """Playouts that find the final ownership of a counted game; 0 for none."""


class ImportedRows(NamedTuple):
    """The rows of some trees in order. `parts` has a note for each row that is incomplete, `notes` the other trees."""

    batch: pa.RecordBatch
    hashes: npt.NDArray[np.uint64]
    parts: list[Note | None]
    notes: list[Note]
    games: int


def trees_to_rows(
    trees: Sequence[Tree | SourceProblem], options: RowOptions, limits: RecordLimits = RECORD_LIMITS
) -> ImportedRows:
    """Turn trees into rows. Every tree becomes a row or a note."""
    from tengen.data.format import rows_to_batch

    rows: list[GameRecord] = []
    parts: list[Note | None] = []
    notes: list[Note] = []
    games = 0
    for tree in trees:
        if isinstance(tree, SourceProblem):
            notes.append(Note(UNREADABLE, tree.reason, tree.place, tree.detail))
            continue
        games += 1
        place = tree.place
        try:
            row, problem = to_row(tree.data, place, options, limits)
        except SgfProblem as error:
            notes.append(Note(DROPPED, error.reason, place, error.detail))
            continue
        if refused := options.filters.refuse(row):
            notes.append(Note(FILTERED, refused, place))
            continue
        rows.append(final_owners(row, options.playouts) if options.playouts and not problem else row)
        parts.append(Note(PART, problem.reason, place, problem.detail) if problem else None)
    hashes = np.array([row.hash for row in rows], np.uint64)
    return ImportedRows(rows_to_batch(rows), hashes, parts, notes, games)


def to_row(
    data: bytes, place: str, options: RowOptions, limits: RecordLimits = RECORD_LIMITS
) -> tuple[GameRecord, SgfProblem | None]:
    """Read and replay one tree, without ownership. The problem says why the row ends before the game does; None for a
    complete game.

    A game with a damaged or illegal move after `min_part` moves is kept up to there, with its result. Raises SgfProblem
    when it is too short for that.
    """
    record = read_record(data, limits)
    if (unknown := record.info.unknown_rules) and not options.default_rules:
        raise SgfProblem("unknown rules", f"RU[{unknown[:40]}]")
    rules = record.info.rules or options.default_rules or record.info.rules_or_guess
    black, white = (np.array(record.setup(color), np.uint16) for color in (0, 1))
    if not len(record.moves):
        raise record.problem or SgfProblem("no moves")
    legal, why = _native.check_moves(record.size, rules, record.moves, black, white)
    problem = _illegal(record, legal, why) if legal < len(record.moves) else record.problem
    if problem and legal < options.filters.min_part:
        raise SgfProblem(f"{problem.reason}, too early", problem.detail or f"after move {legal}")
    player = options.filters.player(record.info.black, record.info.white)
    return _row(record, rules, record.moves[:legal], (black, white), place, player), problem


def _illegal(record: SgfRecord, legal: int, why: str) -> SgfProblem:
    move = int(record.moves[legal])
    vertex = coords.to_gtp(move & WHITE_BIT - 1, record.size)
    return SgfProblem("illegal move", f"move {legal + 1}, {'BW'[move >= WHITE_BIT]} {vertex}: {why}")


def _row(
    record: SgfRecord,
    rules: str,
    moves: npt.NDArray[np.uint16],
    setup: tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]],
    place: str,
    player: int | None,
) -> GameRecord:
    info = record.info
    return GameRecord(
        size=record.size,
        moves=moves,
        rules=rules,
        komi=info.komi,
        handicap=info.handicap,
        black_stones=setup[0],
        white_stones=setup[1],
        first=record.first,
        winner=info.result.winner,
        score=info.result.score,
        ending=info.result.ending,
        black_rank=info.black_rank,
        white_rank=info.white_rank,
        date=info.date,
        source=place,
        hash=game_hash(record.size, moves, *setup),
        player=player,
    )
