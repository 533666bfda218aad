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
        self._scripted = False
        self._changed = threading.Condition()

    def put(self, *lines: str) -> None:
        with self._changed:
            self._waiting.extend(lines)
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

    def search_begins(self) -> None:
        """From now on `stop_requested` speaks of this search."""
        with self._changed:
            self._scripted = self._closed or bool(self._waiting)

    def stop_requested(self) -> bool:
        """Whether the search must end: a `stop` waits, or since it began `quit` came or the input ended.

        If more lines, or the end, were there before it began, they are a script that was piped in as a whole: then
        each of its commands gets its full answer.
        """
        with self._changed:
            names = {command.name for line in self._waiting if (command := parse_line(line)) is not None}
            return "stop" in names or (not self._scripted and (self._closed or "quit" in names))


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
            lines.put(*map(_decode, whole))
    except OSError:
        pass
    if rest:
        lines.put(_decode(rest))
    lines.close()


def _decode(line: bytes) -> str:
    return line.decode("utf-8", errors="surrogateescape")
