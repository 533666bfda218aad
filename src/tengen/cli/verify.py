"""`tengen verify`: compare files with the checksums that they were written with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from tengen.checksums import Integrity
from tengen.errors import NetworkError, TengenError

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
    from tengen.runs.verify import verify

    count: Counter[Integrity] = Counter()
    for path in paths:
        if path.is_dir() and not any(path.iterdir()):
            raise TengenError(
                f"{path} is an empty folder: name a store, a run or match folder, a network, a checkpoint"
            )
    for path in paths:
        for file, state in (found for each in _files(path) for found in verify(each)):
            print(f"{state:<20}{file}")
            count[state] += 1
    print(", ".join(f"{count[state]:,} {state}" for state in Integrity))
    return 1 if any(count[state] for state in _DAMAGE) else 0


def _files(path: Path) -> Iterator[Path]:
    """The path, or the files of what is installed by this name; with a network its int8 file."""
    from tengen.evaluators.installed_networks import UnknownNetwork, default_by_size, find_network, is_playout
    from tengen.evaluators.network_file import SUFFIX, int8_path
    from tengen.evaluators.playout_file import find_playout

    if path.exists():
        yield path
        if path.suffix == SUFFIX and (int8 := int8_path(path)).exists():
            yield int8
    elif is_playout(str(path)):
        yield find_playout(str(path))
    else:
        try:
            networks = [find_network(str(path))]
        except UnknownNetwork as error:
            raise NetworkError(f"{path}: there is no such file, folder or installed network") from error
        for network in [*networks, *default_by_size(path).values()]:
            yield from (file for file in (network, int8_path(network)) if file == network or file.exists())
