"""Batches on their way from a sampler to the network, and the registry of further targets."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tengen.coords import policy_index
from tengen.data.batch import Batch, Rows
from tengen.data.encoder import Target
from tengen.data.prefetcher import BatchSource, Prefetcher
from tengen.data.record import points_of, symmetry_table
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.plugins import Registry


def later_move(store: Store, rows: Rows, edge: int, *, ahead: int) -> npt.NDArray[np.int64]:
    """The policy index [B] of the move that was played `ahead` moves after the next one; -1 where the game has ended.

    The moves are those of the record, whichever side made them.
    """
    found = np.full(len(rows.game), -1, np.int64)
    shard = np.searchsorted(store.starts, rows.game, side="right") - 1
    for number in np.unique(shard):
        columns, here = store.shards[number], np.flatnonzero(shard == number)
        row = rows.game[here] - store.starts[number]
        at = columns.offsets[row] + rows.ply[here] + ahead
        there = at < columns.offsets[row + 1]
        here, row, at = here[there], row[there], at[there]
        point, sizes = points_of(columns.moves[at]), columns.size[row]
        for size in np.unique(sizes).tolist():
            own = sizes == size
            turned = symmetry_table(size)[rows.symmetry[here[own]], point[own]]
            found[here[own]] = policy_index(turned, size, edge)
    return found


MOVE_TARGETS = {f"move{n}": n for n in range(2, 10)}
"""The targets that are moves, policy indices [B], by name: the next moves after the first, which is the policy's."""

TARGETS: Registry[Target] = Registry(
    "target",
    "tengen.targets",
    {name: partial(later_move, ahead=n - 1) for name, n in MOVE_TARGETS.items()},
    RecipeError,
)
"""Further targets by name; a loss names those that it needs (see `losses.LossTerm`)."""


def targets_named(names: Collection[str]) -> dict[str, Target]:
    """The registered targets of these names. Raises RecipeError for an unknown one."""
    return {name: TARGETS[name] for name in names}


class TensorBatch(NamedTuple):
    """A `tengen.data.batch.Batch` as tensors, field by field."""

    planes: Tensor
    scalars: Tensor
    mask: Tensor
    policy: Tensor
    value: Tensor
    score: Tensor
    ownership: Tensor
    weight: Tensor
    target: Tensor | None = None
    reply: Tensor | None = None
    extra: Mapping[str, Tensor] = {}

    @staticmethod
    def of(batch: Batch, pinned: bool = False) -> "TensorBatch":
        """Shares memory with the batch, except the planes, which become channels-last (measured: a fifth faster).

        With `pinned` all is copied to memory from which a GPU fetches it while it computes, the planes as they are.
        """
        arrays = {name: getattr(batch, name) for name in TensorBatch._fields if name != "extra"}
        fields = {name: torch.from_numpy(array) for name, array in arrays.items() if array is not None}
        extra = {name: torch.from_numpy(array) for name, array in batch.extra.items()}
        if pinned:
            fields, extra = ({name: one.pin_memory() for name, one in part.items()} for part in (fields, extra))
        else:
            fields["planes"] = fields["planes"].contiguous(memory_format=torch.channels_last)
        return TensorBatch(**fields, extra=extra)


class BatchStream:
    """The batches of steps `first`, `first + 1`, ... without end, drawn by a thread up to `ahead` steps early.

    For a `device` that is a GPU two threads draw them, into pinned memory.
    """

    def __init__(
        self, source: BatchSource[Batch], first: int, ahead: int = 2, device: torch.device | None = None
    ) -> None:
        self._source = source
        self._first = first
        self._ahead = ahead
        self._pinned = device is not None and device.type == "cuda"
        self._waited = 0.0

    def __iter__(self) -> Iterator[TensorBatch]:
        with Prefetcher(self, self._first, self._ahead, threads=2 if self._pinned else 1) as batches:
            for batch in batches:
                self._waited += batches.waited
                batches.waited = 0.0
                yield batch

    def batch(self, step: int) -> TensorBatch:
        """Batch number `step` >= 0."""
        return TensorBatch.of(self._source.batch(step), self._pinned)

    def take_waited(self) -> float:
        """Seconds of waiting since the last call."""
        waited, self._waited = self._waited, 0.0
        return waited
