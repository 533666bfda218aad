"""A pool of games against one game alone: visits a second with the uniform evaluator, one line of JSON a setting.

    python benchmarks/pool.py [--seconds 1] [--games 256]

Positions are encoded, so that this is what gathering costs beside a network. `visits_per_cpu_second` is by processor
time of all threads, so that other work on the machine counts little, and so is `against_alone`, the ratio to a single
game that evaluates one position at a time in the same run; `visits_per_second` is by the clock.
"""

import argparse
import json
import time

from tengen.engine.params import SearchParams
from tengen.engine.pool import SearchPool
from tengen.engine.search import TreeSearch
from tengen.evaluators import UniformEvaluator
from tengen.game import Game
from tengen.machine import core_count

SIZES = (7, 9, 19)
VISITS = 64  # a move, after which a game begins again


def alone(size: int, seconds: float) -> float:
    """Visits a second of processor time."""
    search = TreeSearch(UniformEvaluator(), SearchParams(), batch=1)
    visits, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        search.set_root(Game(size, komi=visits // VISITS))  # another komi, so that no tree is kept
        visits += search.run(VISITS)
    return visits / (time.process_time() - start)


def pooled(size: int, games: int, threads: int, seconds: float) -> tuple[float, float]:
    """Visits a second of processor time, and by the clock."""
    pool = SearchPool(UniformEvaluator(), SearchParams(), games, threads=threads)
    visits, start, clock = 0, time.process_time(), time.perf_counter()
    while time.process_time() - start < seconds:
        for i in range(games):
            pool.set_root(i, Game(size, komi=visits // (VISITS * games)))
        pool.run(VISITS)
        visits += int(pool.visits.sum())
    return visits / (time.process_time() - start), visits / (time.perf_counter() - clock)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--games", type=int, default=256)
    options = parser.parse_args()
    for size in SIZES:
        single = alone(size, options.seconds)
        for threads in sorted({1, core_count()}):
            rate, by_clock = pooled(size, options.games, threads, options.seconds)
            figures = {
                "benchmark": "pool",
                "size": size,
                "games": options.games,
                "threads": threads,
                "visits_per_cpu_second": round(rate),
                "visits_per_second": round(by_clock),
                "alone": round(single),
                "against_alone": round(rate / single, 2),
            }
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
