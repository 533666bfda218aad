"""`tengen verify`: compare files with the checksums that they were written with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from tengen.checksums import Integrity
from tengen.evaluators.network_file import find_network
from tengen.runs.verify import verify

_DAMAGE = (Integrity.ALTERED, Integrity.MISSING)


def command(
    paths: Annotated[
        list[Path], typer.Argument(help="stores, run folders, match folders, networks (or their names), checkpoints")
    ],
) -> int:
    """Compare files with their checksums (SHA-256): stores, run and match folders, networks and checkpoints.

    Says of each file whether it is intact, altered, missing or without a checksum, which files of earlier versions are.
    The exit status is 1 where a file is altered or missing.
    """
    count: Counter[Integrity] = Counter()
    for path in paths:
        for file, state in verify(path if path.exists() else find_network(str(path))):
            print(f"{state:<20}{file}")
            count[state] += 1
    print(", ".join(f"{count[state]:,} {state}" for state in Integrity))
    return 1 if any(count[state] for state in _DAMAGE) else 0
