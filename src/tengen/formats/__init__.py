"""Network files of other programs: KataGo's and Leela Zero's. No PyTorch.

What is here is asked of every network; the formats themselves are imported when one is read.
"""

from pathlib import Path

DEFAULT_PROFILE = "rank_9d"
"""The profile of human-style networks, where none is named."""
KATAGO_SUFFIXES = (".bin.gz", ".txt.gz", ".bin", ".txt")


def is_katago_file(path: str | Path) -> bool:
    """Whether the name ends like that of a KataGo network."""
    return str(path).lower().endswith(KATAGO_SUFFIXES)
