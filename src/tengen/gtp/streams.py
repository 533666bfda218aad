"""The input and output of a GTP process: input lines are read on a thread, standard output carries answers alone."""

from __future__ import annotations

import codecs
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Literal

from tengen.gtp.parse import parse_line

_CHUNK = 65536
Order = Literal["stop", "quit"] | None
INTERRUPT = "# interrupt"  # GoGui's comment to a program that knows gogui-interrupt


class InputQueue:
    """Input lines that a thread reads: `put` and `close` are called there, the rest by the server.

    `arrived` is when the line came that `get` gave last, in seconds of `now`.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.arrived = now()
        self._now = now
        self._waiting: deque[tuple[str, Order, float]] = deque()
        self._orders: Counter[Order] = Counter()  # of the lines that wait
        self._closed = False
        self._scripted = False
        self._later_stops = 0  # that waited behind other commands when the search began
        self._changed = threading.Condition()

    def put(self, *lines: str) -> None:
        known = [(line, _order(line), self._now()) for line in lines]
        with self._changed:
            self._waiting.extend(known)
            self._orders.update(order for _, order, _ in known)
            self._changed.notify_all()

    def close(self) -> None:
        """End the input."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def get(self) -> str | None:
        """The next line; waits for it. None at the end of the input."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if not self._waiting:
                return None
            line, order, self.arrived = self._waiting.popleft()
            self._orders[order] -= 1
            return line

    def pending(self) -> bool:
        """Whether `get` would return at once. This ends an analysis."""
        return self._closed or bool(self._waiting)

    def search_begins(self) -> None:
        """A search begins: `stop_requested` refers to it from now on."""
        with self._changed:
            self._scripted = self._closed or bool(self._waiting)
            is_next = bool(self._waiting) and self._waiting[0][1] == "stop"
            self._later_stops = self._orders["stop"] - is_next

    def stop_requested(self) -> bool:
        """Whether the search must end.

        It must if `stop` or GoGui's `# interrupt` is waiting, or if `quit` or the end of the input came since it began.

        Lines that were waiting before it began are a script that was piped in as a whole. Each of its commands
        gets its full answer, unless `stop` is the next one.
        """
        with self._changed:
            ends = self._closed or self._orders["quit"] > 0
            return self._orders["stop"] > self._later_stops or (ends and not self._scripted)


def _order(line: str) -> Order:
    """What a line asks of the search that runs."""
    command = parse_line(line)
    if line.strip() == INTERRUPT or (command is not None and command.name == "stop"):
        return "stop"
    return "quit" if command is not None and command.name == "quit" else None


def read_lines(descriptor: int, lines: InputQueue) -> threading.Thread:
    """Start a thread that puts the lines of a file descriptor into `lines` until the input ends.

    It reads the descriptor directly: a thread blocked in a buffered stream would hold the lock of the stream at exit.
    """
    thread = threading.Thread(target=_pump, args=(descriptor, lines), name="gtp-input", daemon=True)
    thread.start()
    return thread


def _pump(descriptor: int, lines: InputQueue) -> None:
    begun: list[bytes] = []  # the pieces of a line that is not complete
    try:
        while chunk := os.read(descriptor, _CHUNK):
            first, *others = chunk.split(b"\n")
            begun.append(first)
            if others:
                lines.put(*map(_decode, (b"".join(begun), *others[:-1])))
                begun = others[-1:]
    except OSError:
        pass
    if rest := b"".join(begun):
        lines.put(_decode(rest))
    lines.close()


def _decode(line: bytes) -> str:
    """A line as text, without the byte order mark that programs on Windows write before the first one."""
    return line.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="surrogateescape")


def open_channel() -> tuple[InputQueue, Callable[[str], None]]:
    """The lines of standard input, and a function that writes answers to standard output.

    From now on everything else that this process prints, in Python or in a library, goes to standard error.
    """
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)
    lines = InputQueue()
    read_lines(0, lines)

    def write(text: str) -> None:
        rest = _encode(text)
        while rest:
            rest = rest[os.write(answers, rest) :]

    return lines, write


def _encode(text: str) -> bytes:
    """An answer as bytes: those of the input that are no UTF-8 as they were, halves of JSON's surrogates escaped."""
    try:
        return text.encode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", errors="backslashreplace")
