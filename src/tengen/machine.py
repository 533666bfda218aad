"""This machine and this process: processor cores, memory, the end of the parent process."""

from __future__ import annotations

import multiprocessing
import platform
import subprocess
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import psutil

Device = Literal["auto", "cpu", "intel-gpu", "cuda", "tensorrt", "rocm", "coreml", "directml", "onnxruntime", "uniform"]
"""What evaluates a network; see tengen.evaluators.devices. auto: the fastest that the machine has; onnxruntime: ONNX
Runtime on the CPU; uniform: nothing, equal probabilities."""


def core_count() -> int:
    """Processor cores that this process may use."""
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):  # not on macOS
        return len(process.cpu_affinity())
    return psutil.cpu_count() or 1


def processor_name() -> str:
    """The model of the processor, as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


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
