"""Ctrl-C and SIGTERM as a wish, which long work looks at where it can end cleanly."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Stop:
    """Set by Ctrl-C or SIGTERM while its block runs; a second Ctrl-C interrupts at once."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._wish)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a stop was wished for."""
        if self.event.is_set():
            raise KeyboardInterrupt

    def _wish(self, number: int, frame: FrameType | None) -> None:
        if self.event.is_set():
            raise KeyboardInterrupt
        self.event.set()
