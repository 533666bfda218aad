"""Rates by the clock: what a person at this machine gets."""

from __future__ import annotations

import time
from collections.abc import Callable


def rate(work: Callable[[], int], seconds: float) -> float:
    """Units a second: calls `work`, which returns how many units it did, until `seconds` are over, at least once.

    One call before, which is not counted, lets caches fill and models compile.
    """
    work()
    done, start = 0, time.perf_counter()
    while True:
        done += work()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return done / elapsed
