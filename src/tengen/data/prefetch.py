"""Batches drawn ahead of the training loop."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Protocol, Self

from tengen.data.batch import Batch


class BatchSource(Protocol):
    """Anything whose batches are numbered; `Sampler` is one."""

    def batch(self, step: int) -> Batch:
        """Return batch number `step`."""
        ...


class Prefetcher:
    """An endless iterator over batches in the order of their steps, drawn ahead by threads.

    Holds at most `depth` batches. `step` is the number of the batch that comes next, `waited` the seconds that the
    consumer spent waiting so far. An error in drawing a batch is raised where that batch is due. Close it, or use it
    as a context manager.
    """

    def __init__(self, source: BatchSource, start_step: int = 0, depth: int = 4, threads: int = 1) -> None:
        self.step = start_step
        self.waited = 0.0
        self._draw: Callable[[int], Batch] = source.batch
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tengen-prefetch")
        self._ahead: deque[Future[Batch]] = deque(self._pool.submit(self._draw, start_step + i) for i in range(depth))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        if not self._ahead:
            raise StopIteration
        started = time.perf_counter()
        batch = self._ahead.popleft().result()
        self.waited += time.perf_counter() - started
        self._ahead.append(self._pool.submit(self._draw, self.step + len(self._ahead) + 1))
        self.step += 1
        return batch

    def close(self) -> None:
        """Stop drawing; the iterator is exhausted from now on."""
        self._ahead.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def prefetch(source: BatchSource, start_step: int = 0, depth: int = 4, threads: int = 1) -> Prefetcher:
    """Start to draw the batches from `start_step` on; see `Prefetcher`."""
    return Prefetcher(source, start_step, depth, threads)
