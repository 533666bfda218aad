"""Atomic writes, and file locks that the system releases when a process ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

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


def try_lock(path: Path) -> BaseFileLock | None:
    """Lock a file, which is made, until `release()` or the end of the process; None where another holder has it.

    Any thread may release the lock. The file itself stays. Raises FileNotFoundError where its folder is missing.
    """
    if not path.parent.is_dir():  # filelock would make it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock of a file for the block; False where another holder has it."""
    lock = try_lock(path)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder, and needs no sync of it
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
