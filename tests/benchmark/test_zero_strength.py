"""The strength of a network from the command line: at visits, at equal time, and words that name nobody."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from tengen.statistics import Tally, wilson

PROGRAM = "zero_strength.py"


def test_a_table_and_a_line(program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["uniform", "--size", "5", "--komi", "0.5", "--games", "6", "--visits", "12", "--opening", "2"]
    program.main([*words, "--against", "random", "playouts@20"])
    lines = capsys.readouterr().out.splitlines()
    found = json.loads(lines[-1])
    assert (found["network"], found["size"], found["komi"], found["visits"]) == ("uniform", 5, 0.5, 12)
    assert [row["against"] for row in found["results"]] == ["random", "playouts, 20 visits, passes last"]
    for row, line in zip(found["results"], lines[1:-1], strict=True):
        assert row["games"] == 6 and line.startswith(row["against"])
        assert row["score"] == pytest.approx((row["as_black"] + row["as_white"]) / 2, abs=1e-3)
        assert row["interval_95"][0] <= row["score"] <= row["interval_95"][1]
    program.main([*words, "--against", "random", "playouts@20"])
    again = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["score"] for row in again["results"]] == [row["score"] for row in found["results"]]


@pytest.mark.slow
def test_equal_time(program: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["default", "--size", "5", "--komi", "0.5", "--games", "2", "--seconds", "0.01", "--out", str(tmp_path)]
    program.main([*words, "--against", "playouts"])
    (row,) = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert row["games"] == 2 and row["against"].endswith("0.01 s")
    assert set(row["mean_visits"]) == {"default, 0.01 s", "playouts, 0.01 s"}
    assert (tmp_path / "00" / "summary.json").exists()


def test_games_of_another_network_are_played_anew(
    program: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = [
        "--size",
        "7",
        "--komi",
        "9",
        "--games",
        "2",
        "--visits",
        "1",
        "--against",
        "random",
        "--out",
        str(tmp_path),
    ]
    digests = []
    for network in ("zero-7x7", "default", "zero-9x9"):
        program.main([network, *words])
        (about,) = tmp_path.rglob("match.json")
        digests.append(json.loads(about.read_text())["files"]["network 0"])
    assert digests[0] == digests[1] != digests[2]


def test_draws_narrow_the_interval(program: ModuleType) -> None:
    """With half of the games drawn, a score of 50% is known nearly as well as from twice the games without."""
    row = program._row("rival", Tally(5, 10, 5), Tally(5, 10, 5), 1.0)
    assert row["interval_95"] == pytest.approx(wilson(40, 80), abs=0.003)


def test_nobody_of_that_name(program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        program.main(["uniform", "--against", "playouts:fast"])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith("error: player 'playouts:fast': ")
