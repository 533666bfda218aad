"""`tengen review`: what the moves of game records lost, as annotated SGF, as a page and as JSON."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, count
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Annotated, TypeAlias

import typer
from rich.markup import escape
from rich.progress import Progress, TaskID
from rich.table import Table

from tengen.cli.board_sizes import boards_warning
from tengen.cli.interruption import report_interruption
from tengen.cli.nets import find_file
from tengen.cli.tables import print_table
from tengen.data.sources import SourceProblem, Sources, Tree
from tengen.disk import DISK_FULL, write_whole
from tengen.engine.queue import SearchQueue
from tengen.engine.result import SearchResult
from tengen.errors import NetworkError, SgfError, TengenError, unknown_name
from tengen.evaluators import BatchEvaluator, load_evaluator
from tengen.evaluators.installed_networks import PortableNetwork
from tengen.machine import Device
from tengen.review.annotate import annotate, cost_text
from tengen.review.game import GameReview, Summary, keep_analysis, positions_of, review
from tengen.review.report import write_json, write_review
from tengen.runs.progress import new_bar
from tengen.sgf import SgfProblem
from tengen.sgf.tree import GameNode
from tengen.sgf.tree_text import read_tree, write_tree

Review: TypeAlias = tuple[dict[str, bytes], Table, list[str]] | str
"""The files of a review by their form, a table of it and what of the record could not be read; or why there is none."""

FORMATS = ("sgf", "html", "json")
_SUFFIX = "-review"
_MAX_STEM = 200  # bytes of a name, which files may have 255 of
_CACHED_POSITIONS = 20_000  # a quarter of the positions of a review come up in the searches of two moves


def command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help=".sgf files, folders, archives, - for stdin")],
    out: Annotated[Path, typer.Option(help="folder of the reviews")] = Path("reviews"),
    net: Annotated[str, typer.Option(help="an installed network or a network file")] = "default",
    visits: Annotated[int, typer.Option(min=2, help="visits of every position")] = 100,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help=f"{', '.join(FORMATS)}, or several of them: html,json; all unless given"),
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, max=16384, help="positions searched side by side")] = 16,
    threads: Annotated[int, typer.Option(min=0, max=1024, help="threads; 0 for all cores")] = 0,
    device: Annotated[Device, typer.Option(help="device that runs the network; auto: the fastest")] = "auto",
    cluster: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="review on a Ray cluster, a game a worker: HOST:PORT, auto, local"),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="review again what the folder has")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar and no tables")] = False,
) -> None:
    """Search every position of game records and show what each move lost.

    Each game gives NAME-review.sgf (the record with evaluations, marked mistakes and better lines), NAME-review.html
    (a page with graphs, the players' figures and their worst moves) and NAME-review.json. A game that is there already
    is left out, so that the same command goes on after an interruption, and so are reviews in a folder. What of a
    record cannot be read or is illegal is reported, and the moves before it are reviewed; a game is refused where the
    points of its handicap stones are unknown.
    """
    wanted = list(dict.fromkeys(name for given in formats or FORMATS for name in given.split(",")))
    for name in wanted:
        if name not in FORMATS:
            raise TengenError(unknown_name("format", name, FORMATS))
    network = PortableNetwork.of(net, find_file(net)) if cluster else PortableNetwork(net)
    reviews = _Reviews(network, visits, wanted, at_once, threads, device)
    games = _missing(paths, out, wanted, force, reviews.source)
    with report_interruption(out), new_bar(not quiet and sys.stderr.isatty()) as bar, ExitStack() as stack:
        found: Iterator[tuple[str, Review]]
        if cluster:
            from tengen.cluster import Cluster, Place

            joined = stack.enter_context(Cluster(cluster, Place(cpus=threads or 1)))
            found = ((item[0], result) for items, result in joined.run(reviews, games) for item in items)
        else:
            stack.callback(reviews.close)
            reviews.open()
            reviews.bar = bar
            reviews.on_size = boards_warning(net)
            found = ((name, reviews.review(name, text)) for name, text in games)
        out.mkdir(parents=True, exist_ok=True)
        kept = [_keep(out, name, result, quiet) for name, result in found]
    if failed := kept.count(False):
        raise SgfError(f"{failed} of {len(kept)} games could not be reviewed")


def _keep(out: Path, name: str, result: Review, quiet: bool) -> bool:
    """Write the files of a review and print what it says; False where there is none, or its files cannot be written."""
    if isinstance(result, str):
        print(f"{name}: {result}", file=sys.stderr)
        return False
    files, table, problems = result
    for problem in problems:
        print(f"{name}: {problem}", file=sys.stderr)
    try:
        for form, data in files.items():
            with write_whole(_path(out, name, form)) as new:
                new.write_bytes(data)
    except OSError as error:
        if error.errno in DISK_FULL:  # no other game would fit either
            raise
        print(f"{name}: {(error.strerror or str(error)).lower()}: {error.filename}", file=sys.stderr)
        return False
    if not quiet:
        print_table(table)
    print(f"{name}: {', '.join(str(_path(out, name, form)) for form in files)}")
    return True


def _path(out: Path, name: str, form: str) -> Path:
    return out / f"{name}{_SUFFIX}.{form}"


def _missing(
    paths: Sequence[str], out: Path, wanted: Sequence[str], force: bool, source: Callable[[bytes], str]
) -> Iterator[tuple[str, bytes | str]]:
    """The games that `out` has no review of; with `force` all."""

    def is_other(name: str, text: bytes) -> bool:
        made = [path for form in FORMATS if (path := _path(out, name, form)).exists()]
        return bool(made) and not force and {_source(path.read_bytes()) for path in made} - {""} != {source(text)}

    for name, text in _games(paths, is_other):
        if not force and all(_path(out, name, form).exists() for form in wanted):
            print(f"{name}: reviewed already")
        else:
            yield name, text


_SOURCES = (
    rb'"source": "([0-9a-f]+)"',
    rb'<meta name="tengen-review" content="([0-9a-f]+)">',
    rb"REVIEWED\[Tengen ([0-9a-f]+)\]",
)
"""How the files of a review, JSON, page and record, tell by what it was made."""


def _source(text: bytes) -> str:
    """The fingerprint of the settings that a review was made with; empty for what is none, and for one of a version
    that did not tell."""
    found = next(filter(None, (re.search(pattern, text) for pattern in _SOURCES)), None)
    return found[1].decode() if found else ""


def _games(paths: Sequence[str], is_other: Callable[[str, bytes], bool]) -> Iterator[tuple[str, bytes | str]]:
    """The games with a file name for each, no two the same; a text instead of a game says why it cannot be read.

    A name is not given to a game where `is_other` says that the review of another one has it. A review counts as a game
    where its file is named, and is left out of folders and archives.
    """
    used: set[str] = set()
    for tree in Sources(paths).trees():
        base, number = tree.place, ""
        if isinstance(tree, Tree):
            base, _, number = tree.place.rpartition("#")
            if "/" in base and re.search(_SOURCES[-1], tree.data):
                continue
        stem = re.sub(r"[^\w.+-]+", "-", PurePath(base).stem).strip("-").encode()[:_MAX_STEM].decode(errors="ignore")
        own = f"{stem or 'game'}-{number}" if number not in ("", "1") else stem or "game"
        text = _problem(tree) if isinstance(tree, SourceProblem) else tree.data
        names = chain([own], (f"{own}-{more}" for more in count(2)))
        name = next(n for n in names if n not in used and (isinstance(text, str) or not is_other(n, text)))
        used.add(name)
        yield name, text


def _problem(problem: SourceProblem) -> str:
    return f"{problem.reason} ({problem.detail})" if problem.detail else problem.reason


class _Reviews:
    """Reviews games by an engine that opens with the first: the `Work` of reviews on a cluster."""

    def __init__(
        self, net: PortableNetwork, visits: int, forms: Sequence[str], at_once: int, threads: int, device: Device
    ) -> None:
        self.bar: Progress | None = None
        self.on_size: Callable[[int], object] | None = None  # of each game, in this process
        self._net, self._visits, self._forms = net, visits, forms
        self._at_once, self._threads, self._device = at_once, threads, device
        self._opened = ExitStack()
        self._queue: SearchQueue | None = None

    def source(self, text: bytes) -> str:
        """Tells reviews of this record with these settings from all others."""
        return hashlib.sha256(
            f"{self._visits} {PurePath(self._net.name).name}\n".encode(errors="replace") + text
        ).hexdigest()[:16]

    def do(
        self, items: Iterator[tuple[str, bytes | str]], stop: threading.Event
    ) -> Iterator[tuple[list[tuple[str, bytes | str]], Review]]:
        self.open()
        for name, text in items:
            if stop.is_set():
                return
            yield [(name, text)], self.review(name, text)

    def review(self, name: str, text: bytes | str) -> Review:
        task = None if self.bar is None else self.bar.add_task(name, total=None)
        try:
            if isinstance(text, str):
                raise SgfError(text)
            found = self._search(text, task)
        except TengenError as error:
            return str(error)
        finally:
            if self.bar is not None and task is not None:
                self.bar.remove_task(task)
        with TemporaryDirectory() as folder:
            files = {form: Path(folder) / f"{name}{_SUFFIX}.{form}" for form in self._forms}
            _write(found, files, self.source(text))
            read = {form: path.read_bytes() for form, path in files.items()}
        return read, _table(name, found), found.tree.problems

    def close(self) -> None:
        self._opened.close()
        self._queue = None

    def open(self) -> None:
        """Open the engine. Raises NetworkError where network or device do not exist."""
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

    def _search(self, text: bytes, task: TaskID | None) -> GameReview:
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
        if self.bar is not None and task is not None:
            self.bar.update(task, total=len(positions))

        def keep(node: GameNode, result: SearchResult) -> None:
            keep_analysis(node, result)
            if self.bar is not None and task is not None:
                self.bar.advance(task)

        found = review(tree, positions, self._queue, self._visits, keep)
        assert found is not None
        return found


def _write(found: GameReview, files: dict[str, Path], source: str) -> None:
    if "html" in files:
        write_review(files["html"], found, source)
    if "json" in files:
        write_json(files["json"], found, source)
    if "sgf" in files:  # last: it changes the tree
        annotate(found, source)
        files["sgf"].write_bytes(write_tree(found.tree))


def _table(name: str, found: GameReview) -> Table:
    table = Table(title=f"{escape(name)}: {len(found.moves)} moves", title_justify="left")
    for heading in ("player", "mean loss", "top five", "engine's choice", "bad moves", "worst moves"):
        table.add_column(heading, justify="left" if heading in ("player", "worst moves") else "right")
    for color, player in enumerate(found.tree.info.players()):
        summary = Summary.of(found.of(color))
        if summary is None:
            continue
        worst = [f"{move.number} ({cost_text(move)})" for move in found.mistakes(color, 3)]
        shares = [f"{share:.0%}" for share in (summary.top5, summary.best)]
        table.add_row(escape(player), summary.loss_text, *shares, str(summary.bad), ", ".join(worst) or "-")
    return table
