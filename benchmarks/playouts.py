"""Playouts a second from the empty board, for every policy: one line of JSON a setting.

    python benchmarks/playouts.py [--seconds 1] [--policies uniform local ...]

`playouts_per_second` is of the wall clock, for all threads together; the rest is processor time, so that it holds on a
busy machine too. `against_uniform` is the ratio to uniform playouts of the same size and threads in the same run.
"""

import argparse
import json
import time

from tengen import _native
from tengen.game import Game

SIZES = (9, 19)
THREADS = (1, 2)


def measure(policy: str, size: int, threads: int, seconds: float) -> dict[str, float | int | str]:
    """Playouts of one policy in about so many seconds, in growing portions until the last one is long enough."""
    game = Game(size).native()
    playouts, elapsed = 16 * threads, 0.0
    while True:
        start, spent = time.perf_counter(), time.process_time()
        moves = _native.run_playouts(game, playouts, 1, policy, threads)
        elapsed, spent = time.perf_counter() - start, time.process_time() - spent
        if elapsed >= 0.6 * seconds:
            break
        playouts = max(2 * playouts, int(playouts * min(seconds / max(elapsed, 1e-6), 100)))
    return {
        "benchmark": "playouts",
        "policy": policy,
        "size": size,
        "threads": threads,
        "playouts_per_second": round(playouts / elapsed),
        "playouts_per_cpu_second": round(playouts / spent),
        "moves_per_playout": round(moves / playouts, 1),
        "microseconds_per_move": round(spent / moves * 1e6, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--policies", nargs="+", default=_native.playout_policies())
    settings = parser.parse_args()
    for size in SIZES:
        for threads in THREADS:
            uniform = 0.0
            for policy in dict.fromkeys(["uniform", *settings.policies]):
                figures = measure(policy, size, threads, settings.seconds)
                rate = float(figures["playouts_per_cpu_second"])
                uniform = uniform or rate
                print(json.dumps({**figures, "against_uniform": round(rate / uniform, 3)}), flush=True)


if __name__ == "__main__":
    main()
