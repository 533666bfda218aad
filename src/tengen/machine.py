"""This machine and this process: processor cores, memory, the end of the parent process."""

from __future__ import annotations

import multiprocessing
import platform
import re
import subprocess
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import psutil


def core_count() -> int:
    """Processor cores that this process may use."""
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):  # not on macOS
        return len(process.cpu_affinity())
    return psutil.cpu_count() or 1


@cache
def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:  # no Linux
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1] if found else platform.machine()


@cache
def source_commit() -> str:
    """The commit of the code, with `+` where files differ from it; empty for an installed package."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


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
