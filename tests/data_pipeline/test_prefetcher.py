"""Batches drawn ahead: in order, bounded, with errors where they belong."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tengen.data import Batch, Prefetcher


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
    with Prefetcher(Source(0.002), start_step=7, depth=5, threads=3) as batches:
        steps = [int(next(batches).policy[0]) for _ in range(20)]
        assert steps == list(range(7, 27)) and batches.step == 27


def test_after_the_end_no_thread_draws() -> None:
    source = Source(0.05)  # slow: a busy machine may take long to close
    with Prefetcher(source, depth=6, threads=2) as batches:
        next(batches)
    asked = len(source.asked)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tengen-prefetch")]
    assert asked < 7, "those that wait are not drawn any more"
    with pytest.raises(StopIteration):
        next(batches)


def test_no_more_than_depth_are_held() -> None:
    source = Source()
    with Prefetcher(source, depth=3) as batches:
        for asked in ([0, 1, 2], [0, 1, 2, 3]):
            while len(source.asked) < len(asked):
                time.sleep(0.001)
            time.sleep(0.05)
            assert sorted(source.asked) == asked
            next(batches)


def test_waiting_is_measured() -> None:
    class Slow(Source):
        """Takes half a second of the clock for a batch, all of it while the consumer waits."""

        def batch(self, step: int) -> Batch:
            waits.acquire()
            clock[0] += 0.5
            return super().batch(step)

    def now() -> float:
        """Read before and after each wait."""
        reads.append(clock[0])
        if len(reads) % 2:
            waits.release()
        return reads[-1]

    clock, waits = [0.0], threading.Semaphore(0)
    reads: list[float] = []
    with Prefetcher(Slow(), depth=1, now=now) as batches:
        for _ in range(3):
            next(batches)
        assert batches.waited == 1.5
        waits.release()  # for the batch that is drawn ahead


def test_what_the_consumer_does_between_two_batches_is_no_waiting() -> None:
    clock = [0.0]
    with Prefetcher(Source(), depth=2, now=lambda: clock[0]) as batches:
        for _ in range(3):
            clock[0] += 1
            next(batches)
        assert batches.waited == 0


def test_an_error_comes_with_its_batch() -> None:
    with Prefetcher(Source(broken=1), depth=3) as batches:
        assert np.array_equal(next(batches).policy, [0])
        for _ in range(2):  # no other batch takes its place
            with pytest.raises(OSError, match="the disk is gone"):
                next(batches)
            assert batches.step == 1


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"threads": 0}])
def test_a_prefetcher_without_batches_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="give 1 or more of both"):
        Prefetcher(Source(), **wrong)


def test_a_closed_prefetcher_is_exhausted() -> None:
    batches = Prefetcher(Source())
    batches.close()
    assert list(batches) == []
