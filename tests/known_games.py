"""Real games that several tests share."""

from __future__ import annotations

import lzma
from pathlib import Path

from tengen.sgf import split_trees

TYGEM = Path(__file__).parent / "data" / "tygem-300.sgf.xz"


def tygem_records() -> list[bytes]:
    """The 300 games of TYGEM, each as SGF."""
    with lzma.open(TYGEM) as stream:
        return list(split_trees(stream))
