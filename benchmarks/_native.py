"""The native benchmark program, and real games for it to measure on."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tengen.data.importer import ImportOptions, import_games
from tengen.data.store import Store
from tengen.errors import TengenError

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "tests" / "data" / "tygem-300.sgf.xz"
MOST_GAMES = 1000


def parser(doc: str | None, store: bool = True) -> argparse.ArgumentParser:
    """The arguments of a benchmark whose docstring is `doc`; its games come from a `store`."""
    made = argparse.ArgumentParser(description=doc and doc.splitlines()[0])
    if store:
        made.add_argument(
            "store", nargs="?", type=_store, metavar="STORE", help="a game store; without it 300 games of the tests"
        )
    return made


def _store(path: str) -> str:
    """The path of a store that opens."""
    try:
        Store.open(Path(path))
    except TengenError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def run(*args: str, games: str = "") -> None:
    """Run `tengen_bench`, whose lines of JSON go to our own output."""
    sys.stdout.flush()
    subprocess.run([program(), *args], input=games, text=True, check=True)


def program() -> Path:
    """The program: `TENGEN_BENCH`, or what was built last below build/."""
    if named := os.environ.get("TENGEN_BENCH"):
        return Path(named)
    built = sorted((ROOT / "build").glob("*/tengen_bench"), key=lambda path: path.stat().st_mtime)
    if not built:
        sys.exit("error: tengen_bench is not built; make bench builds it")
    return built[-1]


def real_games(store: str | None) -> str:
    """Games of a store, or of the 300 that the tests ship: a line each for `tengen_bench`."""
    if store is not None:
        return "\n".join(_lines(Store.open(Path(store))))
    with tempfile.TemporaryDirectory() as folder:
        import_games([SAMPLE], Path(folder) / "store", ImportOptions(workers=1))
        return "\n".join(_lines(Store.open(Path(folder) / "store")))


def _lines(store: Store) -> Iterator[str]:
    """Even games without setup stones, the colors in turn; spread over the store where it holds more than enough."""
    for index in range(0, len(store), max(1, len(store) // MOST_GAMES)):
        row = store.row(index)
        turns = [i % 2 for i in range(len(row.moves))]
        if not len(row.black_stones) and not len(row.white_stones) and row.colors.tolist() == turns:
            yield " ".join(map(str, [row.size, *row.points.tolist()]))
