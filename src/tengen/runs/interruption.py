"""Ctrl-C, SIGTERM and SIGHUP as a flag, which long work checks where it can end cleanly."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from tengen.errors import Terminated
from tengen.machine import signal_self

TERMINAL_SIGNALS: tuple[signal.Signals, ...] = (
    (signal.SIGINT,) if sys.platform == "win32" else (signal.SIGINT, signal.SIGHUP)
)
"""What a terminal sends to all of its processes: Ctrl-C, and its end. Workers ignore it; their parent ends them."""


def _interruption(number: int) -> KeyboardInterrupt:
    return KeyboardInterrupt() if number == signal.SIGINT else Terminated()


def _terminations() -> list[signal.Signals]:
    """The signals that ask a process to end. SIGHUP is not one where it is ignored, as under nohup."""
    if sys.platform == "win32" or signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        return [signal.SIGTERM]
    return [signal.SIGTERM, signal.SIGHUP]


def _leave_terminal(number: int) -> None:
    """After SIGHUP ignore further ones (the shell and the kernel both send it, which is no second request), and discard
    what is printed to a terminal that is gone: a bar or message that fails would take the place of the interruption."""
    if sys.platform == "win32" or number != signal.SIGHUP:
        return
    signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        try:
            os.write(descriptor, b"")  # fails where the terminal is gone; `kill` may have sent the signal too
        except OSError:
            os.dup2(null, descriptor)
    os.close(null)


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Within the block SIGTERM and SIGHUP raise Terminated, as Ctrl-C raises KeyboardInterrupt."""

    def interrupt(number: int, _: FrameType | None) -> None:
        _leave_terminal(number)
        raise _interruption(number)

    before = {number: signal.signal(number, interrupt) for number in _terminations()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class ShutdownFlag:
    """Set by Ctrl-C, SIGTERM or SIGHUP while its `with` block runs; a second signal raises KeyboardInterrupt at once.

    Signals are caught in the main thread only. `event` serves threads that wait for it; one of the caller's may be
    given, which requests a shutdown too.
    """

    def __init__(self, event: threading.Event | None = None) -> None:
        self.event = event or threading.Event()
        self._before: dict[signal.Signals, Any] = {}
        self._number: int = signal.SIGINT

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, *_terminations()):
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
        """Raise KeyboardInterrupt if a shutdown was requested, Terminated if SIGTERM or SIGHUP requested it."""
        if self:
            raise _interruption(self._number)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        _leave_terminal(number)
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
