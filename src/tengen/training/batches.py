"""Batches on their way from a sampler to the network, and the registry of further targets."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from tengen.data.batch import Batch, BatchSource, Floats, Rows, prefetch
from tengen.data.sampler import Sampler
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.plugins import Registry

Target = Callable[[Store, Rows, int], Floats]
"""From (store, positions, edge of the tensors) to an array [B, ...] for the losses. A target with a value a point
applies `rows.symmetry` itself."""

TARGETS: Registry[Target] = Registry("target", "tengen.targets", {}, RecipeError)
"""Further targets by name; a loss names those that it needs (see `losses.LossTerm`)."""


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
    def of(batch: Batch) -> "TensorBatch":
        """Shares memory with the batch, except the planes, which become channels-last (measured: a fifth faster)."""
        arrays = {name: getattr(batch, name) for name in TensorBatch._fields if name != "extra"}
        fields = {name: torch.from_numpy(array) for name, array in arrays.items() if array is not None}
        fields["planes"] = fields["planes"].contiguous(memory_format=torch.channels_last)
        return TensorBatch(**fields, extra={name: torch.from_numpy(array) for name, array in batch.extra.items()})


class WithTargets:
    """The batches of a sampler with registered targets in `Batch.extra`."""

    def __init__(self, sampler: Sampler, names: Collection[str]) -> None:
        self._sampler = sampler
        self._targets = {name: TARGETS[name] for name in names}

    def batch(self, step: int) -> Batch:
        rows = self._sampler.rows(step)
        store, edge = self._sampler.store, self._sampler.edge
        extra = {name: target(store, rows, edge) for name, target in self._targets.items()}
        return replace(self._sampler.encode(rows), extra=extra)


class BatchStream:
    """The batches of steps `first`, `first + 1`, ... without end, drawn by a thread up to `ahead` steps early."""

    def __init__(self, source: BatchSource, first: int, ahead: int = 2) -> None:
        self._source = source
        self._first = first
        self._ahead = ahead
        self._waited = 0.0

    def __iter__(self) -> Iterator[TensorBatch]:
        with prefetch(self._source, self._first, self._ahead) as batches:
            for batch in batches:
                self._waited += batches.waited
                batches.waited = 0.0
                yield TensorBatch.of(batch)

    def take_waited(self) -> float:
        """Seconds of waiting since the last call."""
        waited, self._waited = self._waited, 0.0
        return waited
