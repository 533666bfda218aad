"""What a long command says when it is stopped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def told_when_stopped(folder: Path) -> Iterator[None]:
    """On Ctrl-C say that the run in `folder` is safe and how it goes on, before the interruption goes its way."""
    try:
        yield
    except KeyboardInterrupt:
        where = f"the run is in {folder}, and the same command goes on with it"
        print(f"stopped; {where}" if folder.exists() else "stopped before anything was written", file=sys.stderr)
        raise
