"""Batches drawn ahead: in order, bounded, with errors where they belong."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tengen.data import Batch, prefetch


class Source:
    """Numbered batches, with a record of what was asked for."""

    def __init__(self, seconds: float = 0.0, broken: int = -1) -> None:
        self.seconds, self.broken = seconds, broken
        self.asked: list[int] = []
        self._lock = threading.Lock()

    def batch(self, step: int) -> Batch:
        with self._lock:
            self.asked.append(step)
        time.sleep(self.seconds * (1 + step % 3))
        if step == self.broken:
            raise OSError("the disk is gone")
        batch = Batch.empty(1, 1, 1, 1)
        batch.policy[0] = step
        return batch


def test_batches_come_in_order_whatever_thread_draws_them() -> None:
    with prefetch(Source(0.002), start_step=7, depth=5, threads=3) as batches:
        steps = [int(next(batches).policy[0]) for _ in range(20)]
        assert steps == list(range(7, 27)) and batches.step == 27


def test_no_more_than_depth_are_held() -> None:
    source = Source()
    with prefetch(source, depth=3) as batches:
        for asked in ([0, 1, 2], [0, 1, 2, 3]):
            while len(source.asked) < len(asked):
                time.sleep(0.001)
            time.sleep(0.05)
            assert sorted(source.asked) == asked
            next(batches)


def test_waiting_is_measured() -> None:
    with prefetch(Source(0.05), depth=1) as batches:
        for _ in range(3):
            next(batches)
        slow = batches.waited
    with prefetch(Source(), depth=2) as batches:
        for _ in range(3):
            time.sleep(0.02)
            next(batches)
        assert batches.waited < 0.2 < slow


def test_an_error_comes_with_its_batch() -> None:
    with prefetch(Source(broken=1), depth=3) as batches:
        assert np.array_equal(next(batches).policy, [0])
        with pytest.raises(OSError, match="the disk is gone"):
            next(batches)


def test_a_closed_prefetcher_is_exhausted() -> None:
    batches = prefetch(Source())
    batches.close()
    assert list(batches) == []
