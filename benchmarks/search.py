"""What the native search does in a second, with the uniform evaluator: one line of JSON a setting.

    python benchmarks/search.py [--seconds 1]

`visits` counts whole simulations through Python, encoding of each position included; `bytes_per_node` is what a
position in the tree takes. `against_batch_1` is the ratio to single positions of the same size in the same run.
"""

import argparse
import json
import time

from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.evaluators import UniformEvaluator
from tengen.game import Game

SIZES = (9, 13, 19)
BATCHES = (1, 8, 32)


def measure(size: int, batch: int, seconds: float) -> dict[str, float | int | str]:
    """Visits a second of one search from the empty board until the time is over."""
    search = TreeSearch(UniformEvaluator(), SearchParams(), batch)
    search.set_root(Game(size))
    start = time.perf_counter()
    search.run(10**9, lambda: time.perf_counter() - start < seconds)
    elapsed = time.perf_counter() - start
    return {
        "benchmark": "search",
        "size": size,
        "batch": batch,
        "visits_per_second": round(search.visits / elapsed),
        "bytes_per_node": round(search.bytes / search.nodes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0)
    seconds = parser.parse_args().seconds
    for size in SIZES:
        single = 0.0
        for batch in BATCHES:
            figures = measure(size, batch, seconds)
            rate = float(figures["visits_per_second"])
            single = single or rate
            print(json.dumps({**figures, "against_batch_1": round(rate / single, 2)}), flush=True)


if __name__ == "__main__":
    main()
