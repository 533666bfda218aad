"""Files that are whole or not there, and one writer at a time."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tengen.errors import StoreError

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
PARTIAL = ".partial"
"""End of the name of a file that is being written."""


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Give the temporary path to write; it takes the name `path`, and is on the disk, once the block has ended.

    Whatever interrupts it, `path` holds what it held before. An error removes what was written.
    """
    temporary = path.with_name(path.name + PARTIAL)
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Lock:
    """Held by the one process that writes the store at `path`, until it is released or the process ends.

    Raises StoreError when another holds it. The lock is a hidden file beside the store.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        while True:
            self._file = self._path.open("wb")
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise StoreError(f"{path}: another process is writing this store; wait for it to end") from None
            if self._is_current():
                return
            self._file.close()

    def release(self) -> None:
        """Let others write."""
        if not self._file.closed:
            self._path.unlink(missing_ok=True)
            self._file.close()

    def _is_current(self) -> bool:
        """Whether the file still lies there: the one who held it before may have removed it since it was opened."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except FileNotFoundError:
            return False
