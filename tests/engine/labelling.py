"""`tengen label` on a store of random games."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tengen.cli.app import main
from tengen.data.record import GameRecord

GAMES = 12


def labelled(record: GameRecord) -> Iterator[int]:
    """The plies of the labelled positions."""
    assert record.visits is not None
    return (ply for ply, moves in enumerate(record.visits) if len(moves))


def label(store: Path, out: Path, *options: str) -> int:
    return main(["label", str(store), "--teacher", "zero-7x7", "--out", str(out), "--quiet", *options])
