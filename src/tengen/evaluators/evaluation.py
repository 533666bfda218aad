"""The inputs and the results of a network for a batch of positions, as numpy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.data.planes import plane_set as find_plane_set
from tengen.game import AnyGame

Floats: TypeAlias = NDArray[np.float32]
RowIndex: TypeAlias = slice | NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class InputBatch:
    """N encoded positions, each seen by its side to move; the arrays are float32 and native code writes them.

    planes [N, C, E, E], scalars [N, S], mask [N, E, E] with 1 on the board, which lies at the top-left of the tensor.
    `plane_set` names the encoding. `optimism` [N], 0 to 1, is the share of the optimistic policy in each row, for
    networks that have one; None takes the evaluator's own `policy_optimism` for all.
    """

    plane_set: str
    planes: Floats
    scalars: Floats
    mask: Floats
    optimism: Floats | None = None

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

    def __getitem__(self, rows: RowIndex) -> InputBatch:
        """The chosen positions: views of a slice, copies for an array of rows."""
        optimism = None if self.optimism is None else self.optimism[rows]
        return InputBatch(self.plane_set, self.planes[rows], self.scalars[rows], self.mask[rows], optimism)

    def encode(self, row: int, position: AnyGame, symmetry: int = 0) -> None:
        """Write a position into a row. Raises ValueError for a board that is larger than the tensor."""
        planes, scalars, mask = (array[row] for array in self.arrays)
        find_plane_set(self.plane_set).write_game(position, planes, scalars, mask, symmetry)

    def move(self, start: int, to: int, count: int) -> None:
        """Copy `count` rows from `start` on to `to` and after."""
        if start != to:
            for array in self.arrays if self.optimism is None else (*self.arrays, self.optimism):
                array[to : to + count] = array[start : start + count]

    def gather(self, native: _native.Search | _native.SearchPool | _native.SelfPlay, *limits: Any) -> InputBatch:
        """Let a native search write the positions that it needs evaluated; returns the rows that it wrote, as views."""
        count = find_plane_set(self.plane_set).gather(native, self.planes, self.scalars, self.mask, *limits)
        return self if count == len(self.mask) else self[:count]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results for N positions, each seen by its side to move; all arrays are float32 and belong to the caller.

    policy [N, E * E + 1]: probabilities of the board's points (`row * E + col`) and of pass (the last); a row sums to 1
    and is 0 off the board, and 0 for pass where the evaluator does not know it (`has_pass`).
    value [N]: expected result in [-1, 1]. The others are None where the evaluator does not predict them.
    score [N]: expected final score in points. ownership [N, E, E] in [-1, 1], +1 for the side to move, 0 off the board.

    Networks of KataGo also predict, each [N]: no_result: probability that the game has no result. lead: points that
    would make the game even. score_stdev: standard deviation of the final score. value_error, score_error: expected
    difference of value and score from those that a deeper search finds. time_left: "variance time", how long the
    result stays open.
    """

    policy: Floats
    value: Floats
    score: Floats | None = None
    ownership: Floats | None = None
    no_result: Floats | None = None
    lead: Floats | None = None
    score_stdev: Floats | None = None
    value_error: Floats | None = None
    score_error: Floats | None = None
    time_left: Floats | None = None

    @classmethod
    def zeros(
        cls, rows: int, edge: int, *, score: bool = True, ownership: bool = True, further: Iterable[str] = ()
    ) -> Evaluation:
        """Results to be filled in, with or without score and ownership, and with `further` outputs by name."""
        return cls(
            np.zeros((rows, edge * edge + 1), np.float32),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32) if score else None,
            np.zeros((rows, edge, edge), np.float32) if ownership else None,
            **{name: np.zeros(rows, np.float32) for name in further},
        )

    @classmethod
    def joined(cls, parts: Sequence[Evaluation]) -> Evaluation:
        """The rows of all parts, at least one, in order; all must have the same outputs and edge."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(_concatenated(getattr(part, field.name) for part in parts) for field in fields(cls)))

    def __len__(self) -> int:
        return len(self.value)

    @property
    def further(self) -> list[str]:
        """The names of the outputs beyond policy, value, score and ownership that there are."""
        return [name for name in FURTHER if getattr(self, name) is not None]

    def rows(self, chosen: RowIndex) -> Evaluation:
        """The chosen rows: views of a slice, copies for an array of rows."""
        columns = (getattr(self, field.name) for field in fields(self))
        return Evaluation(*(None if column is None else column[chosen] for column in columns))  # type: ignore[arg-type]

    def write(self, chosen: RowIndex, source: Evaluation) -> None:
        """Replace the chosen rows. An output that `source` lacks becomes NaN."""
        for field in fields(self):
            target, column = getattr(self, field.name), getattr(source, field.name)
            if target is not None:
                target[chosen] = np.nan if column is None else column


FURTHER = tuple(field.name for field in fields(Evaluation))[4:]
"""The outputs that not every network has, all [N]."""


_ROUNDING = 1e-3
"""How far a value may lie beyond -1 and 1."""


def evaluation_fault(found: Evaluation, batch: InputBatch) -> str:
    """What of the results of a batch cannot be right, in words; empty where nothing is seen. NaN is not looked for."""
    if not isinstance(found, Evaluation):
        return f"infer gives {found!r}, no Evaluation"
    rows, edge = len(batch), batch.edge
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys((field.name for field in fields(found)), (rows,))
    shapes |= {"policy": (rows, edge * edge + 1), "ownership": (rows, edge, edge)}
    for name, wanted in shapes.items():
        column = getattr(found, name)
        if np.shape(column) != wanted and not (column is None and name not in ("policy", "value")):
            return f"{name} has the shape {np.shape(column)}, not {wanted}"
    if rows and (minimum := np.min(found.policy)) < 0:
        return f"the policy has {minimum:g}, which is no probability"
    if rows and (maximum := np.abs(found.value).max()) > 1 + _ROUNDING:
        return f"a value is {maximum:g} away from 0, and not within -1 and 1"
    return ""


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
    policy_optimistic: Floats | None = None,
    *,
    optimism: Floats | float = 0.0,
    **further: Floats,
) -> Evaluation:
    """From the outputs of a network to probabilities and values.

    `policy` are logits [N, E * E + 1] with or [N, E * E] without pass; `value` are logits [N, 3] of win, draw and loss,
    one logit [N, 1] of a win, values [N] in [-1, 1], or None, which gives 0; `score` is [N] or [N, 1] in points,
    `ownership` [N, E, E] in [-1, 1]. `policy_optimistic` are further logits, which have the share `optimism`, 0 to 1 or
    [N] of these, of the logits. `further` are outputs of Evaluation by name.
    """
    n, points = len(mask), mask[0].size if len(mask) else mask.shape[1] * mask.shape[2]
    if policy_optimistic is not None and np.any(optimism):
        shares = np.asarray(optimism, np.float32).reshape(-1, 1)
        policy = policy + shares * (policy_optimistic - policy)
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
        **{name: column.astype(np.float32).reshape(n) for name, column in further.items()},
    )


def _concatenated(columns: Iterable[Floats | None]) -> Any:
    found = [column for column in columns if column is not None]
    return np.concatenate(found) if found else None
