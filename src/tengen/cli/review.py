"""`tengen review`: what the moves of game records lost, as annotated SGF, as a page and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from tengen.cli.interruption import report_interruption
from tengen.cli.options import DeviceOption, RecordsArgument, ThreadsOption, cluster_option
from tengen.cli.tables import new_table, print_table
from tengen.disk import DISK_FULL, write_whole
from tengen.errors import SgfError, TengenError, os_reason, unknown_name

if TYPE_CHECKING:
    from tengen.review.work import FinishedReview, ReviewWork


def command(
    paths: RecordsArgument,
    out: Annotated[Path, typer.Option(help="folder of the reviews")] = Path("reviews"),
    net: Annotated[str, typer.Option(help="an installed network or a network file")] = "default",
    visits: Annotated[int, typer.Option(min=2, help="visits of every position")] = 100,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="sgf, html, json, or several of them: html,json; all unless given"),
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, max=16384, help="positions searched side by side")] = 16,
    threads: ThreadsOption = 0,
    device: DeviceOption = "auto",
    cluster: Annotated[str, cluster_option("review on a Ray cluster, a game a worker")] = "",
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
    from tengen.evaluators.board_warnings import boards_warning
    from tengen.evaluators.installed_networks import find_network
    from tengen.evaluators.portable_network import PortableNetwork
    from tengen.review.files import FORMATS, games_to_review
    from tengen.review.work import ReviewWork, network_digest
    from tengen.runs.progress import new_bar

    wanted = list(dict.fromkeys(name for given in formats or FORMATS for name in given.split(",")))
    for name in wanted:
        if name not in FORMATS:
            raise TengenError(unknown_name("format", name, FORMATS))
    digest = network_digest(net)
    network = PortableNetwork.of(net, find_network(net)) if cluster else PortableNetwork(net)
    work = ReviewWork(network, digest, visits, wanted, at_once=at_once, threads=threads, device=device)
    games = games_to_review(paths, out, wanted, work.source, lambda name: print(f"{name}: reviewed already"), force)
    with report_interruption(out), new_bar(not quiet and sys.stderr.isatty()) as bar, ExitStack() as stack:
        found: Iterator[tuple[str, FinishedReview | str]]
        if cluster:
            from tengen.cluster import Cluster, Place

            joined = stack.enter_context(Cluster(cluster, Place(cpus=threads or 1)))
            found = ((item[0], result) for items, result in joined.run(work, games) for item in items)
        else:
            stack.callback(work.close)
            work.open()
            work.on_size = boards_warning(net)
            found = ((name, _review(work, name, text, bar)) for name, text in games)
        _check_writable(out)
        kept = [_keep(out, name, result, quiet) for name, result in found]
    if failed := kept.count(False):
        raise SgfError(f"{failed} of {len(kept)} games could not be reviewed")


def _check_writable(folder: Path) -> None:
    """Make the folder, and raise OSError where no file can be written there: before games are searched for nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        pass


def _review(work: ReviewWork, name: str, text: bytes | str, bar: Progress) -> FinishedReview | str:
    """The review of a game by this process, with a bar."""
    task = bar.add_task(name, total=None)
    try:
        return work.review(name, text, lambda done, total: bar.update(task, completed=done, total=total))
    finally:
        bar.remove_task(task)


def _keep(out: Path, name: str, result: FinishedReview | str, quiet: bool) -> bool:
    """Write the files of a review and print what it says; False where there is none, or its files cannot be written."""
    from tengen.review.files import file_of

    if isinstance(result, str):
        print(f"{name}: {result}", file=sys.stderr)
        return False
    for problem in result.problems:
        print(f"{name}: {problem}", file=sys.stderr)
    try:
        for form, data in result.files.items():
            with write_whole(file_of(out, name, form)) as new:
                new.write_bytes(data)
    except OSError as error:
        if error.errno in DISK_FULL:  # no other game would fit either
            raise
        print(f"{name}: {os_reason(error).lower()}: {error.filename}", file=sys.stderr)
        return False
    if result.figures and not quiet:
        print_table(_table(name, result))
    print(f"{name}: {', '.join(str(file_of(out, name, form)) for form in result.files)}")
    return True


def _table(name: str, found: FinishedReview) -> Table:
    headings = ("player", "mean loss", "top five", "engine's choice", "bad moves", "worst moves")
    title = f"{escape(name)}: {found.moves} moves"
    table = new_table(*headings, left={"player", "worst moves"}, title=title)
    for row in found.figures:
        shares = [f"{share:.0%}" for share in (row.summary.top5, row.summary.best)]
        worst = ", ".join(f"{number} ({cost})" for number, cost in row.worst) or "-"
        table.add_row(escape(row.player), row.summary.loss_text, *shares, str(row.summary.bad), worst)
    return table
