"""A child process: its output is read with a time limit, and it ends with all processes that it has started."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_GAMES = "/usr/games"  # where Debian puts gnugo, often missing from PATH
_READ = 1 << 16
_PROC = Path("/proc")
_MARK = "TENGEN_PLAYER"  # in the environment, which children inherit, also in a session of their own


@dataclass(frozen=True)
class ProcessOutput:
    """What a child wrote since the last read; `closed` when its stdout has ended."""

    stdout: bytes = b""
    stderr: bytes = b""
    closed: bool = False


class Child:
    """Runs a command in a process group of its own, with pipes to all three streams.

    Only `read` reads, so a child that floods its pipes blocks there and costs neither memory nor a thread. Raises
    OSError when the command cannot be started, FileNotFoundError when it does not exist.
    """

    def __init__(self, words: Sequence[str]) -> None:
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), _GAMES])
        executable = shutil.which(words[0], path=path)
        if executable is None:
            raise FileNotFoundError(words[0])
        self._mark = uuid.uuid4().hex
        marks = f"{os.environ.get(_MARK, '')} {self._mark}".strip()  # a player may itself start players
        self._process = subprocess.Popen(
            [executable, *words[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PATH": path, _MARK: marks},
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._open = selectors.DefaultSelector()
        for stream in (self._stderr, self._stdout):
            os.set_blocking(stream.fileno(), False)
            self._open.register(stream, selectors.EVENT_READ)
        self._ended = False

    @property
    def pid(self) -> int:
        """Process id, which is the id of the process group as well."""
        return self._process.pid

    @property
    def exit_status(self) -> str | None:
        """How the process itself ended, as text; None while it lives."""
        # Not reaped before `end`, so that no other process can get its id or the id of its group.
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) if not self._ended else None
        if found is None:
            return "was ended" if self._ended else None
        if found.si_code == os.CLD_EXITED:
            return f"ended with status {found.si_status}"
        return f"was killed by signal {found.si_status} ({signal.strsignal(found.si_status)})"

    def write(self, line: str) -> None:
        """Send a line to its stdin. Raises OSError (or ValueError, once closed) when nobody can read it."""
        self._stdin.write(line.encode() + b"\n")
        self._stdin.flush()

    def read(self, seconds: float) -> ProcessOutput:
        """Wait up to `seconds` for output. What it wrote to stderr is never older than what it wrote to stdout."""
        if not self._open.get_map():
            time.sleep(min(max(seconds, 0.0), 0.01))
        else:
            self._open.select(max(seconds, 0.0))
        stderr = self._read(self._stderr)
        stdout = self._read(self._stdout)
        return ProcessOutput(
            stdout, stderr, closed=self._stdout not in {key.fileobj for key in self._open.get_map().values()}
        )

    def end(self, grace: float = 1.0, hopeless: bool = False) -> None:
        """Close its stdin, then end it and everything that it has started; returns in a few seconds. May be repeated.

        It has `grace` seconds to end by itself, unless that is `hopeless`, and as many after SIGTERM.
        """
        if self._ended:
            return
        with contextlib.suppress(OSError):
            self._stdin.close()
        if not self._gone(0 if hopeless else grace):
            self._signal(signal.SIGTERM)
            self._gone(grace)
        deadline = time.monotonic() + grace
        self._signal(signal.SIGKILL)  # the group, also where there is no /proc to list the processes left
        while not self._gone(0.05) and time.monotonic() < deadline:
            self._signal(signal.SIGKILL)
        self._process.wait()
        self._ended = True
        self._open.close()
        self._stdout.close()
        self._stderr.close()

    def _read(self, stream: object) -> bytes:
        keys = [key for key in self._open.get_map().values() if key.fileobj is stream]
        if not keys:
            return b""
        try:
            found = os.read(keys[0].fd, _READ)
        except BlockingIOError:
            return b""
        except OSError:
            found = b""
        if not found:
            self._open.unregister(keys[0].fileobj)
        return found

    def _gone(self, seconds: float) -> bool:
        """Whether the child and all processes it has started end within `seconds`."""
        deadline, pause = time.monotonic() + seconds, 0.005
        while self.exit_status is None or any(self._descendants()):
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
        return True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
        for pid in self._descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _descendants(self) -> Iterator[int]:
        """All living processes of its group, or that carry its mark; none where there is no /proc."""
        if not _PROC.is_dir():
            return
        for entry in _PROC.iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    state, _, group = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
                    alive = state not in "ZX"
                    if alive and (int(group) == self.pid or self._mark.encode() in (entry / "environ").read_bytes()):
                        yield int(entry.name)
