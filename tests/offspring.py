"""Finding every process that a test has started, however far it went its own way."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Offspring:
    """All processes that carry this mark in their environment, which children inherit."""

    mark: str

    def alive(self) -> list[int]:
        return [process.pid for process in psutil.process_iter() if self._is_ours(process)]

    def gone(self, seconds: float = 5.0) -> bool:
        """Whether none is left, be it after a moment."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return self.mark in process.environ().values()
        except (psutil.Error, OSError):  # it has ended, or is somebody else's
            return False
