"""Reviews of many games by one network, on this machine or by the workers of a Ray cluster."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from tengen.checksums import file_digest
from tengen.engine.queue import SearchQueue
from tengen.engine.result import SearchResult
from tengen.errors import NetworkError, SgfError, TengenError
from tengen.evaluators import BatchEvaluator, load_evaluator
from tengen.evaluators.installed_networks import default_by_size, find_network
from tengen.evaluators.portable_network import PortableNetwork
from tengen.machine import Device
from tengen.review.annotate import annotate, cost_text
from tengen.review.files import DIGITS, NamedGame, file_of, record_digest
from tengen.review.game import GameReview, Summary, keep_analysis, positions_of, review
from tengen.review.report import write_json, write_review
from tengen.sgf import SgfProblem
from tengen.sgf.tree import GameNode
from tengen.sgf.tree_text import read_tree, write_tree

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""Gets the number of positions that were searched, and of all positions of the game."""

_CACHED_POSITIONS = 20_000  # a quarter of the positions of a review come up in the searches of two moves
_WORST = 3


@dataclass(frozen=True)
class PlayerFigures:
    """A player's moves in short; `worst` has the number of each of the worst moves, and what it lost in words."""

    player: str
    summary: Summary
    worst: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class FinishedReview:
    """The files of a review by their format, the figures of the players, and what of the record could not be read."""

    files: dict[str, bytes]
    moves: int
    figures: tuple[PlayerFigures, ...]
    problems: tuple[str, ...]


class ReviewWork:
    """Reviews games by a network that is opened for the first: the `Work` of reviews on a cluster.

    `digest` is that of the network (`network_digest`), `formats` are those of the files that are made. `on_size` is
    called with the board size of each game; it is no part of what workers get.
    """

    def __init__(
        self,
        net: PortableNetwork,
        digest: str,
        visits: int,
        formats: Sequence[str],
        *,
        at_once: int,
        threads: int,
        device: Device,
    ) -> None:
        self.on_size: Callable[[int], object] | None = None
        self._net, self._digest, self._visits, self._formats = net, digest, visits, formats
        self._at_once, self._threads, self._device = at_once, threads, device
        self._opened = ExitStack()
        self._queue: SearchQueue | None = None

    def source(self, text: bytes) -> str:
        """Tells reviews of this record with these settings from all others; it begins with what tells the record."""
        settings = f"{self._visits} {self._digest}\n".encode()
        return record_digest(text) + hashlib.sha256(settings + text).hexdigest()[:DIGITS]

    def do(
        self, items: Iterator[NamedGame], stop: threading.Event
    ) -> Iterator[tuple[list[NamedGame], FinishedReview | str]]:
        """The games with their reviews."""
        self.open()
        for name, text in items:
            if stop.is_set():
                return
            yield [(name, text)], self.review(name, text)

    def review(self, name: str, text: bytes | str, on_progress: ProgressCallback | None = None) -> FinishedReview | str:
        """The review of a game, or why there is none."""
        try:
            if isinstance(text, str):
                raise SgfError(text)
            found = self._search(text, on_progress)
        except TengenError as error:
            return str(error)
        figures = _figures(found)
        with TemporaryDirectory() as folder:
            files = {form: file_of(Path(folder), name, form) for form in self._formats}
            _write(found, files, self.source(text))
            read = {form: path.read_bytes() for form, path in files.items()}
        return FinishedReview(read, len(found.moves), figures, tuple(found.tree.problems))

    def close(self) -> None:
        self._opened.close()
        self._queue = None

    def open(self) -> None:
        """Open the network. Raises NetworkError where network or device do not exist."""
        if self._queue is None:
            folder = self._opened.enter_context(TemporaryDirectory(prefix="tengen-"))
            evaluator = load_evaluator(
                self._net.unpack(Path(folder)),
                self._device,
                batch=self._at_once * BatchEvaluator.search_batch,
                threads=self._threads,
                cache=_CACHED_POSITIONS,
            )
            self._queue = self._opened.enter_context(SearchQueue(evaluator, at_once=self._at_once))

    def _search(self, text: bytes, on_progress: ProgressCallback | None) -> GameReview:
        assert self._queue is not None
        tree = read_tree(text)
        if tree.handicap_guess and not tree.root.setup:
            raise SgfProblem("handicap stones not given", f"HA[{tree.handicap_guess}]")
        if not self._queue.has_value(tree.size):
            name = self._queue.evaluator.on(tree.size).name
            raise NetworkError(f"{name} has no value, which a review needs: choose another network with --net")
        if self.on_size is not None:
            self.on_size(tree.size)
        tree.problems.extend(tree.check_moves())
        if tree.problems and not tree.root.variations and not tree.root.setup:
            raise SgfError(tree.problems[0])
        positions = positions_of(tree)
        searched = count(1)
        if on_progress is not None:
            on_progress(0, len(positions))

        def keep(node: GameNode, result: SearchResult) -> None:
            keep_analysis(node, result)
            if on_progress is not None:
                on_progress(next(searched), len(positions))

        found = review(tree, positions, self._queue, self._visits, keep)
        assert found is not None
        return found


def network_digest(name: str) -> str:
    """Tells a network from all others by its file, whatever its name; `default` by those of all board sizes.

    Raises NetworkError where there is none.
    """
    if name == "uniform":
        return name
    of_sizes = (f"{size} {file_digest(path)}" for size, path in default_by_size(name).items())
    return " ".join([file_digest(find_network(name)), *of_sizes])


def _figures(found: GameReview) -> tuple[PlayerFigures, ...]:
    """Of the players that have moves."""
    players = enumerate(found.tree.info.players())
    summaries = ((color, player, Summary.of(found.of(color))) for color, player in players)
    return tuple(
        PlayerFigures(player, summary, tuple((move.number, cost_text(move)) for move in found.mistakes(color, _WORST)))
        for color, player, summary in summaries
        if summary is not None
    )


def _write(found: GameReview, files: dict[str, Path], source: str) -> None:
    if "html" in files:
        write_review(files["html"], found, source)
    if "json" in files:
        write_json(files["json"], found, source)
    if "sgf" in files:  # last: it changes the tree
        annotate(found, source)
        files["sgf"].write_bytes(write_tree(found.tree))
