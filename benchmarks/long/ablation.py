"""What each part of self-play is worth: games until the raw policy reaches a fixed gate, with the part and without.

    python benchmarks/long/ablation.py --out runs/ablation      # all variants, three seeds each; it resumes
    python benchmarks/long/ablation.py --out runs/ablation --only base,no-pooling --seeds 5

The gate is a score of 20% against our playout engine with 50 visits, which learns nothing: 300 games of the raw policy
every second cycle, at komi 8.5. Each run stops there, or at its last cycle, and takes one core; there are `--jobs` at
once. One JSON line a run, then a table with, for each variant, the games to the gate and the factor against `base`, the
geometric mean over the seeds with its 95% interval (Student's t on logarithms).
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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tengen.recipes import load_recipe
from tengen.zero.config import ZeroConfig
from tengen.zero.rating_book import RatingBook
from tengen.zero.run import Run
from tengen.zero.stop import Stop
from tengen.zero.watcher import Nobody

RECIPE = Path(__file__).parent / "ablation-7x7.yaml"
GATE = 0.2
T_QUANTILES = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571}  # of Student's t at 97.5%, by degrees of freedom
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


def factor(games: list[float], base: list[float]) -> tuple[float, float, float]:
    """The geometric mean of games / base over pairs of runs, and the ends of its 95% interval."""
    logs = [math.log(a / b) for a, b in zip(games, base, strict=True)]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean), 0.0, math.inf
    half = T_QUANTILES[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


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
    for rows in results.values():
        rows.sort(key=lambda row: row["seed"])
    base = [row["games"] for row in results.get("base", [])]
    print(f"\n| variant | games to {GATE:.0%}, by seed | factor [95%] |\n|---|---|---|")
    for variant, rows in results.items():
        games = [row["games"] for row in rows]
        told = ", ".join(
            "more than " + f"{row['played']:,}" if g is None else f"{g:,.0f}"
            for g, row in zip(games, rows, strict=True)
        )
        ratio = ""
        if base and None not in games and None not in base and variant != "base":
            ratio = "{:.2f} [{:.2f} to {:.2f}]".format(*factor(games, base))
        print(f"| {variant} | {told} | {ratio} |")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on")
