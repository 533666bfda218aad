"""KaTrain analyzes a game through `tengen-katago` by its setting for a custom command: its engine, and its window."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from other_programs import KATRAIN, needs

pytestmark = needs("katrain")

ROOT = Path(__file__).parent.parent.parent
GAME = "(;GM[1]FF[4]SZ[9]KM[6.5]RU[japanese];B[ee];W[cc];B[gc];W[cg];B[gg];W[ce])"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The file of GAME."""
    path = tmp_path / "game.sgf"
    path.write_text(GAME)
    return path


def package() -> Path:
    return next(KATRAIN.parent.parent.glob("lib/*/site-packages/katrain"))


def command() -> str:
    return f"exec {sys.executable} -m tengen.cli.katago analysis -config {package() / 'KataGo' / 'analysis_config.cfg'}"


def run(script: str, *arguments: str | Path, before: tuple[str, ...] = (), home: Path) -> dict[str, Any]:
    """What a script beside this file prints under KaTrain's Python; an error of its log fails the test."""
    done = subprocess.run(
        [*before, KATRAIN, Path(__file__).with_name(script), *arguments],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, "KIVY_HOME": str(home), "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found["errors"] == []
    return found


def test_katrain_analyzes_a_game_without_an_error(record: Path, tmp_path: Path) -> None:
    found = run("katrain_client.py", command(), record, "16", home=tmp_path)
    assert found["alive"] and found["restarted"]
    assert len(found["nodes"]) == 7
    for node in found["nodes"]:
        assert node["complete"] and node["visits"] >= 16 and len(node["moves"]) > 1
        assert (node["policy"], node["ownership"]) == (82, 81)
        assert 0 <= node["winrate"] <= 1 and isinstance(node["score"], float)
    # E5, the first move of the record, loses next to nothing, and the winrate is Black's at every node.
    assert abs(found["nodes"][1]["points_lost"]) < 5
    assert max(abs(a["winrate"] - b["winrate"]) for a, b in zip(found["nodes"], found["nodes"][1:], strict=False)) < 0.5
    assert max(found["extra"]) > 16


@needs("xvfb")
def test_the_window_of_katrain_shows_the_analysis(record: Path, tmp_path: Path) -> None:
    settings = json.loads((package() / "config.json").read_text())
    settings["engine"].update(backend="custom", altcommand=command(), max_visits=20, fast_visits=10)
    settings.setdefault("ui_state", {}).update(restoresize=True, size=[1200, 900], top=0, left=0)
    config = tmp_path / "config.json"
    config.write_text(json.dumps(settings))
    screen = ("xvfb-run", "-a", "-s", "-screen 0 1200x900x24")
    found = run("katrain_window.py", config, record, tmp_path / "window.png", before=screen, home=tmp_path)
    # The six moves of the record, the seventh that was played on the board, and the position that was pondered.
    visits = found["visits"]
    assert len(visits) == 8 and min(visits) >= 10 and visits[-1] >= 20
    assert found["pondered"] == visits[-2] > 200
    winrate, score, lost = found["labels"]
    assert re.fullmatch(r"[BW] \d+\.\d%", winrate) and re.fullmatch(r"[BW]\+\d+\.\d|Jigo", score)
    assert winrate[0] == score[0] or score == "Jigo" or abs(float(score[2:])) < 1
    assert isinstance(lost, float) and abs(lost) < 10
    assert "Move 7: B G4" in found["info"]
    assert Path(found["picture"]).stat().st_size > 10_000
