"""One writer of a store at a time."""

from __future__ import annotations

from pathlib import Path

from tengen.disk import try_lock
from tengen.errors import StoreError


class Lock:
    """Held by the one process that writes the store at `path`, until it is released or the process ends.

    Raises StoreError when another process holds it. The lock is a hidden file beside the store.
    """

    def __init__(self, path: Path) -> None:
        lock = try_lock(path.with_name(f".{path.name}.lock"))
        if lock is None:
            raise StoreError(f"{path}: another process is writing this store; wait for it to end")
        self._lock = lock

    def release(self) -> None:
        """Let others write."""
        self._lock.release()
