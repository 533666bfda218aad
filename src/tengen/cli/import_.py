"""`tengen import`: imports game records into a store."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.options import QuietOption, RecordsArgument
from tengen.data.record import ENDINGS
from tengen.data.rows import Filters, RowOptions
from tengen.data.sources import ImportLimits
from tengen.rules import Rules
from tengen.runs.progress import new_bar

if TYPE_CHECKING:
    from tengen.data.importer import ImportOptions, ImportProgress

_DAY = ["%Y-%m-%d"]


def command(
    paths: RecordsArgument,
    out: Annotated[Path, typer.Option(help="folder of the new store")],
    force: Annotated[bool, typer.Option("--force", help="replace an existing store")] = False,
    size: Annotated[list[int] | None, typer.Option(help="board size to keep; repeat for more")] = None,
    min_rank: Annotated[str, typer.Option(help="minimum rank of both players: 5k, 3d, 1p")] = "",
    player: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="keep the games of this player, whose moves alone are learned; repeat for more names",
        ),
    ] = None,
    since: Annotated[
        datetime.datetime | None, typer.Option(formats=_DAY, metavar="YYYY-MM-DD", help="first date")
    ] = None,
    until: Annotated[
        datetime.datetime | None, typer.Option(formats=_DAY, metavar="YYYY-MM-DD", help="last date")
    ] = None,
    ending: Annotated[
        list[str] | None, typer.Option(help=f"how games ended; repeat for more: {', '.join(ENDINGS)}")
    ] = None,
    max_handicap: Annotated[int | None, typer.Option(help="maximum handicap stones; 0 for even games")] = None,
    komi: Annotated[list[float] | None, typer.Option(help="komi to keep; repeat for more")] = None,
    min_moves: Annotated[int, typer.Option(help="minimum number of moves")] = Filters.min_moves,
    max_moves: Annotated[int | None, typer.Option(help="maximum number of moves")] = None,
    min_part: Annotated[int, typer.Option(help="minimum number of legal moves of a damaged game")] = Filters.min_part,
    sample: Annotated[float, typer.Option(help="keep a random sample: a fraction below 1, or a number of games")] = 0,
    seed: Annotated[int, typer.Option(help="seed of the sample")] = 0,
    exclude: Annotated[list[Path] | None, typer.Option(help="leave out the games of this store")] = None,
    rules: Annotated[str, typer.Option(help="rule set of records that name none, or an unknown one")] = "",
    ownership: Annotated[bool, typer.Option(help="compute the final ownership of counted games")] = True,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help=f"change a limit: {', '.join(ImportLimits.__dataclass_fields__)}"),
    ] = None,
    workers: Annotated[int, typer.Option(help="worker processes; 0 for one a core")] = 0,
    quiet: QuietOption = False,
) -> None:
    """Import game records into a new store, with a report of the games that were not kept.

    Every game is replayed by the rules. Duplicates are dropped, rotated and mirrored ones too. An interrupted import
    leaves no store; run it again.
    """
    from tengen.data.importer import ImportOptions

    filters = Filters(
        sizes=tuple(size or ()),
        min_rank=min_rank,
        players=tuple(player or ()),
        since=since.date() if since else None,
        until=until.date() if until else None,
        endings=tuple(ending or ()),
        max_handicap=max_handicap,
        komi=tuple(komi or ()),
        min_moves=min_moves,
        max_moves=max_moves,
        min_part=min_part,
    )
    default_rules = Rules.parse(rules).text if rules else ""
    playouts = RowOptions.playouts if ownership else 0
    options = ImportOptions(
        rows=RowOptions(filters, default_rules, playouts),
        sample=sample,
        seed=seed,
        exclude=tuple(exclude or ()),
        workers=workers,
        overwrite=force,
        limits=ImportLimits.of(limit or ()),
    )
    import_with_bar(paths, out, options, quiet)


def import_with_bar(paths: Sequence[str], out: Path, options: ImportOptions, quiet: bool) -> None:
    """Import the games, with a progress bar unless `quiet`, and print the report."""
    from tengen.data.importer import import_games
    from tengen.runs.interruption import sigterm_interrupts

    try:
        with sigterm_interrupts(), _Bar(quiet) as bar:
            report = import_games(paths, out, options, bar.show)
    except KeyboardInterrupt:
        print("stopped; no store was written: run the command again", file=sys.stderr)
        raise
    print(report.text(), end="")
    print(f"{out}: {report.seconds:,.1f} s, {report.rate:,.0f} games/s; the report is in {out / 'report.txt'}")


class _Bar:
    """A progress bar with games per second and the remaining time."""

    def __init__(self, quiet: bool) -> None:
        self._progress = new_bar(not quiet and sys.stderr.isatty())
        self._task = self._progress.add_task("importing", total=None)

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, state: ImportProgress) -> None:
        """Show the progress of the import."""
        elapsed = self._progress.tasks[0].elapsed or 0.0
        rate = state.games / elapsed if elapsed else 0.0
        counted = f"{state.games:,} games, {state.kept:,} kept, {rate:,.0f}/s"
        self._progress.update(self._task, total=state.total_bytes, completed=state.read_bytes, description=counted)
