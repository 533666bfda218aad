"""A child process: its output is read with a time limit, and it ends with all processes that it has started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psutil

from tengen.machine import own_group, process_group
from tengen.pipes import PipeReader

_GAMES = "/usr/games"  # where Debian puts gnugo, often missing from PATH
_CLOCK_STEP = 60.0  # seconds by which the clock of the system may be set back while a child lives
_MARK = "TENGEN_PLAYER"  # in the environment, which children inherit, also in a session of their own


@dataclass(frozen=True)
class ProcessOutput:
    """The output of a child since the last read; `closed` when its stdout has ended."""

    stdout: bytes = b""
    stderr: bytes = b""
    closed: bool = False


class Child:
    """Runs a command in a process group of its own, with pipes to all three streams.

    Little is read before `read` asks, so a child that floods its pipes blocks there and costs no memory. Raises OSError
    when the command cannot be started, FileNotFoundError when it does not exist.
    """

    def __init__(self, words: Sequence[str]) -> None:
        executable, path = find_program(words[0]), _path()
        if executable is None:
            raise FileNotFoundError(words[0])
        self._mark, self._started = uuid.uuid4().hex, time.time()
        marks = f"{os.environ.get(_MARK, '')} {self._mark}".strip()  # a player may itself start players
        try:
            self._process = subprocess.Popen(
                [executable, *words[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PATH": path, _MARK: marks},
                **own_group(),
            )
        except (KeyboardInterrupt, SystemExit):
            self._kill_unknown()
            raise
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._pipes = PipeReader.of(self._stderr, self._stdout)
        self._ended = False

    @property
    def pid(self) -> int:
        """Process id, which is the id of the process group as well."""
        return self._process.pid

    @property
    def exit_status(self) -> str | None:
        """How the process itself ended, as text; None while it lives."""
        status = self._process.poll()
        if status is None or status >= 0:
            return None if status is None else f"ended with status {status}"
        return f"was killed by signal {-status} ({signal.strsignal(-status)})"

    def write(self, line: str) -> None:
        """Send a line to its stdin. Raises OSError (or ValueError, once closed) when the pipe is closed."""
        self._stdin.write(line.encode() + b"\n")
        self._stdin.flush()

    def read(self, seconds: float) -> ProcessOutput:
        """Wait up to `seconds` for output. All output to stderr before that to stdout is included."""
        self._pipes.wait(seconds)
        stderr = self._pipes.take(self._stderr)
        stdout = self._pipes.take(self._stdout)
        return ProcessOutput(stdout, stderr, closed=self._pipes.ended(self._stdout))

    def end(self, grace: float = 1.0, at_once: bool = False) -> None:
        """Close its stdin, then end it and everything that it has started; returns in a few seconds. May be repeated.

        It has `grace` seconds to end by itself, unless `at_once`, and as many after SIGTERM.
        """
        if self._ended:
            return
        with contextlib.suppress(OSError):
            self._stdin.close()
        if not self._gone(0 if at_once else grace):
            self._end_all(psutil.Process.terminate)
            self._gone(grace)
        deadline = time.monotonic() + grace
        while not self._gone(0.05) and time.monotonic() < deadline:
            self._end_all(psutil.Process.kill)
        self._process.wait()
        self._ended = True
        self._pipes.close()

    def kill(self) -> None:
        """Kill it and everything that it has started, from any thread; `end` is still needed."""
        self._end_all(psutil.Process.kill)

    def _kill_unknown(self) -> None:
        """Kill the process that was starting when a signal came: nobody knows it. This one ends, and so may any other
        that it has just started."""
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if child.create_time() > self._started - 1:
                    child.kill()

    def _gone(self, seconds: float) -> bool:
        """Whether the child and all processes it has started end within `seconds`."""
        deadline, pause = time.monotonic() + seconds, 0.005
        while self._process.poll() is None or self._living():
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
        return True

    def _end_all(self, how: Callable[[psutil.Process], None]) -> None:
        for process in self._living():
            with contextlib.suppress(psutil.Error):
                how(process)

    def _living(self) -> list[psutil.Process]:
        """All living processes of its group, or that carry its mark."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):  # it has ended, or belongs to another user
                in_group = process_group(process.pid) == self.pid and process.status() != psutil.STATUS_ZOMBIE
                if in_group or (self._may_have_started(process) and self._mark in process.environ().get(_MARK, "")):
                    found.append(process)
        return found

    def _may_have_started(self, process: psutil.Process) -> bool:
        """Whether a process is young enough: to read the environments of all takes a second on a busy machine."""
        return process.create_time() > self._started - _CLOCK_STEP


def find_program(word: str) -> str | None:
    """The file that a command line with this first word runs; None where there is none."""
    return shutil.which(word, path=_path())


def _path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), _GAMES])
