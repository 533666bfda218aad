"""`tengen import` on a terminal."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from tengen.cli import import_


@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_window_cuts_no_time(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    state = SimpleNamespace(games=123_456, kept=123_000, total_bytes=1000, read_bytes=448)
    with import_._Bar(quiet=False) as bar:
        bar.show(state)  # type: ignore[arg-type]
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert re.search(r"123,456 .* 44\.8% \d:\d\d:\d\d left [-\d]:[-\d]{2}:[-\d]{2}", shown), shown
