"""What the repository holds of the native module, its types and the search settings, is what the module says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STUB = ROOT / "src" / "tengen" / "_native.pyi"

pytest.importorskip("nanobind", reason="the stub is compared where nanobind is installed, by the extra [build]")


def test_the_stub_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "_native.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tengen._native", "-o", str(fresh)]
    subprocess.run(command, check=True, timeout=60)
    found = fresh.read_text().replace("MAX_SIZE: int = 25", "MAX_SIZE: int = 19")  # in a run for larger boards
    assert found == STUB.read_text(), "make stub writes it again"


def test_the_search_settings_are_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("ruff", reason="it formats the fresh file")
    fresh = tmp_path / "param_fields.py"
    subprocess.run([sys.executable, ROOT / "native/tools/param_fields.py", fresh], check=True, timeout=60)
    assert fresh.read_text() == (ROOT / "src/tengen/engine/param_fields.py").read_text(), "make stub writes it again"
