"""Resources of this machine: processor cores and memory."""

from __future__ import annotations

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
