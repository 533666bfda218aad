"""Finding every process that a test has started, however far it went its own way."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Offspring:
    """All processes that carry this mark in their environment, which children inherit."""

    mark: str

    def alive(self) -> list[int]:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and self._is_ours(entry)]

    def gone(self, seconds: float = 5.0) -> bool:
        """Whether none is left, be it after a moment."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def _is_ours(self, process: Path) -> bool:
        try:
            return self.mark.encode() in (process / "environ").read_bytes()
        except OSError:
            return False
