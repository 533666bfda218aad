"""The inputs and the results of a network for a batch of positions, as numpy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.data.planes import plane_set as find_plane_set
from tengen.game import Game

Floats: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = slice | NDArray[np.intp]
Position: TypeAlias = Game | _native.Game


@dataclass(frozen=True, eq=False)
class InputBatch:
    """N encoded positions, each seen by its side to move; the arrays are float32 and native code writes them.

    planes [N, C, E, E], scalars [N, S], mask [N, E, E] with 1 on the board, which lies at the top-left of the tensor.
    `plane_set` names the encoding.
    """

    plane_set: str
    planes: Floats
    scalars: Floats
    mask: Floats

    @classmethod
    def zeros(cls, plane_set: str, rows: int, edge: int) -> InputBatch:
        """A batch to be written. Raises NetworkError for an unknown plane set."""
        known = find_plane_set(plane_set)
        return cls(
            plane_set,
            np.zeros((rows, len(known.planes), edge, edge), np.float32),
            np.zeros((rows, len(known.scalars)), np.float32),
            np.zeros((rows, edge, edge), np.float32),
        )

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Planes, scalars and mask."""
        return self.planes, self.scalars, self.mask

    @property
    def edge(self) -> int:
        """Rows and columns of the tensors."""
        return int(self.mask.shape[-1])

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The board size [N] of each position."""
        sizes: NDArray[np.intp] = (self.mask[:, 0] > 0).sum(axis=1)
        return sizes

    def __len__(self) -> int:
        return len(self.mask)

    def __getitem__(self, rows: Rows) -> InputBatch:
        """The chosen positions: views of a slice, copies for an array of rows."""
        return InputBatch(self.plane_set, self.planes[rows], self.scalars[rows], self.mask[rows])

    def encode(self, row: int, position: Position, symmetry: int = 0) -> None:
        """Write a position into a row. Raises ValueError for a board that is larger than the tensor."""
        planes, scalars, mask = (array[row] for array in self.arrays)
        find_plane_set(self.plane_set).write_game(position, planes, scalars, mask, symmetry)

    def gather(self, native: _native.Search | _native.SearchPool | _native.SelfPlay, *limits: Any) -> InputBatch:
        """Let a native search write the positions that it needs evaluated; returns the rows that it wrote, as views."""
        count = find_plane_set(self.plane_set).gather(native, self.planes, self.scalars, self.mask, *limits)
        return self if count == len(self.mask) else self[:count]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results for N positions, each seen by its side to move; all arrays are float32 and belong to the caller.

    policy [N, E * E + 1]: probabilities of the board's points (`row * E + col`) and of pass (the last); a row sums to 1
    and is 0 off the board, and 0 for pass where the evaluator does not know it (`has_pass`).
    value [N]: expected result in [-1, 1]. score [N]: expected lead in points, None where the evaluator does not predict
    it. ownership [N, E, E] in [-1, 1], +1 for the side to move, 0 off the board; None likewise.
    """

    policy: Floats
    value: Floats
    score: Floats | None = None
    ownership: Floats | None = None

    @classmethod
    def zeros(cls, rows: int, edge: int, *, score: bool = True, ownership: bool = True) -> Evaluation:
        """Results to be filled in, with or without score and ownership."""
        return cls(
            np.zeros((rows, edge * edge + 1), np.float32),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32) if score else None,
            np.zeros((rows, edge, edge), np.float32) if ownership else None,
        )

    @classmethod
    def joined(cls, parts: Sequence[Evaluation]) -> Evaluation:
        """The rows of all parts, at least one, in order; all must have the same outputs and edge."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(_concatenated(getattr(part, field.name) for part in parts) for field in fields(cls)))

    def __len__(self) -> int:
        return len(self.value)

    def rows(self, chosen: Rows) -> Evaluation:
        """The chosen rows: views of a slice, copies for an array of rows."""
        return Evaluation(
            self.policy[chosen],
            self.value[chosen],
            None if self.score is None else self.score[chosen],
            None if self.ownership is None else self.ownership[chosen],
        )

    def write(self, chosen: Rows, source: Evaluation) -> None:
        """Replace the chosen rows. An output that `source` lacks becomes NaN."""
        for field in fields(self):
            target, column = getattr(self, field.name), getattr(source, field.name)
            if target is not None:
                target[chosen] = np.nan if column is None else column


def softmax(logits: Floats) -> Floats:
    """Softmax over the last axis; an entry of minus infinity gets probability 0."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return result


def evaluation_from_outputs(
    mask: Floats,
    policy: Floats,
    value: Floats | None = None,
    score: Floats | None = None,
    ownership: Floats | None = None,
) -> Evaluation:
    """From the outputs of a network to probabilities and values.

    `policy` are logits [N, E * E + 1] with or [N, E * E] without pass; `value` are logits [N, 3] of win, draw and loss,
    one logit [N, 1] of a win, values [N] in [-1, 1], or None, which gives 0; `score` is [N] or [N, 1] in points,
    `ownership` [N, E, E] in [-1, 1].
    """
    n, points = len(mask), mask[0].size if len(mask) else mask.shape[1] * mask.shape[2]
    logits = np.full((n, points + 1), -np.inf, np.float32)
    on_board = mask.reshape(n, points) > 0
    np.copyto(logits[:, :points], policy[:, :points], where=on_board)
    if policy.shape[1] > points:
        logits[:, points] = policy[:, points]
    outcome = np.zeros(n, np.float32) if value is None else value.astype(np.float32)
    if outcome.ndim == 2 and outcome.shape[1] == 3:
        chances = softmax(outcome)
        outcome = chances[:, 0] - chances[:, 2]
    elif outcome.ndim == 2:
        outcome = np.tanh(outcome / 2)  # 2 sigmoid(x) - 1
    return Evaluation(
        policy=softmax(logits),
        value=np.clip(outcome.reshape(n), -1, 1),
        score=None if score is None else score.astype(np.float32).reshape(n),
        ownership=None if ownership is None else np.clip(ownership.astype(np.float32), -1, 1) * (mask > 0),
    )


def _concatenated(columns: Iterable[Floats | None]) -> Any:
    found = [column for column in columns if column is not None]
    return np.concatenate(found) if found else None
