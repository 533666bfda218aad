"""The output of a child process on several pipes, read as it comes; Windows differs from other systems."""

from __future__ import annotations

import os
import selectors
import sys
import threading
import time
from abc import ABC, abstractmethod
from typing import IO

_READ = 1 << 16  # bytes at a time


class PipeReader(ABC):
    """Waits for the output of a child on several pipes; only a little is read ahead, so that a flood blocks the child.

    `pipes` are in order: what the child wrote to an earlier pipe before it wrote to a later one is there by then.
    """

    @staticmethod
    def of(*pipes: IO[bytes]) -> PipeReader:
        """The reader for this system."""
        return _ThreadReader(*pipes) if sys.platform == "win32" else _SelectReader(*pipes)

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Return when a pipe has output or ends, after `seconds` at the latest; a moment when all have ended."""

    @abstractmethod
    def take(self, pipe: IO[bytes]) -> bytes:
        """What has come from a pipe, up to 64 KiB; empty when nothing has, and at its end."""

    @abstractmethod
    def ended(self, pipe: IO[bytes]) -> bool:
        """Whether `take` has met the end of a pipe."""

    @abstractmethod
    def close(self) -> None:
        """Close the pipes."""


class _SelectReader(PipeReader):
    def __init__(self, *pipes: IO[bytes]) -> None:
        self._pipes = pipes
        self._open = selectors.DefaultSelector()
        for pipe in pipes:
            os.set_blocking(pipe.fileno(), False)
            self._open.register(pipe, selectors.EVENT_READ)

    def wait(self, seconds: float) -> None:
        if self._open.get_map():
            self._open.select(max(seconds, 0.0))
        else:
            time.sleep(min(max(seconds, 0.0), 0.01))

    def take(self, pipe: IO[bytes]) -> bytes:
        if self.ended(pipe):
            return b""
        try:
            found = os.read(pipe.fileno(), _READ)
        except BlockingIOError:
            return b""
        except OSError:
            found = b""
        if not found:
            self._open.unregister(pipe)
        return found

    def ended(self, pipe: IO[bytes]) -> bool:
        return pipe not in {key.fileobj for key in self._open.get_map().values()}

    def close(self) -> None:
        self._open.close()
        for pipe in self._pipes:
            pipe.close()


class _ThreadReader(PipeReader):
    """A thread a pipe, for Windows, which cannot wait for pipes. Each thread holds one piece and then waits."""

    def __init__(self, *pipes: IO[bytes]) -> None:
        self._changed = threading.Condition()
        self._pieces: dict[IO[bytes], bytes] = {}  # that wait to be taken; empty at the end of the pipe
        self._ended: set[IO[bytes]] = set()
        self._closed = False
        self._threads = {
            pipe: threading.Thread(target=self._pump, args=(pipe,), name="tengen-pipe", daemon=True) for pipe in pipes
        }
        for thread in self._threads.values():
            thread.start()

    def _pump(self, pipe: IO[bytes]) -> None:
        piece = b"first"
        while piece:
            try:
                piece = os.read(pipe.fileno(), _READ)
            except OSError:
                piece = b""
            with self._changed:
                self._pieces[pipe] = piece
                self._changed.notify_all()
                self._changed.wait_for(lambda: pipe not in self._pieces or self._closed)
                if self._closed:
                    return

    def wait(self, seconds: float) -> None:
        with self._changed:
            if len(self._ended) == len(self._threads):
                self._changed.wait(min(max(seconds, 0.0), 0.01))
            elif self._changed.wait_for(lambda: self._pieces, max(seconds, 0.0)):
                # The thread of an earlier pipe may not have read yet what was written before.
                earlier = [pipe for pipe in self._threads if pipe not in self._ended][:-1]
                self._changed.wait_for(lambda: all(pipe in self._pieces for pipe in earlier), 0.01)

    def take(self, pipe: IO[bytes]) -> bytes:
        with self._changed:
            piece = self._pieces.pop(pipe, None)
            if piece == b"":
                self._ended.add(pipe)
            self._changed.notify_all()
            return piece or b""

    def ended(self, pipe: IO[bytes]) -> bool:
        return pipe in self._ended

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for pipe, thread in self._threads.items():
            thread.join(1)
            if not thread.is_alive():  # one that some process holds open can neither be read to its end nor closed
                pipe.close()
