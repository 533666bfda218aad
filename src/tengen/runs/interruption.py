"""Ctrl-C and SIGTERM as a flag, which long work checks where it can end cleanly."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from tengen.machine import signal_self


class Terminated(KeyboardInterrupt):
    """SIGTERM, after which programs do what they do after Ctrl-C and end with status 143 instead of 130."""


def _interruption(number: int) -> KeyboardInterrupt:
    return Terminated() if number == signal.SIGTERM else KeyboardInterrupt()


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Within the block SIGTERM raises Terminated, as Ctrl-C raises KeyboardInterrupt."""

    def interrupt(number: int, _: FrameType | None) -> None:
        raise _interruption(number)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class ShutdownFlag:
    """Set by Ctrl-C or SIGTERM while its `with` block runs; a second signal raises KeyboardInterrupt at once.

    Signals are caught in the main thread only. `event` serves threads that wait for it; one of the caller's may be
    given, which requests a shutdown too.
    """

    def __init__(self, event: threading.Event | None = None) -> None:
        self.event = event or threading.Event()
        self._before: dict[signal.Signals, Any] = {}
        self._number: int = signal.SIGINT

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
        """Raise KeyboardInterrupt if a shutdown was requested, Terminated if SIGTERM requested it."""
        if self:
            raise _interruption(self._number)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._number = number
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
        signal_self(signal.SIGINT)

    timer = threading.Timer(0 if seconds is None else seconds, interrupt)
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield happened
    finally:
        timer.cancel()
