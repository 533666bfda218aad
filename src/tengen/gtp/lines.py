"""The lines that another program sends, read aside so that a running search notices them at once."""

from __future__ import annotations

import os
import threading
from collections import deque

from tengen.gtp.parse import parse_line

_CHUNK = 65536


class Lines:
    """A queue of input lines with an end; `put` and `close` may be called from another thread than the rest."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()
        self._closed = False
        self._changed = threading.Condition()

    def put(self, line: str) -> None:
        with self._changed:
            self._waiting.append(line)
            self._changed.notify_all()

    def close(self) -> None:
        """No line comes any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def get(self) -> str | None:
        """The next line, waited for; None at the end of the input."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            return self._waiting.popleft() if self._waiting else None

    def pending(self) -> bool:
        """Whether `get` would answer at once: this ends an analysis."""
        return self._closed or bool(self._waiting)

    def stop_requested(self) -> bool:
        """Whether a search must end: a `stop` waits, or the input has ended with nothing left to answer.

        A script that is piped in as a whole has ended too, but while its lines wait, each gets its full answer.
        """
        with self._changed:
            if not self._waiting:
                return self._closed
            return any(_is_stop(line) for line in self._waiting)


def _is_stop(line: str) -> bool:
    command = parse_line(line)
    return command is not None and command.name == "stop"


def read_lines(descriptor: int, lines: Lines) -> threading.Thread:
    """Start a thread that moves the lines of a file descriptor into `lines` until it ends.

    It reads the descriptor itself: a thread blocked in a buffered stream would hold that stream's lock at exit.
    """
    thread = threading.Thread(target=_pump, args=(descriptor, lines), name="gtp-input", daemon=True)
    thread.start()
    return thread


def _pump(descriptor: int, lines: Lines) -> None:
    rest = b""
    try:
        while chunk := os.read(descriptor, _CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                lines.put(_decode(line))
    except OSError:
        pass
    if rest:
        lines.put(_decode(rest))
    lines.close()


def _decode(line: bytes) -> str:
    return line.decode("utf-8", errors="surrogateescape")
