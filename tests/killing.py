"""Processes that kill themselves at a chosen change of a file: the same moment however slow the machine is."""

from __future__ import annotations

import itertools
import os
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any


def kill_at(folder: Path, pattern: str = "*", number: int = 1, signum: int = 9) -> None:
    """Have this process send itself a signal just before its `number`-th change of a file in `folder`, from 1.

    Only files whose place in the folder, such as `nets/a.onnx`, fits `pattern` count. Files that native code opens are
    not seen, but their renaming is. The signal is SIGKILL by default, for which Windows has no name.
    """
    changes, start = itertools.count(1), f"{folder}{os.sep}"

    def look(event: str, args: tuple[Any, ...]) -> None:
        writes = event in ("os.rename", "os.remove", "os.mkdir")
        if not (writes or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR))):
            return
        path = str(args[0])
        if path.startswith(start) and fnmatch(path.removeprefix(start), pattern) and next(changes) == number:
            os.kill(os.getpid(), signum)

    sys.addaudithook(look)
