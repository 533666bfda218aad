"""Batches on their way from the sampler to the network."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import IterableDataset

from tengen.data.batch import Batch, BatchSource, prefetch


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

    @staticmethod
    def of(batch: Batch) -> "TensorBatch":
        """Shares memory with the batch, but for the planes, which become channels-last (measured: a fifth faster)."""
        arrays = {name: getattr(batch, name) for name in TensorBatch._fields}
        fields = {name: torch.from_numpy(array) for name, array in arrays.items() if array is not None}
        fields["planes"] = fields["planes"].contiguous(memory_format=torch.channels_last)
        return TensorBatch(**fields)


class BatchStream(IterableDataset[TensorBatch]):
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
