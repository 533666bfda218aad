"""Files that are whole or not there, and locks that end with the process that holds them."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
PARTIAL = ".partial"
"""End of the name of a file that is being written."""


@contextmanager
def write_whole(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Give the temporary path to write; it takes the name `path` once the block has ended.

    Whatever interrupts it, `path` holds what it held before. An error removes what was written. What is `durable` is on
    the disk by then and survives a loss of power too; what is not costs less, and survives the end of the process.
    """
    temporary = path.with_name(path.name + PARTIAL)
    try:
        yield temporary
        if durable:
            _sync(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        _sync(path.parent)


def write_text(path: Path, text: str, *, durable: bool = True) -> Path:
    """Write a text file so that a reader, or a kill, finds the old text or the new one; return `path`."""
    with write_whole(path, durable=durable) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def try_lock(path: Path) -> BinaryIO | None:
    """Make a file and lock it, until it is closed or the process ends; None where another process holds it."""
    file = path.open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock of a file for the block; False where another process holds it."""
    file = try_lock(path)
    try:
        yield file is not None
    finally:
        if file is not None:
            file.close()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
