"""Network files of other programs: KataGo's and Leela Zero's. No PyTorch.

What is here is asked of every network; the formats themselves are imported when one is read.
"""

import gzip
import re
import zlib
from pathlib import Path
from typing import IO, Literal

DEFAULT_PROFILE = "rank_9d"
"""The profile of human-style networks, where none is named."""
KATAGO_SUFFIXES = (".bin.gz", ".txt.gz", ".bin", ".txt")

_HEAD = 4096  # bytes, with the first layer of any network of KataGo
_LEELA_ZERO = re.compile(rb"[12][ \t]*\r?\n")
_KATAGO = re.compile(rb"\s*[!-~]{1,200}\s+\d{1,6}\s+\d+\s+\d+\s")  # the name, the format, planes and scalars


def is_katago_file(path: str | Path) -> bool:
    """Whether the name ends like that of a KataGo network."""
    return str(path).lower().endswith(KATAGO_SUFFIXES)


def open_network(path: str | Path) -> IO[bytes] | gzip.GzipFile:
    """Open a file of KataGo or Leela Zero, plain or compressed with gzip, which its first bytes decide."""
    with Path(path).open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else Path(path).open("rb")


def network_format(path: str | Path) -> Literal["katago", "leela-zero", ""]:
    """Whose network a file has, by its first lines whatever its name; empty for any other and for one that cannot be
    read."""
    try:
        if not Path(path).is_file():
            return ""
        with open_network(path) as file:
            head = file.read(_HEAD)
    except (OSError, ValueError, EOFError, zlib.error):
        return ""
    if _LEELA_ZERO.match(head):
        return "leela-zero"
    return "katago" if _KATAGO.match(head) else ""


def has_binary_weights(file: IO[bytes] | gzip.GzipFile) -> bool:
    """Whether an open network of KataGo has binary weights, and not decimal numbers. The file is at its start again."""
    head = file.read(_HEAD)
    file.seek(0)
    return b"@BIN@" in head
