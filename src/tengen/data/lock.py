"""One writer of a store at a time."""

from __future__ import annotations

import os
from pathlib import Path

from tengen.disk import try_lock
from tengen.errors import StoreError


class Lock:
    """Held by the one process that writes the store at `path`, until it is released or the process ends.

    Raises StoreError when another holds it. The lock is a hidden file beside the store.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        while True:
            file = try_lock(self._path)
            if file is None:
                raise StoreError(f"{path}: another process is writing this store; wait for it to end")
            self._file = file
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
