"""`tengen stats`: statistics of a game store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.columns import Columns
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tengen.cli.options import JsonOption
from tengen.disk import json_text, size_text
from tengen.errors import StoreError, TengenError, printable
from tengen.sgf.values import rank, rank_strength

if TYPE_CHECKING:
    from tengen.data.stats import StoreStats

_BAR = 18
_MAX_ROWS = 12


def command(
    store: Annotated[Path, typer.Argument(help="a store that 'tengen import' made")],
    as_json: JsonOption = False,
) -> None:
    """Print statistics of a game store: games, board sizes, ranks, results, lengths and dates."""
    from tengen.data.format import AGAIN
    from tengen.data.stats import collect
    from tengen.data.store import Store

    games = Store.open(store)
    try:
        stats = collect(games)
    except TengenError:
        raise
    except (KeyError, OverflowError, TypeError, ValueError) as error:  # its checksums say that it was written so
        reason = f"{type(error).__name__}: {error}"
        raise StoreError(f"{store} holds a value that Tengen does not write ({reason}); {AGAIN}") from error
    if as_json:
        print(json_text(stats.as_dict(), indent=1))  # in ASCII: standard output may have any encoding
    else:
        _print(store, stats, Console())


def _print(path: Path, stats: StoreStats, console: Console) -> None:
    from tengen.data.stats import LENGTH_STEP

    targets = ("with visits (self-play)", _share(stats.with_visits, stats.games))
    if stats.teacher:
        targets = ("with labels", f"{_share(stats.with_labels, stats.games)} by {printable(stats.teacher)}")
    dates = f"{stats.first_date} to {stats.last_date}" if stats.first_date else "unknown"
    facts = Table.grid(padding=(0, 2))
    for name, value in (
        ("games", f"{stats.games:,}"),
        ("moves", f"{stats.moves:,}"),
        ("moves a game", f"{stats.shortest} to {stats.longest}, median {stats.median:g}"),
        ("dates", dates),
        ("with a score", _share(stats.with_score, stats.games)),
        ("with final ownership", _share(stats.with_ownership, stats.games)),
        targets,
        ("on disk", f"{size_text(stats.bytes)}, {stats.bytes_a_game:,.0f} bytes a game"),
    ):
        facts.add_row(name, Text(value, "bold"))
    console.print(Panel(facts, title=escape(str(path)), title_align="left", expand=False))
    if not stats.games:
        return
    lengths = {f"{start}-{start + LENGTH_STEP - 1}": n for start, n in sorted(stats.lengths.items())}
    sizes = {f"{size}x{size}": n for size, n in sorted(stats.sizes.items())}
    komi = {"unknown" if value is None else f"{value:g}": n for value, n in stats.komi.most_common()}
    strongest_first = sorted(stats.ranks, key=lambda text: rank_strength(rank(text)), reverse=True)
    ranks = {text or "unknown": stats.ranks[text] for text in strongest_first}
    bars = ("█", "▏") if console.encoding.startswith("utf") else ("#", "")
    tables = (
        _table("board", sizes, bars),
        _table("rules", dict(stats.rules.most_common()), bars),
        _table("komi", komi, bars),
        _table("handicap", dict(sorted(stats.handicaps.items())), bars),
        _table("winner", dict(stats.winners.most_common()), bars),
        _table("ending", dict(stats.endings.most_common()), bars),
        _table("players' ranks", ranks, bars),
        _table("year", dict(sorted(stats.years.items())), bars),
        _table("moves", lengths, bars),
    )
    console.print(Columns([table for table in tables if table.row_count], padding=(1, 3)))


def _table(title: str, counts: Mapping[Any, int], bars: tuple[str, str]) -> Table:
    """A table with a bar for each row, of the first of `bars`, or the second where it would be too short.

    The rarest values are combined where there are many.
    """
    rows = [(str(name), count) for name, count in counts.items()]
    if len(rows) > _MAX_ROWS:
        smallest = sorted(count for _, count in rows)[-_MAX_ROWS + 1]
        common = [row for row in rows if row[1] >= smallest][: _MAX_ROWS - 1]
        rows = [*common, (f"{len(rows) - len(common)} others", sum(counts.values()) - sum(n for _, n in common))]
    total, largest = sum(counts.values()), max(counts.values(), default=1)
    table = Table(title=title, title_justify="left", title_style="bold", box=None, show_header=False, padding=(0, 1))
    columns: list[tuple[JustifyMethod, str]] = [("right", ""), ("left", "cyan"), ("right", ""), ("right", "dim")]
    for justify, style in columns:
        table.add_column(justify=justify, style=style, no_wrap=True)
    for name, count in rows:
        bar = bars[0] * round(_BAR * count / largest) or bars[1]
        table.add_row(escape(name), f"{bar:<{_BAR}}", f"{count:,}", f"{100 * count / total:.1f}%")
    return table


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.1f}%)" if whole else "0"
