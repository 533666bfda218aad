"""Which machine the figures are of."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import tengen

BUSY = 0.5
"""Load a core above which other work is said to slow the figures down."""


@dataclass(frozen=True)
class Machine:
    """`cores` that this process may use, `memory` in bytes, `load` the processes that wanted a core when we began."""

    tengen: str
    processor: str
    cores: int
    memory: int
    load: float

    @property
    def busy(self) -> bool:
        return self.load > BUSY * self.cores


def this_machine() -> Machine:
    return Machine(
        tengen=tengen.__version__,
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        load=round(os.getloadavg()[0], 1),
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
