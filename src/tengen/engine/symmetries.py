"""The symmetries of a position that is searched, and the images of its moves."""

from __future__ import annotations

from collections.abc import Sequence

from tengen import _native
from tengen.engine.search import MoveRestriction
from tengen.game import Game


def root_symmetries(game: Game, restrictions: Sequence[MoveRestriction]) -> list[int]:
    """The symmetries, but for the identity, under which stones, legal moves and what is restricted stay in place."""
    return _native.root_symmetries(game.native(), [restriction.native() for restriction in restrictions])


def distinct_images(point: int, size: int, symmetries: Sequence[int]) -> dict[int, int]:
    """The images of a point under the identity and these symmetries, each with the first symmetry that gives it."""
    images: dict[int, int] = {}
    for symmetry in (0, *symmetries):
        images.setdefault(_native.transform(point, size, symmetry), symmetry)
    return images
