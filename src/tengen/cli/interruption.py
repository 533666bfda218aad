"""The message of a long command that Ctrl-C interrupts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def report_interruption(folder: Path, what: str = "run") -> Iterator[None]:
    """On Ctrl-C print where the run (`what`) is and how to continue it, and raise the KeyboardInterrupt again."""
    try:
        yield
    except KeyboardInterrupt:
        where = f"the {what} is in {folder}; the same command continues it"
        print(f"stopped; {where}" if folder.exists() else "stopped before anything was written", file=sys.stderr)
        raise
