"""The controlling end of GTP: one command, one answer in time, whatever the program does."""

from __future__ import annotations

import contextlib
import re
import time
from collections import deque
from collections.abc import Callable
from typing import Literal, NoReturn

from tengen.errors import TengenError, os_reason
from tengen.gtp.process import Child, ProcessOutput
from tengen.machine import split_command_line

FailureReason = Literal["not found", "crash", "timeout", "refused", "invalid answer"]
"""How a program fails."""

_LAST_WORDS = 20  # lines kept of the output that answers no command
_REMARKS = 1000  # lines of stderr that are kept of one command
_LONGEST_LINE = 1 << 16  # a longer one is read in pieces
_SHOWN = 500  # characters of a line that are kept
_LONGEST_ANSWER = 1 << 20
_MAX_CHATTER = 1 << 24  # bytes on stdout outside of answers, in one command
_UNASKED = 64  # reads of the output between two commands
_TICK = 0.25  # seconds between two checks that the program is alive

# `=` or `?`, an id, and the text; some programs forget the space. A banner of `=====` is not an answer.
_ANSWER = re.compile(r"([=?])\d*(?:\s+(.*)|([A-Za-z].*))?")


class ProgramError(TengenError):
    """A GTP program failed. The message begins with the name of the `program`; `last_words` are the last lines of
    output that answer no command."""

    def __init__(self, program: str, reason: FailureReason, detail: str, last_words: tuple[str, ...] = ()) -> None:
        super().__init__(f"{program}: {detail}")
        self.program = program
        self.reason = reason
        self.detail = detail
        self.last_words = last_words


