"""A GTP program as a child process that cannot hang, flood or outlive the match."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Literal

from tengen.errors import TengenError

Reason = Literal["not found", "died", "timeout", "refused", "nonsense"]

_LAST_WORDS = 20  # lines of stderr that are kept
_QUEUE_LINES = 10_000  # a program that floods stdout is held back by its own pipe
_LINE_BYTES = 65_536  # a longer line is read in pieces
_GAMES = "/usr/games"  # where Debian puts gnugo, often missing from PATH


class ProgramError(TengenError):
    """A GTP program failed: `reason` says how, `last_words` are its last lines on stderr."""

    def __init__(self, program: str, reason: Reason, detail: str, last_words: tuple[str, ...] = ()) -> None:
        super().__init__(f"{program}: {detail}")
        self.reason = reason
        self.detail = detail
        self.last_words = last_words


class GtpClient:
    """Speaks GTP 2 with a program started from a command line, in a process group of its own.

    Every call has a deadline. A program that dies, is late, answers `?` or talks nonsense raises ProgramError;
    after any of these but `?` it is not usable any more. `close` ends the whole process group, whatever it does.
    """

    def __init__(self, command_line: str, startup_seconds: float = 60.0) -> None:
        words = shlex.split(command_line)
        if not words:
            raise TengenError("an empty GTP command line: give a program and its arguments")
        self.command_line = command_line
        self._stderr: deque[str] = deque(maxlen=_LAST_WORDS)
        self._lines: queue.Queue[str | None] = queue.Queue(maxsize=_QUEUE_LINES)
        self._closing = threading.Event()
        self._process = self._spawn(words)
        assert self._process.stdout is not None and self._process.stderr is not None
        self._threads = [
            threading.Thread(target=self._read_stdout, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        try:
            self.name = self.ask("name", seconds=startup_seconds).strip() or words[0]
            self.commands = frozenset(self.ask("list_commands").split())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> GtpClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process id, which is the id of the process group as well."""
        return self._process.pid

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines that the program wrote to stderr, oldest first."""
        return tuple(self._stderr)

    def knows(self, command: str) -> bool:
        return command in self.commands

    def ask(self, command: str, seconds: float = 60.0) -> str:
        """Send one command and return the text of the answer, without `=` and id; at most `seconds` are waited."""
        deadline = time.monotonic() + seconds
        self._send(command)
        first = next((line for line in self._until(deadline, command) if line[:1] in ("=", "?")), None)
        if first is None:
            raise self._error("nonsense", f"no answer to '{command}'")
        lines = [first[1:].lstrip("0123456789")]
        for line in self._until(deadline, command):
            if not line.strip():
                break
            lines.append(line)
        text = "\n".join(lines).strip()
        if first[0] == "?":
            raise self._error("refused", f"'{command}' was answered with '? {text}'")
        return text

    def close(self) -> None:
        """Ask the program to quit, then end its process group; returns within a few seconds. May be called again."""
        if self._closing.is_set():
            return
        with contextlib.suppress(ProgramError):
            self._send("quit")
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._closing.set()
        # The leader is not reaped before the last kill, so its group's number cannot have gone to somebody else.
        for grace, signal_number in ((1.0, signal.SIGTERM), (1.0, signal.SIGKILL)):
            self._threads[0].join(grace)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal_number)
        self._process.wait()
        for thread in self._threads:
            thread.join(1.0)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _spawn(self, words: list[str]) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), _GAMES])
        executable = shutil.which(words[0], path=path)
        if executable is None:
            raise ProgramError(words[0], "not found", "no such program on this machine")
        try:
            return subprocess.Popen(
                [executable, *words[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, "PATH": path},
            )
        except OSError as error:
            raise ProgramError(words[0], "not found", f"cannot be started: {error.strerror}") from error

    def _send(self, command: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._error("died", f"ended before '{command}'") from error

    def _until(self, deadline: float, command: str) -> Iterator[str]:
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise self._error("timeout", f"no answer to '{command}' in time") from None
            if line is None:
                self._lines.put(None)
                raise self._error("died", f"ended during '{command}'")
            yield line
            if time.monotonic() > deadline:
                raise self._error("timeout", f"talked past its time at '{command}'")

    def _error(self, reason: Reason, detail: str) -> ProgramError:
        if reason == "died":
            self._threads[1].join(0.5)  # what it said while dying
        return ProgramError(self.command_line, reason, detail, self.last_words)

    def _read_stdout(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while raw := stream.readline(_LINE_BYTES):
                self._offer(raw.decode("utf-8", "replace").rstrip("\r\n"))
        self._offer(None)

    def _offer(self, line: str | None) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(queue.Full):
                return self._lines.put(line, timeout=0.1)

    def _read_stderr(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while raw := stream.readline(_LINE_BYTES):
                self._stderr.append(raw.decode("utf-8", "replace").rstrip()[:500])
