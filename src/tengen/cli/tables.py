"""Tables on standard output."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rich.console import Console
from rich.table import Table

_WITHOUT_LIMIT = 10_000  # columns


def new_table(
    *headings: str,
    left: Collection[str],
    title: str | None = None,
    plain: bool = False,
    numbers: str = "",
    **style: Any,
) -> Table:
    """A table with these columns: those of `left` hold text, all others numbers.

    Without lines (`plain`) text alone is folded where the window is narrow. `numbers` is the style of the numbers;
    `style` are further arguments of Table.
    """
    if plain:
        style = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0), **style}
    table = Table(title=title, title_justify="left", **style)
    for heading in headings:
        if heading in left:
            table.add_column(heading, overflow="fold" if plain else "ellipsis")
        else:
            table.add_column(heading, justify="right", style=numbers, no_wrap=plain)
    return table


def print_table(table: Table, console: Console | None = None, *, whole: bool = False) -> None:
    """Print a table in the width of the window; in a pipe or file each row is one line, as programs read it.

    `whole` keeps the rows whole in a window too: for names that other commands take. The console stays as wide.
    """
    console = console or Console()
    if whole or not console.is_terminal:
        console.width = max(console.width, Console(width=_WITHOUT_LIMIT).measure(table).maximum)
    console.print(table)
