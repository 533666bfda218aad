"""Tensors in a file, such as a checkpoint: reading runs no code of the file, and a full disk is an OSError."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from tengen.checksums import Integrity, check_seal
from tengen.runs.checkpoints import DamagedCheckpoint

State = dict[str, Any]
"""What a checkpoint holds: tensors and plain values by name."""


def save_tensors(state: Mapping[str, Any], path: Path) -> None:
    """Write what `load_tensors` reads. Raises OSError where it cannot be written."""
    with path.open("wb") as file:  # by its name PyTorch writes itself, and raises RuntimeError without a reason
        try:
            torch.save(state, file)
        except RuntimeError as error:  # PyTorch's end of the archive hides what the file had raised
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise


def load_tensors(path: Path) -> State:
    """What `torch.save` wrote, on the CPU, without code of the file being run. Raises DamagedCheckpoint."""
    try:
        found = check_seal(path, DamagedCheckpoint)
        with zipfile.ZipFile(path) as archive:  # PyTorch does not compare the checksums of its own
            if found is Integrity.UNKNOWN and (wrong := archive.testzip()):
                raise DamagedCheckpoint(f"{path} is damaged: {wrong} has another checksum")
        state: State = torch.load(path, map_location="cpu", weights_only=True)
    except (zipfile.BadZipFile, pickle.UnpicklingError, EOFError, RuntimeError, LookupError) as error:
        raise DamagedCheckpoint(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from error
    return state
