"""`tengen review`: what the moves of game records lost, as annotated SGF, as a page and as JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from tengen.cli.interruption import report_interruption
from tengen.cli.nets import find_file
from tengen.data.sources import SourceProblem, Sources
from tengen.disk import write_whole
from tengen.engine.queue import SearchQueue
from tengen.engine.result import SearchResult
from tengen.errors import SgfError, TengenError, unknown_name
from tengen.evaluators import load_evaluator
from tengen.machine import Device
from tengen.review.annotate import annotate, cost_text
from tengen.review.game import GameReview, Summary, keep_analysis, positions_of, review
from tengen.review.report import write_json, write_review
from tengen.runs.progress import new_bar
from tengen.sgf.tree import GameNode, read_tree, write_tree

FORMATS = ("sgf", "html", "json")
_SUFFIX = "-review"


def command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help=".sgf files, folders, archives, - for stdin")],
    out: Annotated[Path, typer.Option(help="folder of the reviews")] = Path("reviews"),
    net: Annotated[str, typer.Option(help="an installed network or a network file")] = "default",
    visits: Annotated[int, typer.Option(min=1, help="visits of every position")] = 100,
    formats: Annotated[
        list[str] | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; repeat for more; all unless given")
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, help="positions searched side by side")] = 16,
    threads: Annotated[int, typer.Option(min=0, help="threads; 0 for all cores")] = 0,
    device: Annotated[Device, typer.Option(help="device that runs the network; auto: the fastest")] = "auto",
    force: Annotated[bool, typer.Option("--force", help="review again what the folder has")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar and no tables")] = False,
) -> None:
    """Search every position of game records and show what each move lost.

    Each game gives NAME-review.sgf (the record with evaluations, marked mistakes and better lines), NAME-review.html
    (a page with graphs, the players' figures and their worst moves) and NAME-review.json. A game that is there already
    is left out, so that the same command goes on after an interruption.
    """
    wanted = list(dict.fromkeys(formats or FORMATS))
    for name in wanted:
        if name not in FORMATS:
            raise TengenError(unknown_name("format", name, FORMATS))
    find_file(net)
    sources, failed, done = Sources(paths), 0, 0
    evaluator = load_evaluator(net, device, threads=threads)
    out.mkdir(parents=True, exist_ok=True)
    bar = new_bar(not quiet and sys.stderr.isatty())
    with report_interruption(out), SearchQueue(evaluator, at_once=at_once) as queue, bar:
        for name, text in _games(sources):
            files = {form: out / f"{name}{_SUFFIX}.{form}" for form in wanted}
            if not force and all(path.exists() for path in files.values()):
                print(f"{name}: reviewed already")
                continue
            task = bar.add_task(name, total=None)
            try:
                if isinstance(text, str):
                    raise SgfError(text)
                found = _review(text, queue, visits, bar, task)
            except TengenError as error:
                failed += 1
                print(f"{name}: {error}", file=sys.stderr)
                continue
            finally:
                bar.remove_task(task)
            _write(found, files)
            done += 1
            if not quiet:
                _print(name, found)
            print(f"{name}: {', '.join(str(path) for path in files.values())}")
    if failed:
        raise SgfError(f"{failed} of {failed + done} games could not be reviewed")


def _games(sources: Sources) -> Iterator[tuple[str, bytes | str]]:
    """The games with a file name for each, no two the same; a text instead of a game says why it cannot be read."""
    used: dict[str, int] = {}
    for tree in sources.trees():
        base, _, number = tree.place.partition("#")
        stem = re.sub(r"[^\w.+-]+", "-", PurePath(base).stem).strip("-") or "game"
        name = f"{stem}-{number}" if number not in ("", "1") else stem
        used[name] = used.get(name, 0) + 1
        if used[name] > 1:
            name = f"{name}-{used[name]}"
        yield name, f"{tree.reason} ({tree.detail})" if isinstance(tree, SourceProblem) else tree.data


def _review(text: bytes, queue: SearchQueue, visits: int, bar: Progress, task: TaskID) -> GameReview:
    tree = read_tree(text)
    positions = positions_of(tree)
    bar.update(task, total=len(positions))

    def keep(node: GameNode, result: SearchResult) -> None:
        keep_analysis(node, result)
        bar.advance(task)

    found = review(tree, positions, queue, visits, keep)
    assert found is not None
    return found


def _write(found: GameReview, files: dict[str, Path]) -> None:
    if "html" in files:
        write_review(files["html"], found)
    if "json" in files:
        write_json(files["json"], found)
    if "sgf" in files:  # last: it changes the tree
        annotate(found)
        with write_whole(files["sgf"]) as path:
            path.write_bytes(write_tree(found.tree))


def _print(name: str, found: GameReview) -> None:
    info = found.tree.info
    table = Table(title=f"{name}: {len(found.moves)} moves", title_justify="left")
    for heading in ("player", "mean loss", "top five", "engine's choice", "bad moves", "worst moves"):
        table.add_column(heading, justify="left" if heading in ("player", "worst moves") else "right")
    for color, player in enumerate((info.black or "Black", info.white or "White")):
        summary = Summary.of(found.of(color))
        if summary is None:
            continue
        worst = [f"{move.number} ({cost_text(move)})" for move in found.mistakes(color, 3)]
        shares = [f"{share:.0%}" for share in (summary.top5, summary.best)]
        table.add_row(player, summary.loss_text, *shares, str(summary.bad), ", ".join(worst) or "-")
    Console().print(table)
