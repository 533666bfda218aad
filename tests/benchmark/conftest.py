"""The programs of `benchmarks/` as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest) -> ModuleType:
    """The program that the test module names in PROGRAM."""
    spec = importlib.util.spec_from_file_location(
        Path(request.module.PROGRAM).stem, BENCHMARKS / request.module.PROGRAM
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
