"""One writer of a store at a time."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tengen.disk import try_lock
from tengen.errors import StoreError


class Lock:
    """Held by the one process that writes the store at `path`, until it is released or the process ends.

    Raises StoreError when another process holds it. The lock is a hidden file beside the store.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        lock = try_lock(self._path)
        if lock is None:
            raise StoreError(f"{path}: another process is writing this store; wait for it to end")
        self._lock = lock

    def release(self) -> None:
        """Let others write, and remove the file: a holder that opened it before locks a new one."""
        if self._lock.is_locked:
            with suppress(OSError):  # Windows keeps a file that is open
                self._path.unlink()
            self._lock.release()
