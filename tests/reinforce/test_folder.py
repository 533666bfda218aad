"""The checkpoints of a policy-gradient run: the newest two."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra [train] is not installed")

from small_parent import small_config

from tengen.reinforce.folder import ReinforceFolder
from tengen.runs.checkpoints import checkpoints


def test_the_newest_checkpoint_that_can_be_read_is_taken(tmp_path: Path) -> None:
    folder = ReinforceFolder(tmp_path, small_config(tmp_path / "parent.onnx"))
    assert folder.load() is None
    folder.checkpoints.mkdir()
    for updates in (1, 2, 3):
        folder.save(updates, {"hours": float(updates)})
    assert [step for step, _ in checkpoints(folder.checkpoints)] == [2, 3]
    assert folder.load() == {"hours": 3.0}
    newest = checkpoints(folder.checkpoints)[-1][1]
    newest.write_bytes(newest.read_bytes()[:100])
    assert folder.load() == {"hours": 2.0}
