"""The checkpoints of a policy-gradient run: the newest two, and those of earlier versions."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra [train] is not installed")

from tengen.reinforce.folder import PolicyGradientFolder
from tengen.runs.checkpoints import checkpoints


def test_the_newest_checkpoint_that_can_be_read_is_taken(tmp_path: Path) -> None:
    folder = PolicyGradientFolder(tmp_path, "small")
    assert folder.load() is None
    folder.checkpoints.mkdir()
    for updates in (1, 2, 3):
        folder.save(updates, {"hours": float(updates)})
    assert [step for step, _ in checkpoints(folder.checkpoints)] == [2, 3]
    assert folder.load() == {"hours": 3.0}
    newest = checkpoints(folder.checkpoints)[-1][1]
    newest.write_bytes(newest.read_bytes()[:100])
    assert folder.load() == {"hours": 2.0}


def test_a_run_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    """Its checkpoints have other names; they stay until the first one is written."""
    folder = PolicyGradientFolder(tmp_path, "small")
    folder.checkpoints.mkdir()
    for updates, old in ((1, "checkpoint-before.pt"), (2, "checkpoint.pt")):
        folder.save(updates, {"hours": float(updates)})
        checkpoints(folder.checkpoints)[-1][1].rename(tmp_path / f"{old}.kept")
    for kept in tmp_path.glob("*.kept"):
        kept.rename(kept.with_suffix(""))
    assert folder.load() == {"hours": 2.0}
    (tmp_path / "checkpoint.pt").write_bytes(b"damaged")
    assert folder.load() == {"hours": 1.0}
    folder.save(3, {"hours": 3.0})
    assert not list(tmp_path.glob("*.pt")) and folder.load() == {"hours": 3.0}
