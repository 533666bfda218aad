"""Finding every process that a test has started, however far it went its own way."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Offspring:
    """All processes that carry this mark in their environment, which children inherit."""

    mark: str

    def alive(self, argument: str = "") -> list[int]:
        """The processes that run, or those of them that have this argument on their command line."""
        return [process.pid for process in psutil.process_iter() if self._is_ours(process, argument)]

    def begun(self, count: int, argument: str = "", seconds: float = 120.0) -> bool:
        """Whether so many are `alive`, be it after a while: a process in the middle of its exec has no mark."""
        deadline = time.monotonic() + seconds
        while len(self.alive(argument)) < count:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def gone(self, seconds: float = 5.0) -> bool:
        """Whether none is left, be it after a moment."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def _is_ours(self, process: psutil.Process, argument: str) -> bool:
        try:
            return self.mark in process.environ().values() and (not argument or argument in process.cmdline())
        except (psutil.Error, OSError):  # it has ended, or is somebody else's
            return False
