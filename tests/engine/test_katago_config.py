"""KataGo's configuration files and overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.engine.katago_config import read_config, read_overrides
from tengen.errors import RecipeError


def test_a_file_with_comments_and_includes(tmp_path: Path) -> None:
    (tmp_path / "base.cfg").write_text("maxVisits = 100\nanalysisPVLen=9 # moves\n")
    main = tmp_path / "analysis.cfg"
    lines = (
        "# KataGo",
        "@include base.cfg",
        "",
        "maxVisits=7",
        'logDir = "a b"',
        "\treportAnalysisWinratesAs = BLACK\r",
    )
    main.write_text("\n".join(lines))
    assert read_config(main) == {
        "maxVisits": "7",
        "analysisPVLen": "9",
        "logDir": "a b",
        "reportAnalysisWinratesAs": "BLACK",
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("maxVisits", "line 1: NAME = VALUE"),
        ("a=1\na=2", "line 2: a is set twice"),
        ("@include x.cfg", "more than"),
        ("@include a\0b", "line 1: '@include a"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "x.cfg"
    path.write_text(text)
    with pytest.raises(RecipeError, match=reason):
        read_config(path)


def test_overrides() -> None:
    assert read_overrides(["a=1, b = x", "a=2"]) == {"a": "2", "b": "x"}
    with pytest.raises(RecipeError, match="'a'"):
        read_overrides(["a"])
