"""Tables of commands: whole rows in a pipe, the width of the window in a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from tengen.cli.tables import new_table, print_table


@pytest.mark.parametrize(
    ("terminal", "whole", "lines"), [(False, False, 1), (False, True, 1), (True, True, 1), (True, False, 4)]
)
def test_rows_are_broken_in_a_window_alone(terminal: bool, whole: bool, lines: int) -> None:
    table = Table(box=None, show_header=False, padding=0)
    table.add_row("seventeen letters " * 4)
    file = StringIO()
    print_table(table, Console(file=file, force_terminal=terminal, width=20), whole=whole)
    assert len(file.getvalue().splitlines()) == lines
    assert file.getvalue().split() == ["seventeen", "letters"] * 4


def test_text_stands_at_the_left_and_numbers_at_the_right() -> None:
    """In a narrow window the text of a plain table is folded, and its numbers are whole."""
    table = new_table("name", "games", left={"name"}, plain=True)
    table.add_row("a network of many words", "12,345")
    table.add_row("b", "6")
    file = StringIO()
    print_table(table, Console(file=file, force_terminal=True, width=20))
    lines = file.getvalue().splitlines()
    assert [line.split()[-1] for line in lines if line[-1].isdigit()] == ["12,345", "6"]
    assert lines[-1].startswith("b ") and {len(line) for line in lines if line[-1].isdigit()} == {len(lines[1])}
