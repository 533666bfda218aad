"""The types of the native module that are in the repository are those of the module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STUB = Path(__file__).parents[1] / "src" / "tengen" / "_native.pyi"

pytest.importorskip("nanobind", reason="the stub is compared where nanobind is installed, by the extra [build]")


def test_the_stub_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "_native.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tengen._native", "-o", str(fresh)]
    subprocess.run(command, check=True, timeout=60)
    assert fresh.read_text() == STUB.read_text(), "make stub writes it again"
