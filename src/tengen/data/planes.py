"""Plane sets by name: what a network sees of a position. `docs/planes.md` explains every plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.errors import NetworkError

if TYPE_CHECKING:
    from tengen.game import Game

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class PlaneSet:
    """A named table of planes [C, H, W] and scalars [S], in the order in which the encoder writes them."""

    name: str
    planes: tuple[str, ...]
    scalars: tuple[str, ...]


def plane_set_names() -> list[str]:
    """Return the names of all plane sets."""
    return list(_native.plane_set_names())


def plane_set(name: str) -> PlaneSet:
    """Return the plane set of that name; raises NetworkError, listing the names there are, when there is none."""
    try:
        planes, scalars = _native.plane_set(name)
    except ValueError as error:
        raise NetworkError(str(error)) from None
    return PlaneSet(name, tuple(planes), tuple(scalars))


def encode_game(
    planes: PlaneSet | str, game: Game, symmetry: int = 0, edge: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Encode the position of a game for its side to move: planes [C, edge, edge], scalars [S], mask [edge, edge].

    The board is turned by `symmetry` (0..7) and lies at the top-left of a tensor of `edge`, which is the board's size
    unless given. Raises ValueError for an edge that is too small and for a symmetry out of range.
    """
    chosen = plane_set(planes) if isinstance(planes, str) else planes
    width = game.size if edge is None else edge
    out = np.empty((len(chosen.planes), width, width), np.float32)
    scalars = np.empty(len(chosen.scalars), np.float32)
    mask = np.empty((width, width), np.float32)
    _native.encode_game(chosen.name, game._native, symmetry, width, out, scalars, mask)
    return out, scalars, mask
