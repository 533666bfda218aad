"""The checkpoints of a run in one folder, by step: the newest are kept, and the newest that can be read is taken."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from tengen.disk import PARTIAL
from tengen.errors import RecipeError
from tengen.runs.folder import numbered

_logger = logging.getLogger(__name__)
_State = TypeVar("_State")


class DamagedCheckpoint(RecipeError):
    """A checkpoint that cannot be read, or whose checksums are wrong."""


def checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """(step, path) of the checkpoints in a folder, oldest first."""
    return numbered(folder, "step-*.ckpt")


def save_checkpoint(folder: Path, step: int, keep: int, write: Callable[[Path], None]) -> None:
    """Have `write(path)` write the checkpoint of a step; the newest `keep` stay.

    What a killed process left half written is removed, and later checkpoints, which were damaged: the run went on from
    an earlier one.
    """
    for number, later in checkpoints(folder):
        if number > step:
            later.unlink()
    write(folder / f"step-{step:08d}.ckpt")
    for left in folder.glob(f"*{PARTIAL}"):
        left.unlink()
    for _, old in checkpoints(folder)[:-keep]:
        old.unlink()


def newest_readable(paths: Iterable[Path], read: Callable[[Path], _State]) -> tuple[Path, _State] | None:
    """(path, state) of the last of these checkpoints that can be read; None without paths.

    Damaged ones are skipped with a warning in the log; raises DamagedCheckpoint where all are.
    """
    damage: DamagedCheckpoint | None = None
    for path in reversed(list(paths)):
        try:
            return path, read(path)
        except DamagedCheckpoint as error:
            _logger.warning("%s; the checkpoint before it is taken", error)
            damage = error
    if damage is not None:
        raise damage
    return None
