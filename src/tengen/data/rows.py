"""Game trees into store rows: read, replayed by the rules, filtered. This is what an import worker does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tengen import _native, coords
from tengen.data.filters import Filters
from tengen.data.identity import game_hash
from tengen.data.ownership import final_owners
from tengen.data.record import WHITE_BIT, GameRecord
from tengen.data.schema import rows_to_batch
from tengen.data.sources import SourceProblem, Tree
from tengen.sgf.main_line import SgfProblem, SgfRecord, read_record

PART, DROPPED, FILTERED, UNREADABLE = "kept in part", "dropped", "filtered out", "not read"


class Note(NamedTuple):
    """A game that is not kept whole or a file that is not read: the verdict, why, and where it is."""

    verdict: str
    reason: str
    place: str
    detail: str = ""


@dataclass(frozen=True)
class RowOptions:
    """How games become rows. default_rules: for records that name none; empty lets the komi decide."""

    filters: Filters = field(default_factory=Filters)
    default_rules: str = ""
    playouts: int = 32
    """Playouts a counted game gets to find the final owners; 0 for none."""


class Rows(NamedTuple):
    """The rows of some trees, in order; `parts` notes what is missing of each, `notes` the trees that gave no row."""

    batch: pa.RecordBatch
    hashes: npt.NDArray[np.uint64]
    parts: list[Note | None]
    notes: list[Note]
    games: int


def trees_to_rows(trees: Sequence[Tree | SourceProblem], options: RowOptions) -> Rows:
    """Turn trees into rows; whatever a tree holds, it becomes a row or a note."""
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
            row, problem = to_row(tree.data, place, options)
        except SgfProblem as error:
            notes.append(Note(DROPPED, error.reason, place, error.detail))
            continue
        if refused := options.filters.refuse(row):
            notes.append(Note(FILTERED, refused, place))
            continue
        rows.append(row)
        parts.append(Note(PART, problem.reason, place, problem.detail) if problem else None)
    hashes = np.array([row.hash for row in rows], np.uint64)
    return Rows(rows_to_batch(rows), hashes, parts, notes, games)


def to_row(data: bytes, place: str, options: RowOptions) -> tuple[GameRecord, SgfProblem | None]:
    """Read and replay one tree; the problem says why the row ends before the game does, None when it is whole.

    A game that is damaged or turns illegal late is kept up to there with its result, which is still how that game
    ended, but without owners. Raises SgfProblem when too little of it can be used.
    """
    record = read_record(data)
    rules = record.info.rules or options.default_rules or record.info.rules_or_guess
    black, white = (np.array(record.setup(color), np.uint16) for color in (0, 1))
    if not len(record.moves):
        raise record.problem or SgfProblem("no moves")
    legal, why = _native.check_moves(record.size, rules, record.moves, black, white)
    problem = _illegal(record, legal, why) if legal < len(record.moves) else record.problem
    if problem and legal < options.filters.min_part:
        raise SgfProblem(f"{problem.reason}, too early", problem.detail or f"after move {legal}")
    return _row(record, rules, record.moves[:legal], (black, white), place, 0 if problem else options.playouts), problem


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
    playouts: int,
) -> GameRecord:
    info = record.info
    identity = game_hash(record.size, moves, *setup)
    row = GameRecord(
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
        hash=identity,
    )
    return final_owners(row, playouts) if playouts and row.score is not None else row
