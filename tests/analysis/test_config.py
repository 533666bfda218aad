"""KataGo's configuration files and overrides, and the settings that they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.analysis.config import ANALYSIS_SETTINGS, AnalysisSettings, read_config, read_overrides
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
    found = read_config(main)
    assert found == {
        "maxVisits": "7",
        "analysisPVLen": "9",
        "logDir": "a b",
        "reportAnalysisWinratesAs": "BLACK",
    }
    settings, changes = AnalysisSettings.default().changed(found | {"nothingLikeIt": "1", "nnMaxBatchSize": "64"})
    assert (settings.limits.visits, settings.pv_length, settings.perspective) == (7, 9, "BLACK")
    assert changes.unknown == ("nothingLikeIt",)
    assert changes.without_effect(ANALYSIS_SETTINGS) == ["logDir", "nnMaxBatchSize"]


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


def test_settings_keep_what_is_not_changed() -> None:
    settings, _ = AnalysisSettings.default().changed({"maxVisits": 9, "cpuctExploration": 2, "numAnalysisThreads": 3})
    changed, _ = settings.changed({"maxTime": 1.5, "rootPolicyTemperature": "1.1"})
    assert (changed.limits.visits, changed.limits.seconds, changed.at_once) == (9, 1.5, 3)
    assert (changed.params.c_puct, changed.params.root_temperature) == (2, 1.1)
    assert changed.limits.early_stop is False and changed.params.merge_symmetric
