"""KaTrain's own engine analyzes a game through `tengen-katago` by its setting for a custom command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
KATRAIN = Path(os.environ.get("TENGEN_KATRAIN_PYTHON", ROOT / "build" / "katrain" / "bin" / "python"))
GAME = "(;GM[1]FF[4]SZ[9]KM[6.5]RU[japanese];B[ee];W[cc];B[gc];W[cg];B[gg];W[ce])"


def test_katrain_analyzes_a_game_without_an_error(tmp_path: Path) -> None:
    if not KATRAIN.exists():
        pytest.skip(f"no {KATRAIN}: make katrain installs KaTrain, or name its Python in TENGEN_KATRAIN_PYTHON")
    record = tmp_path / "game.sgf"
    record.write_text(GAME)
    package = next(KATRAIN.parent.parent.glob("lib/*/site-packages/katrain"))
    command = f"{sys.executable} -m tengen.cli.katago analysis -config {package / 'KataGo' / 'analysis_config.cfg'}"
    environment = {**os.environ, "KIVY_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [KATRAIN, Path(__file__).with_name("katrain_client.py"), command, record, "16"],
        capture_output=True,
        text=True,
        timeout=250,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["errors"] == [] and found["alive"]
    assert len(found["nodes"]) == 7
    for node in found["nodes"]:
        assert node["complete"] and node["visits"] >= 16 and len(node["moves"]) > 1
        assert (node["policy"], node["ownership"]) == (82, 81)
        assert 0 <= node["winrate"] <= 1 and isinstance(node["score"], float)
    # E5, the first move of the record, loses next to nothing, and the winrate is Black's at every node.
    assert abs(found["nodes"][1]["points_lost"]) < 5
    assert max(abs(a["winrate"] - b["winrate"]) for a, b in zip(found["nodes"], found["nodes"][1:], strict=False)) < 0.5
    assert max(found["extra"]) > 16
