"""Plays thousands of games natively and by the plain twin and compares rules, counts, ladders and pass-alive areas.

    python tests/equivalence/prove.py --games 10000 --real 1000        (or: make prove)

Random games go through all sizes and all rule sets; game n is the same on every run. Real games come from --records.
Ends with a table of what was compared, or with the first disagreement and the command that shows it alone.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("src", "tests", "tests/equivalence")]

from agreement import ALL_RULES  # noqa: E402
from played_games import random_game, read_real_games, real_game  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402

from tengen.coords import MAX_SIZE  # noqa: E402

ARCHIVE = ROOT.parent / "shared" / "data" / "tygem-9d-2016-07-validation.sgf.xz"
SAMPLE = ROOT / "tests" / "data" / "tygem-300.sgf.xz"
SIZES = range(2, MAX_SIZE + 1)
CHUNK = 25


@cache
def real_games(records: Path, count: int) -> list[list[tuple[int, int]]]:
    return read_real_games(records, count)


def numbered_game(number: int) -> Counter[str]:
    """Random game `number`: 540 in a row go once through every size with every rule set."""
    rng = random.Random(number)
    size = SIZES[number % len(SIZES)]
    rules = ALL_RULES[number // len(SIZES) % len(ALL_RULES)]
    return random_game(size, rules, rng.randrange(30, 60 + size * size), rng)


def play_chunk(kind: str, first: int, count: int, records: Path, of: int) -> Counter[str]:
    tally: Counter[str] = Counter()
    for number in range(first, first + count):
        try:
            if kind == "random":
                tally += numbered_game(number)
            else:
                moves = real_games(records, of)[number]
                tally += real_game(moves, ALL_RULES[number % len(ALL_RULES)], random.Random(number))
        except Exception as error:
            raise AssertionError(f"{kind} game {number}: {error}") from error
    return tally


def chunks(first: int, count: int) -> Iterator[tuple[int, int]]:
    for start in range(first, first + count, CHUNK):
        yield start, min(CHUNK, first + count - start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10_000, help="random games")
    parser.add_argument("--real", type=int, default=1_000, help="real games")
    parser.add_argument("--first", type=int, default=0, help="number of the first random and real game")
    parser.add_argument("--records", type=Path, default=ARCHIVE if ARCHIVE.exists() else SAMPLE, help=".sgf.xz, 19x19")
    parser.add_argument("--jobs", type=int, default=None, help="processes (default: all cores)")
    args = parser.parse_args()
    console = Console()
    end = args.first + args.real
    found = len(real_games(args.records, end)) if args.real else end
    if found < end:
        console.print(f"[yellow]{args.records.name} has only {found} games of more than 20 moves")
    real = max(0, min(found, end) - args.first)
    tasks = [("real", *chunk) for chunk in chunks(args.first, real)]
    tasks += [("random", *chunk) for chunk in chunks(args.first, args.games)]
    tallies: dict[str, Counter[str]] = {"random": Counter(), "real": Counter()}
    started = time.monotonic()
    with ProcessPoolExecutor(args.jobs) as pool:
        waiting = {pool.submit(play_chunk, *task, args.records, end): task[0] for task in tasks}
        try:
            for done in track(as_completed(waiting), "playing", len(waiting), console=console):
                tallies[waiting[done]] += done.result()
        except AssertionError as error:
            pool.shutdown(cancel_futures=True)
            console.print(f"DISAGREEMENT in {error}\n(--first N, --games 1 or --real 1 shows it alone)", markup=False)
            return 1
    for kind, tally in tallies.items():
        line = ", ".join(f"{count:,} {name}" for name, count in tally.items())
        console.print(f"{kind}: {line or 'none'}", highlight=False)
    console.print(f"no disagreement; {(time.monotonic() - started) / 60:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
