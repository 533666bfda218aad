"""Fixtures of the arena's tests."""

from __future__ import annotations

import uuid

import pytest
from offspring import Offspring


@pytest.fixture
def offspring(monkeypatch: pytest.MonkeyPatch) -> Offspring:
    """Marks every process that the test starts from now on."""
    mark = f"TENGEN_TEST_{uuid.uuid4().hex}"
    monkeypatch.setenv("TENGEN_TEST_MARK", mark)
    return Offspring(mark)
