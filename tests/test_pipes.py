"""The output of a child process, read as each system can; another system's way is used in the place of this one's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import IO

import pytest

from tengen.pipes import PipeReader

Start = Callable[[str], tuple[PipeReader, IO[bytes], IO[bytes]]]


@pytest.fixture(params=["linux", "darwin", "win32"])
def child_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts Python code, and gives what reads its stderr and stdout on this system."""
    children: list[tuple[subprocess.Popen[bytes], PipeReader]] = []

    def start(code: str) -> tuple[PipeReader, IO[bytes], IO[bytes]]:
        pipe = subprocess.PIPE
        child = subprocess.Popen([sys.executable, "-c", f"import os\n{code}"], stdin=pipe, stdout=pipe, stderr=pipe)
        assert child.stdout and child.stderr
        monkeypatch.setattr(sys, "platform", request.param)
        reader = PipeReader.of(child.stderr, child.stdout)
        children.append((child, reader))
        return reader, child.stderr, child.stdout

    yield start
    for child, reader in children:
        child.kill()
        child.communicate()
        reader.close()
        assert child.stdout and child.stdout.closed and child.stderr and child.stderr.closed


def test_all_output_comes_in_order_and_ends(child_of: Start) -> None:
    reader, stderr, stdout = child_of("for i in range(5000): print(i)\nos.write(2, b'last words')")
    got = {stderr: b"", stdout: b""}
    while not (reader.ended(stderr) and reader.ended(stdout)):
        reader.wait(10)
        for pipe in got:
            got[pipe] += reader.take(pipe)
    assert got == {stderr: b"last words", stdout: "".join(f"{i}\n" for i in range(5000)).encode()}
    reader.wait(10)  # a moment only


def test_a_wait_without_output_ends(child_of: Start) -> None:
    reader, stderr, stdout = child_of("input()")
    reader.wait(0.05)
    assert reader.take(stdout) == b"" and reader.take(stderr) == b"" and not reader.ended(stdout)


def test_a_flood_blocks_the_child(child_of: Start) -> None:
    flood = "while True: sent += os.write(1, b'x' * 4096)"
    reader, stderr, _ = child_of(
        f"sent = 0\nos.set_blocking(1, False)\ntry:\n  {flood}\nexcept BlockingIOError: os.write(2, str(sent).encode())"
    )
    said = b""
    while not reader.ended(stderr):
        reader.wait(10)
        said += reader.take(stderr)
    assert 0 < int(said) < 1 << 18  # what the pipe and one piece hold
