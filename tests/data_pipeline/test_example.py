"""The example of a plane set in Python runs as its text says."""

from __future__ import annotations

import os
import shutil
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


def test_an_entry_point_makes_the_example_known(tmp_path: Path) -> None:
    """As installed: the module and the metadata of a package on the path."""
    shutil.copy(EXAMPLE, tmp_path / "my_planes.py")
    facts = tmp_path / "my_planes-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-planes\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[tengen.plane_sets]\npast-and-age = my_planes:PAST_AND_AGE\n")
    program = "from tengen.data import plane_set, plane_set_names; print(plane_set_names(), plane_set('past-and-age'))"
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert "'past-and-age'] PythonPlaneSet(name='past-and-age', planes=('own_0'" in done.stdout
