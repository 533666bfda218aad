"""A clock of the tests' own for the engine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tengen.engine import task


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that the engine sees."""
    seconds = [1000.0]
    monkeypatch.setattr(task, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    return seconds
