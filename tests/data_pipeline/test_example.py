"""The example of a plane set in Python runs as its text says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tengen.data import Store

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_plane_set.py"


def test_the_example_encodes_a_store(store: Store) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(store.path)], capture_output=True, text=True, timeout=120, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "<Batch of 32 positions, 17 planes 9x9, 2 scalars>"
    assert [line.split()[0] for line in lines[1:]] == [
        *(f"{who}_{back}" for who in ("own", "opponent") for back in range(8)), "age",
    ]  # fmt: skip
    stones = {line.split()[0]: int(line.split()[1]) for line in lines[1:]}
    assert stones["age"] == stones["own_0"] + stones["opponent_0"] > 0
