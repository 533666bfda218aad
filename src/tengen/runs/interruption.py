"""Ctrl-C and SIGTERM as a flag, which long work checks where it can end cleanly."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class ShutdownFlag:
    """Set by Ctrl-C or SIGTERM while its `with` block runs; a second signal raises KeyboardInterrupt at once.

    Signals are caught in the main thread only. `event` serves threads that wait for it.
    """

    def __init__(self) -> None:
        self.event = threading.Event()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __bool__(self) -> bool:
        """Whether a shutdown was requested."""
        return self.event.is_set()

    def set(self) -> None:
        """Request a shutdown."""
        self.event.set()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a shutdown was requested."""
        if self:
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.check()
        self.set()


@contextmanager
def interrupt_after(seconds: float | None) -> Iterator[threading.Event]:
    """Interrupt this process as Ctrl-C does after `seconds`, unless the block ends before; never for None.

    The event is set when that has happened, so that the caller can distinguish the two.
    """
    happened = threading.Event()

    def interrupt() -> None:
        happened.set()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0 if seconds is None else seconds, interrupt)
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield happened
    finally:
        timer.cancel()
