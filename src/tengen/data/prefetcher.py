"""Drawing batches ahead of the training loop, in threads."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, Self, TypeVar

BatchT_co = TypeVar("BatchT_co", covariant=True)


class BatchSource(Protocol[BatchT_co]):
    """A source of numbered batches, such as `Sampler`."""

    def batch(self, step: int) -> BatchT_co:
        """Return batch number `step`."""
        ...


BatchT = TypeVar("BatchT")


class Prefetcher(Generic[BatchT]):
    """An endless iterator over batches in the order of their steps, drawn ahead by threads.

    Holds up to `depth` batches. `step` is the number of the next batch, `waited` the seconds that the consumer spent
    waiting so far. An error in drawing a batch is raised whenever that batch is asked for, and no other follows. Close
    it, or use it as a context manager. Raises ValueError for a depth or a number of threads below 1.
    """

    def __init__(
        self,
        source: BatchSource[BatchT],
        start_step: int = 0,
        depth: int = 4,
        threads: int = 1,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        if depth < 1 or threads < 1:
            raise ValueError(f"{threads} threads cannot draw {depth} batches ahead: give 1 or more of both")
        self.step = start_step
        self.waited = 0.0
        self._now = now
        self._draw: Callable[[int], BatchT] = source.batch
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tengen-prefetch")
        self._ahead: deque[Future[BatchT]] = deque(self._pool.submit(self._draw, start_step + i) for i in range(depth))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> BatchT:
        if not self._ahead:
            raise StopIteration
        started = self._now()
        batch = self._ahead[0].result()  # a batch that fails stays the next one
        self._ahead.popleft()
        self.waited += self._now() - started
        self._ahead.append(self._pool.submit(self._draw, self.step + len(self._ahead) + 1))
        self.step += 1
        return batch

    def close(self) -> None:
        """Stop drawing; the iterator is exhausted from now on."""
        self._ahead.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