class GtpClient:
    """Speaks GTP 2 with a program started from a command line, in a process group of its own.

    Every call has a deadline. A program that dies, is late, answers `?` or gives no valid answer raises ProgramError;
    after any of these but `?` it is `broken`, and each further call raises the same error. `name` and `version` are
    those that the program gives (`version` may be empty), `called` is the name in errors (the command line unless
    given). `close` ends the program and all its children. `on_process` gets the client once its process runs, before
    the first answer: another thread may `kill` it.
    """

    def __init__(
        self,
        command_line: str,
        startup_seconds: float = 60.0,
        called: str = "",
        on_process: Callable[[GtpClient], object] = lambda client: None,
    ) -> None:
        words = split_command_line(command_line)
        if not words:
            raise TengenError("an empty GTP command line: give a program and its arguments")
        self.called = called or command_line
        self.broken: ProgramError | None = None
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._remarks: deque[str] = deque(maxlen=_REMARKS)
        self._lines, self._stderr_lines = _Lines(), _Lines()
        self._child = self._start(words)
        try:
            on_process(self)
            self.name = self._may_refuse("name", startup_seconds) or words[0]
            self.commands = frozenset(self._may_refuse("list_commands", startup_seconds).split())
            self.version = self._may_refuse("version", startup_seconds) if self.knows("version") else ""
        except ProgramError as error:
            self.close()
            output = f"; its output: {' | '.join(self.last_words[-3:])}" if self.last_words else ""
            within = f" within {startup_seconds:g} s" if error.reason == "timeout" else ""
            raise self.error(error.reason, f"does not start{within}: {error.detail}{output}") from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> GtpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process id, which is the id of the process group as well."""
        return self._child.pid

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines that the program wrote to stderr, or to stdout without answering anything, oldest first."""
        return tuple(self._last_words)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The lines that the program wrote to stderr during the last command, up to its answer."""
        return tuple(self._remarks)

    def knows(self, command: str) -> bool:
        """Whether the program lists this command."""
        return command in self.commands

    def ask(self, command: str, seconds: float = 60.0) -> str:
        """Send one command and return the text of the answer, without `=` and id; at most `seconds` are waited."""
        if self.broken is not None:
            raise self.broken.with_traceback(None)  # which would grow with every command
        try:
            return self._ask(command, seconds)
        except ProgramError as error:
            if error.reason != "refused":
                self.broken = error
            raise

    def close(self) -> None:
        """Ask the program to quit, then end it and all its children; returns within a few seconds. May be repeated."""
        with contextlib.suppress(OSError, ValueError):
            self._child.write("quit")
        self._child.end(at_once=self.broken is not None)

    def kill(self) -> None:
        """End the program at once, from any thread: a command under way fails. `close` is still needed."""
        self._child.kill()

    def reject(self, detail: str) -> NoReturn:
        """Raise ProgramError about an answer that means nothing: the program is `broken`."""
        self.broken = self.error("invalid answer", detail)
        raise self.broken

    def error(self, reason: FailureReason, detail: str) -> ProgramError:
        """What to raise about this program."""
        return ProgramError(self.called, reason, detail, self.last_words)

    def _start(self, words: list[str]) -> Child:
        try:
            return Child(words)
        except FileNotFoundError:
            raise ProgramError(self.called, "not found", f"no program {words[0]!r} that can be run") from None
        except OSError as error:
            raise ProgramError(self.called, "not found", f"cannot be started: {os_reason(error)}") from error

    def _may_refuse(self, command: str, seconds: float) -> str:
        """The answer, empty from a program that does not know the command."""
        try:
            return self.ask(command, seconds)
        except ProgramError as error:
            if error.reason != "refused":
                raise
            return ""

    def _ask(self, command: str, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        self._discard_unasked()
        try:
            self._child.write(command)
        except (OSError, ValueError):
            raise self._lost(f"before '{command}'") from None
        answer, chatter = _Answer(), 0
        while not answer.complete:
            output = self._read_output(deadline, command, begun=answer.begun)
            chatter += len(output.stdout) * (not answer.begun)
            for line in self._lines.feed(output.stdout):
                if not answer.take(line) and line.strip():
                    self._last_words.append(_shown(line))
            if output.closed and not answer.complete:
                raise self._lost(f"during '{command}'")
            if chatter > _MAX_CHATTER or answer.length > _LONGEST_ANSWER:
                raise self.error("invalid answer", f"too much output at '{command}'")
        if answer.refused:
            raise self.error("refused", f"'{command}' was answered with '? {answer.text}'")
        return answer.text

    def _read_output(self, deadline: float, command: str, begun: bool) -> ProcessOutput:
        """Some output; raises ProgramError when the time is up or the program has ended."""
        while (left := deadline - time.monotonic()) > 0:
            exit_status = self._child.exit_status
            output = self._child.read(min(left, _TICK))
            self._note(output)
            if output.stdout or output.closed:
                return output
            if exit_status is not None and not output.stderr:  # its children may hold the pipes open
                raise self._lost(f"during '{command}'")
        how = f"the answer to '{command}' has no empty line at its end" if begun else f"no answer to '{command}'"
        raise self.error("timeout", f"{how} in time")

    def _lost(self, when: str) -> ProgramError:
        """The error of a program that cannot answer any more: how it ended, and its last output."""
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            exit_status = self._child.exit_status
            output = self._child.read(0.02)
            self._note(output)
            if exit_status is not None and not output.stderr:
                break
        return self.error("crash", f"{self._child.exit_status or 'closed its output, but still runs,'} {when}")

    def _note(self, output: ProcessOutput) -> None:
        for line in self._stderr_lines.feed(output.stderr):
            self._remarks.append(line)
            if line.strip():
                self._last_words.append(_shown(line))

    def _discard_unasked(self) -> None:
        """Discard the output between two commands, which must not count as an answer to the next."""
        self._remarks.clear()
        for _ in range(_UNASKED):
            output = self._child.read(0)
            self._note(output)
            self._last_words.extend(_shown(line) for line in self._lines.feed(output.stdout) if line.strip())
            if not output.stdout and not output.stderr:
                break
        self._remarks.clear()


class _Answer:
    """The lines of an answer as they come, up to the empty one."""

    def __init__(self) -> None:
        self.begun = self.complete = self.refused = False
        self.length = 0
        self._parts: list[str] = []

    def take(self, line: str) -> bool:
        """Whether the line belongs to it."""
        if self.complete:
            return False
        if not self.begun:
            found = _ANSWER.fullmatch(line.rstrip())
            if found is None:
                return False
            self.begun, self.refused = True, found[1] == "?"
            line = found[2] or found[3] or ""
        elif not line.strip():
            self.complete = True
        self.length += len(line)
        self._parts.append(line)
        return True

    @property
    def text(self) -> str:
        return "\n".join(self._parts).strip()


class _Lines:
    """Bytes in, whole lines out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            whole, self._rest = [*whole, self._rest], b""
        # GTP: carriage returns and other control characters but the tab are to be ignored.
        return [re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line.decode("utf-8", "replace")) for line in whole]


def _shown(line: str) -> str:
    return line.strip()[:_SHOWN]
