"""Weight files of playout policies, which lie beside the networks, and their cards."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.disk import write_whole
from tengen.errors import NetworkError, os_reason
from tengen.evaluators.installed_networks import PLAYOUT_SUFFIX, find_installed, installed
from tengen.evaluators.network_file import Card, parse_card

STANDARD = "linear-tygem"
"""The file that the playout policy `linear` uses."""

_HEAD = struct.Struct("<8sII")
_MAGIC = b"TENGENLP"


def installed_playouts() -> list[Card]:
    """The cards of the installed playout policies, as `installed_networks.installed` gives those of networks."""
    return [card for _, card in installed(PLAYOUT_SUFFIX, read_playout_card)]


def find_playout(name_or_path: str) -> Path:
    """The file of `linear`, of an installed playout policy by name, or of a path; NetworkError when there is none."""
    name = STANDARD if name_or_path == "linear" else name_or_path
    return find_installed(name, PLAYOUT_SUFFIX, "playout policy")


def read_playout_card(path: str | Path) -> Card:
    """Read the card of a weight file. Raises NetworkError for a file that is missing, damaged or of another kind."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size or not head.startswith(_MAGIC):
                raise NetworkError(f"{path} is no file of linear playout weights: it begins otherwise")
            text = file.read(_HEAD.unpack(head)[2])
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {os_reason(error)}") from error
    return parse_card(text, path)


def read_playout(path: str | Path) -> npt.NDArray[np.int8]:
    """Read and check the weights of a file, in steps of 1 / LINEAR_SCALE. Raises NetworkError as read_playout_card."""
    try:
        steps: npt.NDArray[np.int8] = _native.read_linear_weights(path)
        return steps
    except ValueError as error:
        raise NetworkError(str(error)) from error


def write_playout(path: Path, card: Card, steps: npt.NDArray[np.int8]) -> None:
    """Write weights with their card: whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(path) as temporary:
        _native.write_linear_weights(temporary, card.model_dump_json().encode(), steps)
