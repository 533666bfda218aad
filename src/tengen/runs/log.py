"""Reading the log of a run by its path."""

from pathlib import Path
from typing import Any

from tengen.runs.events import read_events


def read_log(path: Path) -> list[dict[str, Any]]:
    """All whole events of a log."""
    return read_events(path.parent)
