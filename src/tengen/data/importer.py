"""Importing game records: the parent cuts sources into trees and writes the store, workers read and replay."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tengen.data.import_report import DUPLICATE, EXCLUDED, REPORT_JSON, REPORT_TEXT, SAMPLED, ImportReport, NoteFile
from tengen.data.rows import DROPPED, FILTERED, ImportedRows, Note, RowOptions, trees_to_rows
from tengen.data.seeds import mix
from tengen.data.sources import ImportLimits, SourceProblem, Sources, Tree
from tengen.data.split import in_fraction
from tengen.data.store import Store
from tengen.data.writer import StoreWriter
from tengen.disk import json_text
from tengen.errors import RecipeError, StoreError, os_reason
from tengen.machine import core_count, interrupt_blocked, when_parent_ends

_TREES_A_CHUNK = 256
_BYTES_A_CHUNK = 1 << 19
_CHUNKS_AHEAD = 4


@dataclass(frozen=True)
class ImportOptions:
    """Options of an import. Raises RecipeError for a number out of range.

    sample: keep a random fraction below 1, or a number of games; 0 keeps all. seed: of the sample, 0 to 2**63 - 1.
    exclude: stores whose games are left out. workers: processes, 0 for one a core. overwrite: replace a store.
    limits: of archives and records.
    """

    rows: RowOptions = field(default_factory=RowOptions)
    sample: float = 0
    seed: int = 0
    exclude: tuple[str | os.PathLike[str], ...] = ()
    workers: int = 0
    overwrite: bool = False
    limits: ImportLimits = field(default_factory=ImportLimits)

    def __post_init__(self) -> None:
        if not 0 <= self.sample < math.inf:
            raise RecipeError(f"sample must be a number from 0 on, not {self.sample:g}")
        if self.sample > 1 and self.sample != int(self.sample):
            raise RecipeError(f"sample must be a fraction below 1 or a whole number of games, not {self.sample:g}")
        if not 0 <= self.seed < 2**63:
            raise RecipeError(f"seed must lie between 0 and 2**63 - 1, not {self.seed}")
        if self.workers < 0:
            raise RecipeError(f"workers must be 0 or more, not {self.workers}")


@dataclass(frozen=True)
class ImportProgress:
    """Progress of an import. total_bytes is None when standard input is read."""

    read_bytes: int
    total_bytes: int | None
    games: int
    kept: int


def import_games(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    options: ImportOptions | None = None,
    on_progress: Callable[[ImportProgress], None] | None = None,
) -> ImportReport:
    """Import every game found in `paths` (see `Sources`) into a new store at `out`, and report.

    The same input and options give the same shards with any number of workers. An interrupted import leaves no store.
    The folder of the store also holds the report as text and JSON and a list of all games that are not complete.
    Scripts that import with more than one worker need `if __name__ == "__main__":`.

    Raises SgfError when nothing is found, StoreError when the store cannot be written or holds no game at the end.
    """
    options = options or ImportOptions()
    given = [os.fspath(path) for path in paths]
    sources = Sources(given, options.limits)
    started = time.monotonic()
    with StoreWriter(out, options.overwrite) as writer:
        collector = _Collector(writer, options, given)
        for rows in _map_in_order(_chunks(sources.trees()), options):
            collector.take(rows)
            if on_progress:
                games, kept = collector.report.games, collector.report.kept
                on_progress(ImportProgress(sources.read_bytes, sources.total_bytes, games, kept))
        report = collector.finish()
    report.seconds = time.monotonic() - started
    return report


class _Collector:
    """Takes the rows of the workers in order: drops duplicates, samples, counts and writes."""

    def __init__(self, writer: StoreWriter, options: ImportOptions, paths: Sequence[str]) -> None:
        self.writer = writer
        self.paths = paths
        self.options = options
        self.report = ImportReport()
        self._notes = NoteFile(writer.folder)
        self._parts: dict[int, Note] = {}  # of games kept in part, by hash: a place need not be unique
        self._seen = HashSet()
        self._excluded = HashSet()
        for path in options.exclude:
            self._excluded.add(Store.open(path).hashes)
        self._sample = SampleOf(int(options.sample), options.seed) if options.sample >= 1 else None

    def take(self, rows: ImportedRows) -> None:
        """Store the rows that are new and chosen."""
        self.report.games += rows.games
        keep, lost = self._choose(rows)
        parts = {int(rows.hashes[i]): part for i, part in enumerate(rows.parts) if part and keep[i]}
        for note in (*rows.notes, *lost, *([] if self._sample else parts.values())):
            self._note(note)
        self._parts |= parts
        batch = rows.batch if keep.all() else rows.batch.filter(pa.array(keep))
        self._count(batch)
        if self._sample:
            self._sample.add(batch, rows.hashes[keep])
        else:
            self.writer.add_batch(batch)

    def _choose(self, rows: ImportedRows) -> tuple[npt.NDArray[np.bool_], list[Note]]:
        """Return which rows to store, bool [rows], and notes of the others."""
        lost: list[Note] = []
        keep = np.ones(len(rows.hashes), np.bool_)

        def leave_out(gone: npt.NDArray[np.bool_], verdict: str, reason: str) -> None:
            for i in np.flatnonzero(keep & gone):
                lost.append(Note(verdict, reason, rows.batch.column("source")[i].as_py()))
            keep[gone] = False

        leave_out(~self._seen.add(rows.hashes), DROPPED, DUPLICATE)
        leave_out(self._excluded.holds(rows.hashes), FILTERED, EXCLUDED)
        if 0 < self.options.sample < 1:
            leave_out(~in_fraction(rows.hashes, self.options.sample, self.options.seed), FILTERED, SAMPLED)
        return keep, lost

    def finish(self) -> ImportReport:
        """Write the last rows and the report. Raises StoreError when there is no row."""
        report = self.report
        if self._sample:
            self._write_sample(self._sample)
        self._notes.close()
        totals = self.writer.flush()
        report.moves, report.bytes = totals["moves"], totals["bytes"]
        if not totals["games"]:
            raise StoreError(f"no game was kept, so no store is written: {report.summary()}")
        filters = self.options.rows.filters.as_dict()
        facts = {"filters": filters, "sample": self.options.sample, "seed": self.options.seed}
        self.writer.facts = {"sources": list(self.paths), **facts, "report": REPORT_JSON}
        as_json = json_text(report.as_dict(), indent=1, ensure_ascii=False)
        (self.writer.folder / REPORT_JSON).write_text(as_json + "\n", encoding="utf-8", errors="backslashreplace")
        (self.writer.folder / REPORT_TEXT).write_text(report.text(), encoding="utf-8", errors="backslashreplace")
        return report

    def _write_sample(self, sample: SampleOf) -> None:
        before = self.report.kept
        self.report.kept = self.report.counted = self.report.owned = 0
        for batch in sample.rows():
            for identity in batch.column("hash").to_pylist():
                if part := self._parts.get(identity):
                    self._note(part)
            self._count(batch)
            self.writer.add_batch(batch)
        if left_out := before - self.report.kept:
            self.report.reasons[FILTERED, SAMPLED] += left_out

    def _count(self, batch: pa.RecordBatch) -> None:
        """Add kept rows to the numbers of the report."""
        report = self.report
        report.kept += batch.num_rows
        report.owned += batch.num_rows - batch.column("ownership").null_count
        if self.options.rows.playouts:
            asked = pc.and_(pc.is_valid(batch.column("score")), pc.is_valid(batch.column("komi")))
            hashes = batch.column("hash").filter(asked).to_pylist()
            report.counted += len(hashes) - sum(identity in self._parts for identity in hashes)

    def _note(self, note: Note) -> None:
        self.report.add(note)
        self._notes.add(note)


class HashSet:
    """A growing set of 64-bit hashes, about 8 bytes each: a sorted array and a small set of the newest."""

    def __init__(self, newest: int = 1 << 18) -> None:
        self._sorted = np.empty(0, np.uint64)
        self._newest: set[int] = set()
        self._limit = newest

    def __len__(self) -> int:
        return len(self._sorted) + len(self._newest)

    def holds(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Return which hashes are in the set, bool [n]."""
        held = np.array([value in self._newest for value in hashes.tolist()], np.bool_)
        if len(self._sorted):
            places = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
            held |= self._sorted[places] == hashes
        return held

    def add(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Add hashes and return which of them were new, bool [n]. A second copy within `hashes` is not new."""
        fresh = ~self.holds(hashes)
        for i, value in enumerate(hashes.tolist()):
            fresh[i] &= value not in self._newest
            if fresh[i]:
                self._newest.add(value)
        if len(self._newest) >= self._limit:
            newest = np.fromiter(self._newest, np.uint64, len(self._newest))
            self._sorted = np.sort(np.concatenate([self._sorted, newest]))
            self._newest = set()
        return fresh


class SampleOf:
    """Keeps n random games of a stream, those with the smallest keyed hashes. Holds at most about 2 n rows."""

    def __init__(self, n: int, seed: int) -> None:
        self.n = n
        self.seed = seed
        self._rows: list[pa.RecordBatch] = []
        self._keys: list[npt.NDArray[np.uint64]] = []

    def add(self, batch: pa.RecordBatch, hashes: npt.NDArray[np.uint64]) -> None:
        """Take rows into account."""
        self._rows.append(batch)
        self._keys.append(mix(hashes, self.seed))
        if sum(map(len, self._keys)) > 2 * self.n + (1 << 13):
            self._prune()

    def rows(self) -> list[pa.RecordBatch]:
        """The chosen rows in the order of the stream."""
        self._prune()
        return self._rows

    def _prune(self) -> None:
        if not self._rows:
            return
        joined = np.concatenate(self._keys)
        chosen = np.sort(np.argsort(joined, kind="stable")[: self.n])
        table = pa.Table.from_batches(self._rows).take(pa.array(chosen))
        self._rows = table.combine_chunks().to_batches()
        self._keys = [joined[chosen]]


def _chunks(trees: Iterator[Tree | SourceProblem]) -> Iterator[list[Tree | SourceProblem]]:
    """Group trees into tasks by number and bytes. The tasks do not depend on the number of workers."""
    chunk: list[Tree | SourceProblem] = []
    size = 0
    for tree in trees:
        chunk.append(tree)
        size += len(tree.data) if isinstance(tree, Tree) else 0
        if len(chunk) >= _TREES_A_CHUNK or size >= _BYTES_A_CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _map_in_order(chunks: Iterator[list[Tree | SourceProblem]], options: ImportOptions) -> Iterator[ImportedRows]:
    """Turn chunks into rows on all workers, in order, with a bounded number of chunks in flight.

    A single chunk, and all chunks of a single worker, are done in this process.
    """
    workers = options.workers or core_count()
    first = list(itertools.islice(chunks, 2))
    chunks = itertools.chain(first, chunks)
    if workers == 1 or len(first) < 2:
        yield from (trees_to_rows(chunk, options.rows, options.limits) for chunk in chunks)
        return
    try:
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start_worker)
    except OSError as error:  # its semaphores are files of /dev/shm
        text = f"worker processes, which need /dev/shm, cannot start: {os_reason(error)}; import with --workers 1"
        raise StoreError(text) from error
    waiting: deque[Future[ImportedRows]] = deque()
    try:
        for chunk in chunks:
            with _no_interruption():
                waiting.append(pool.submit(trees_to_rows, chunk, options.rows, options.limits))
            if len(waiting) >= _CHUNKS_AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise StoreError("an import worker died, perhaps for lack of memory; try fewer with --workers") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _no_interruption() -> Iterator[None]:
    """Delay Ctrl-C, and other signals that Python handles, while a worker may be starting: a pool that is half started
    can be neither used nor stopped.

    A worker started here has Ctrl-C blocked, which in a terminal would end it before it ignores the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    found = {int(number): signal.getsignal(number) for number in signal.valid_signals()}
    handlers = {number: handler for number, handler in found.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        with interrupt_blocked():
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number in received:
        handlers[number](number, None)


def _start_worker() -> None:
    """Ignore Ctrl-C, which the parent handles, and end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    when_parent_ends(lambda: os._exit(1))
