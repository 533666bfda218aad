"""The wire of a GTP process: standard output kept for answers alone, standard input read aside."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from tengen.gtp.lines import Lines, read_lines


def open_channel() -> tuple[Lines, Callable[[str], None]]:
    """The lines of standard input, and a function that writes answers to what standard output was when called.

    From now on everything else that this process prints, in Python or in a library beneath it, goes to standard error.
    """
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)
    lines = Lines()
    read_lines(0, lines)

    def write(text: str) -> None:
        rest = text.encode("utf-8", errors="surrogateescape")
        while rest:
            rest = rest[os.write(answers, rest) :]

    return lines, write
