"""Tables on standard output."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

_WITHOUT_LIMIT = 10_000  # columns


def print_table(table: Table, console: Console | None = None, *, whole: bool = False) -> None:
    """Print a table in the width of the window; in a pipe or file each row is one line, as programs read it.

    `whole` keeps the rows whole in a window too: for names that other commands take. The console stays as wide.
    """
    console = console or Console()
    if whole or not console.is_terminal:
        console.width = max(console.width, Console(width=_WITHOUT_LIMIT).measure(table).maximum)
    console.print(table)
