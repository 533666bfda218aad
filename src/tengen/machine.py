"""This machine and this process: processor cores, memory, the end of the parent process."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable

import psutil


def core_count() -> int:
    """Processor cores that this process may use."""
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):  # not on macOS
        return len(process.cpu_affinity())
    return psutil.cpu_count() or 1


def available_memory() -> int:
    """Bytes that a process can still allocate without swapping."""
    return int(psutil.virtual_memory().available)


def total_memory() -> int:
    """Bytes of memory that the machine has."""
    return int(psutil.virtual_memory().total)


def resident_memory() -> int:
    """Bytes of memory that this process holds now."""
    return int(psutil.Process().memory_info().rss)


def when_parent_ends(action: Callable[[], None]) -> None:
    """Call `action` in a thread of this worker process when its parent ends for any reason, killed or not."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        action()

    threading.Thread(target=watch, name="tengen-parent", daemon=True).start()
