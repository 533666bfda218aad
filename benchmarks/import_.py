"""How fast records become a store, against sgfmill reading the same games and nothing more.

    python benchmarks/import_.py [PATH...] [--no-ownership] [--workers N]

One line of JSON. `games_a_second` is by the clock, with all workers; `games_a_cpu_second` by processor time of parent
and workers together, so that other work on the machine counts little; `against_sgfmill` is the ratio of the latter to
sgfmill on one core in the same run. Without PATH the games that the tests ship are imported.
"""

import argparse
import itertools
import json
import resource
import tempfile
import time
from pathlib import Path

import psutil
from _native import SAMPLE
from sgfmill import sgf

from tengen.data.importer import ImportOptions, import_games
from tengen.data.rows import RowOptions
from tengen.data.sources import Sources, Tree
from tengen.machine import core_count

BASELINE_GAMES = 1000


def cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def sgfmill_rate(paths: list[str]) -> float:
    """Games that sgfmill parses a second of processor time: the first ones of the paths."""
    trees = (tree.data for tree in Sources(paths).trees() if isinstance(tree, Tree))
    games = list(itertools.islice(trees, BASELINE_GAMES))
    start = time.process_time()
    for data in games:
        sgf.Sgf_game.from_bytes(data)
    return len(games) / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=[str(SAMPLE)])
    parser.add_argument("--no-ownership", action="store_true")
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    baseline = sgfmill_rate(options.paths)
    rows = RowOptions(playouts=0 if options.no_ownership else RowOptions.playouts)
    with tempfile.TemporaryDirectory() as folder:
        before = cpu_seconds()
        report = import_games(options.paths, Path(folder) / "store", ImportOptions(rows, workers=options.workers))
        used = cpu_seconds() - before
    figures = {
        "benchmark": "import",
        "ownership": not options.no_ownership,
        "cores": core_count(),
        "load": round(psutil.getloadavg()[0], 1),
        "games": report.games,
        "kept_percent": round(100 * report.kept / report.games, 3),
        "bytes_a_game": round(report.bytes / report.kept),
        "games_a_second": round(report.rate),
        "games_a_cpu_second": round(report.games / used),
        "sgfmill_games_a_cpu_second": round(baseline),
        "against_sgfmill": round(report.games / used / baseline, 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
