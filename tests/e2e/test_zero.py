"""The zero door from end to end: the two-minute recipe, from the rules to a network that beats the random player."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="self-play learning needs the extra [train]")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tiny_5x5_beats_the_random_player(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tengen", "zero", "tiny-5x5", "--out", str(tmp_path / "run"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    book = json.loads((tmp_path / "run" / "ratings.json").read_text(encoding="utf-8"))
    last = book["points"][-1]["anchors"]["random"]
    assert last["games"] == 100
    assert last["score"] >= 0.95, last
    assert (tmp_path / "run" / "nets" / "tiny-5x5.onnx").is_file()
    assert "tiny-5x5.onnx" in done.stderr and "report.html" in done.stderr
