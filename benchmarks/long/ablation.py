"""What each part of self-play is worth: games until the raw policy reaches a fixed gate, with the part and without.

    python benchmarks/long/ablation.py --out runs/ablation      # all variants, three seeds each; it resumes
    python benchmarks/long/ablation.py --out runs/ablation --only base,no-pooling --seeds 5

The gate is a score of 20% against our playout engine with 50 visits, which learns nothing: 300 games of the raw policy
every second cycle, at komi 8.5. Each run stops there, or at its last cycle, and takes one core; there are `--jobs` at
once. One JSON line a run, then a table with, for each variant, the games to the gate and the factor against `base`, a
ratio of geometric means with its 95% interval: Student's t on logarithms, whose spread over seeds all variants share.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scipy.stats import t as student

from tengen.recipes import load_recipe
from tengen.zero.config import ZeroConfig
from tengen.zero.rating_book import RatingBook
from tengen.zero.run import Run
from tengen.zero.stop import Stop
from tengen.zero.watcher import Nobody

RECIPE = Path(__file__).parent / "ablation-7x7.yaml"
GATE = 0.2
EVEN = ["search.cheap_share=0", "search.visits=30"]  # as many visits a move as the base, all of them full
PUCT = ["search.cheap_share=0", "search.full.forced_playouts=0"]
GUMBEL = ["search.cheap_share=0", "search.params={selection: gumbel}", "search.full={}", "search.temperature=0",
          "search.temperature_late=0"]  # fmt: skip
VARIANTS: dict[str, list[str]] = {
    "base": [],
    "no-playout-cap": EVEN,
    "no-forced-playouts": ["search.full.forced_playouts=0"],
    "no-pooling": ["network.pooling=false"],
    "no-ownership-score": ["learn.losses.ownership=0", "learn.losses.score=0"],
    "decided": ["search.decided={}"],
    "no-komi-noise": ["game.komi.deviation=0", "game.komi.tail=0"],
    "puct-16": [*PUCT, "search.visits=16"],
    "gumbel-16": [*GUMBEL, "search.visits=16"],
    "puct-64": [*PUCT, "search.visits=64"],
    "gumbel-64": [*GUMBEL, "search.visits=64"],
}


class UntilTheGate(Nobody):
    """Stops a run once its raw policy has the score of the gate."""

    def __init__(self, folder: Path, stop: Stop) -> None:
        self._folder = folder
        self._stop = stop

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        if ratings(self._folder)[-1:] and ratings(self._folder)[-1][1] >= GATE:
            self._stop.event.set()


def ratings(folder: Path) -> list[tuple[int, float]]:
    """(games played so far, score against the playout engine) of each rated network of a run."""
    return [(event.games, event.pairings[0].tally.score) for event in RatingBook.read(folder).events if event.pairings]


def games_to_gate(found: list[tuple[int, float]]) -> float | None:
    """Games until the gate, on a straight line between the two ratings around it; None where it was not reached."""
    before = (0, 0.0)
    for games, score in found:
        if score >= GATE:
            return before[0] + (games - before[0]) * (GATE - before[1]) / (score - before[1])
        before = (games, score)
    return None


def run(variant: str, seed: int, out: Path) -> dict[str, Any]:
    """Carry one run to the gate, or go on with it."""
    config = load_recipe(str(RECIPE), [*VARIANTS[variant], f"seed={seed}"], model=ZeroConfig)
    folder = out / f"{variant}-{seed}"
    if not folder.exists() or games_to_gate(ratings(folder)) is None:
        with Stop() as stop:
            try:
                Run(config, folder, UntilTheGate(folder, stop), stop).go()
            except KeyboardInterrupt:
                if games_to_gate(ratings(folder)) is None:
                    raise
    found = ratings(folder)
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    seconds = sum(sum(event["seconds"].values()) for event in events if event["event"] == "cycle")
    return {
        "variant": variant, "seed": seed, "games": games_to_gate(found), "played": found[-1][0],
        "scores": found, "seconds": round(seconds),
    }  # fmt: skip


def factor(games: list[float], base: list[float], spread: float, freedom: int) -> tuple[float, float, float]:
    """The ratio of geometric means, games / base, and the ends of its 95% interval.

    `spread` is the standard deviation of a run's logarithm, from `freedom` degrees of freedom.
    """
    middle = statistics.fmean(map(math.log, games)) - statistics.fmean(map(math.log, base))
    half = float(student.ppf(0.975, freedom)) * spread * math.sqrt(1 / len(games) + 1 / len(base))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def pooled_spread(runs: Iterable[list[float]]) -> tuple[float, int]:
    """The standard deviation of the logarithms around the mean of their variant, and its degrees of freedom."""
    logs = [[math.log(games) for games in variant] for variant in runs]
    freedom = sum(len(variant) - 1 for variant in logs)
    squares = sum((value - statistics.fmean(variant)) ** 2 for variant in logs for value in variant)
    return (math.sqrt(squares / freedom) if freedom else math.inf), freedom


def carry(wanted: list[tuple[str, int]], out: Path, jobs: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """All runs, each in a process of its own, `jobs` at once; what each found as it ends. A stop ends them all."""
    waiting, running = list(wanted), dict[tuple[str, int], subprocess.Popen[str]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                variant, seed = waiting.pop(0)
                command = [sys.executable, __file__, "--out", str(out), "--one", variant, str(seed)]
                running[variant, seed] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for key in [key for key, process in running.items() if process.poll() is not None]:
                process = running.pop(key)
                told, _ = process.communicate()
                if process.returncode:
                    raise SystemExit(f"the run of {key[0]} with seed {key[1]} ended with {process.returncode}")
                yield key[0], json.loads(told)
            time.sleep(0.5)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/ablation"))
    parser.add_argument("--only", default=",".join(VARIANTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--one", nargs=2, metavar=("VARIANT", "SEED"), help="a single run, in this process")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(run(args.one[0], int(args.one[1]), args.out)))
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    wanted = [(variant, seed) for seed in range(args.seeds) for variant in args.only.split(",")]
    results: dict[str, list[dict[str, Any]]] = {}
    for variant, found in carry(wanted, args.out, args.jobs):
        results.setdefault(variant, []).append(found)
        print(json.dumps(found), flush=True)
    print_table(results)


def print_table(results: dict[str, list[dict[str, Any]]]) -> None:
    """A line for each variant: games by seed, minutes of one core by seed, the factor against the base."""
    for rows in results.values():
        rows.sort(key=lambda row: row["seed"])
    reached = {
        variant: [row["games"] for row in rows]
        for variant, rows in results.items()
        if all(row["games"] is not None for row in rows)
    }
    spread, freedom = pooled_spread(reached.values())
    print(
        f"\n| variant | games to {GATE:.0%}, by seed | minutes of a core | factor in games [95%] |\n|---|---|---|---|"
    )
    for variant, rows in results.items():
        told = ", ".join(
            f"more than {row['played']:,}" if row["games"] is None else f"{row['games']:,.0f}" for row in rows
        )
        minutes = ", ".join(f"{row['seconds'] / 60:.1f}" for row in rows)
        ratio = ""
        if variant != "base" and freedom and {variant, "base"} <= reached.keys():
            ratio = "{:.2f} [{:.2f} to {:.2f}]".format(*factor(reached[variant], reached["base"], spread, freedom))
        print(f"| {variant} | {told} | {minutes} | {ratio} |")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on")
