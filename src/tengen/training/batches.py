"""Batches on their way from the sampler to the network."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.utils.data import IterableDataset

from tengen.data.batch import Batch


class BatchSource(Protocol):
    """What gives the batch of a step, as a pure function of the step."""

    def batch(self, step: int) -> Batch: ...


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

    @staticmethod
    def of(batch: Batch) -> "TensorBatch":
        """Shares memory with the batch, but for the planes, which become channels-last (measured: a fifth faster)."""
        fields = {name: torch.from_numpy(getattr(batch, name)) for name in TensorBatch._fields}
        fields["planes"] = fields["planes"].contiguous(memory_format=torch.channels_last)
        return TensorBatch(**fields)


class BatchStream(IterableDataset[TensorBatch]):
    """The batches of steps `first`, `first + 1`, ... without end, drawn by one thread up to `ahead` steps early.

    `waited` counts the seconds that the reader stood still for data.
    """

    def __init__(self, source: BatchSource, first: int, ahead: int = 2) -> None:
        self._source = source
        self._first = first
        self._ahead = ahead
        self.waited = 0.0

    def __iter__(self) -> Iterator[TensorBatch]:
        if self._ahead == 0:
            return (self._draw(step) for step in _count(self._first))
        return self._prefetched()

    def _prefetched(self) -> Iterator[TensorBatch]:
        pool = ThreadPoolExecutor(1, thread_name_prefix="batches")
        try:
            queue: list[Future[TensorBatch]] = [
                pool.submit(self._draw, step) for step in range(self._first, self._first + self._ahead)
            ]
            for step in _count(self._first + self._ahead):
                queue.append(pool.submit(self._draw, step))
                start = time.perf_counter()
                batch = queue.pop(0).result()
                self.waited += time.perf_counter() - start
                yield batch
        finally:
            pool.shutdown(cancel_futures=True)

    def _draw(self, step: int) -> TensorBatch:
        return TensorBatch.of(self._source.batch(step))


def _count(step: int) -> Iterator[int]:
    while True:
        yield step
        step += 1
