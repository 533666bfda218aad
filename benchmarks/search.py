"""What the native search does in a second, with the uniform evaluator: one line of JSON a setting.

    python benchmarks/search.py [--seconds 1] [--net NETWORK [--moves 200] [--visits 100] [--size 19]]

With a network it measures a review instead: the positions of a game one after the other, each by a search of its own,
and all of them side by side in a SearchQueue, also with a cache of evaluations as `tengen analysis` has one;
`against_one_by_one` is the ratio of the seconds in the same run.

`visits` counts whole simulations through Python, encoding of each position included; `bytes_per_node` is what a
position in the tree takes. `against_batch_1` is the ratio to single positions of the same size in the same run.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tengen.engine import Limits, SearchQueue
from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.evaluators import CachedEvaluator, Evaluator, UniformEvaluator, load_evaluator
from tengen.game import Game

SIZES = (9, 13, 19)
BATCHES = (1, 8, 32)


def measure(size: int, batch: int, seconds: float) -> dict[str, float | int | str]:
    """Visits a second of one search from the empty board until the time is over."""
    search = TreeSearch(UniformEvaluator(), SearchParams(), batch)
    search.set_root(Game(size))
    start = time.perf_counter()
    search.run(10**9, until=lambda: time.perf_counter() - start >= seconds)
    elapsed = time.perf_counter() - start
    return {
        "benchmark": "search",
        "size": size,
        "batch": batch,
        "visits_per_second": round(search.visits / elapsed),
        "bytes_per_node": round(search.bytes / search.nodes),
    }


def sampled_positions(evaluator: Evaluator, size: int, moves: int) -> list[Game]:
    """The positions of a game whose moves are drawn from the policy."""
    rng, game, positions = np.random.default_rng(1), Game(size), []
    for _ in range(moves):
        positions.append(game.copy())
        policy = evaluator.evaluate([game]).policy[0, :-1].astype(float)
        game.play(int(rng.choice(size**2, p=policy / policy.sum())))
    return positions


def review(network: str, size: int, moves: int, visits: int) -> None:
    """One position after the other, by batches of 1 and of 8, and side by side.

    Each way gets a short review before, for which its batches are compiled.
    """
    evaluator = load_evaluator(network)
    params = SearchParams().advised(evaluator.on(size).advice)

    def one_by_one(batch: int, positions: Sequence[Game], visits: int) -> int:
        evaluations = 0
        for position in positions:
            search = TreeSearch(evaluator, params, batch)
            search.set_root(position)
            search.run(visits)
            evaluations += search.evaluations
        return evaluations

    def side_by_side(at_once: int, batch: int, positions: Sequence[Game], visits: int, *, cached: bool = False) -> int:
        shared = evaluator.wrapped(CachedEvaluator) if cached else evaluator
        with SearchQueue(shared, batch=batch, at_once=at_once) as queue:
            tasks = [queue.start(position, Limits(visits=visits, early_stop=False)) for position in positions]
            return sum(task.wait().evaluations for task in tasks)

    ways: dict[str, Callable[[Sequence[Game], int], int]] = {
        "one by one, batch 1": partial(one_by_one, 1),
        "one by one, batch 8": partial(one_by_one, 8),
        "side by side, 16 x 8": partial(side_by_side, 16, 8),
        "side by side, 32 x 2": partial(side_by_side, 32, 2),
        "side by side, 32 x 2, cached": partial(side_by_side, 32, 2, cached=True),
    }
    positions, first = sampled_positions(evaluator, size, moves), 0.0
    for name, way in ways.items():
        way(positions[:64], 24)
        start = time.perf_counter()
        evaluations = way(positions, visits)
        seconds = time.perf_counter() - start
        first = first or seconds
        figures = {"benchmark": "review", "way": name, "seconds": round(seconds, 2), "evaluations": evaluations}
        print(json.dumps({**figures, "against_one_by_one": round(seconds / first, 2)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--net")
    parser.add_argument("--moves", type=int, default=200)
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--size", type=int, default=19)
    args = parser.parse_args()
    if args.net:
        review(args.net, args.size, args.moves, args.visits)
        return
    seconds = args.seconds
    for size in SIZES:
        single = 0.0
        for batch in BATCHES:
            figures = measure(size, batch, seconds)
            rate = float(figures["visits_per_second"])
            single = single or rate
            print(json.dumps({**figures, "against_batch_1": round(rate / single, 2)}), flush=True)


if __name__ == "__main__":
    main()
