"""Batches of positions with their targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """The positions of a batch, each [B] int64: game (global row of the store), ply, symmetry 0..7.

    Other rules and komi than those of the record: `other_scoring` [B] bool, territory scoring for area scoring or the
    reverse; `komi_shift` [B] float32, points added to komi, which takes effect only where the score is known.
    """

    game: Ints
    ply: Ints
    symmetry: Ints
    other_scoring: npt.NDArray[np.bool_]
    komi_shift: npt.NDArray[np.float32]

    @classmethod
    def as_played(cls, game: Ints, ply: Ints, symmetry: Ints) -> Rows:
        """Positions under the rules and komi of their games."""
        return cls(game, ply, symmetry, np.zeros(len(game), np.bool_), np.zeros(len(game), np.float32))

    def first(self, count: int) -> Rows:
        """The first `count` positions, or all where there are fewer."""
        return Rows(*(getattr(self, field.name)[:count] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Batch:
    """Positions of one training step, batch axis [B] first. H = W is the edge, A = H * W + 1 with pass last.

    All values are for the side to move. NaN is unknown.
    """

    planes: Floats
    """[B, C, H, W]; 0 off the board."""
    scalars: Floats
    """[B, S]"""
    mask: Floats
    """[B, H, W]: 1 on the board, 0 beyond."""
    policy: npt.NDArray[np.int64]
    """[B]: policy index of the move that was played, 0 <= index < A; -1 where none is learned, as at the end of a
    game."""
    value: Floats
    """[B]: 1 the side to move wins, -1 it loses, 0 a draw."""
    score: Floats
    """[B]: points by which the side to move wins."""
    ownership: Floats
    """[B, H, W]: 1 own, -1 the opponent's, 0 neutral; NaN off the board."""
    weight: Floats
    """[B]: weight of the position in the loss; 1 unless the store has another."""
    target: Floats | None = None
    """[B, A]: policy target: shares of the recorded visits or labels, of a `LabelSampler`, else 1 for the move that was
    played; rows of 0 where `policy` is -1."""
    reply: Floats | None = None
    """[B, A]: the same for the opponent's next move; rows of 0 where there is none."""
    extra: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """[B, ...] by name: registered targets of the losses; see tengen.training.batches.TARGETS."""

    def __len__(self) -> int:
        return len(self.policy)

    def __repr__(self) -> str:
        size, channels, edge = self.planes.shape[:3]
        return f"<Batch of {size} positions, {channels} planes {edge}x{edge}, {self.scalars.shape[1]} scalars>"

    @classmethod
    def empty(cls, size: int, channels: int, scalars: int, edge: int, targets: bool = False) -> Batch:
        """Allocate a batch with undefined contents; with `targets`, also `target` and `reply`."""
        moves = (size, edge * edge + 1)
        return cls(
            planes=np.empty((size, channels, edge, edge), np.float32),
            scalars=np.empty((size, scalars), np.float32),
            mask=np.empty((size, edge, edge), np.float32),
            policy=np.empty(size, np.int64),
            value=np.empty(size, np.float32),
            score=np.empty(size, np.float32),
            ownership=np.empty((size, edge, edge), np.float32),
            weight=np.empty(size, np.float32),
            target=np.empty(moves, np.float32) if targets else None,
            reply=np.empty(moves, np.float32) if targets else None,
        )

    @classmethod
    def join(cls, parts: Sequence[Batch]) -> Batch:
        """Concatenate batches of the same shapes."""
        names = [field.name for field in fields(cls) if field.name != "extra"]
        columns: dict[str, Any] = {name: [getattr(part, name) for part in parts] for name in names}
        joined: dict[str, Any] = {
            name: None if column[0] is None else np.concatenate(column) for name, column in columns.items()
        }
        extra = {name: np.concatenate([part.extra[name] for part in parts]) for name in parts[0].extra}
        return cls(**joined, extra=extra)
