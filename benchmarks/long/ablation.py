"""What each part of self-play is worth: games until the raw policy reaches a fixed gate, with the part and without.

    python benchmarks/long/ablation.py --out runs/ablation      # all variants, three seeds each; it resumes
    python benchmarks/long/ablation.py --out runs/ablation --only base,no-pooling --seeds 5

The gate is a score of 20% against our playout engine with 50 visits, which learns nothing: 300 games of the raw policy
every second cycle, at komi 8.5. Each run stops there, or at its last cycle, and takes one core; there are `--jobs` at
once. One JSON line a run, then a table and `report.html` of all runs in the folder: for each variant the games to the
gate and the factor against `base`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ablation_page import Variant, table, write_report

from tengen.recipes import load_recipe
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.loop import SelfPlayRun
from tengen.selfplay.progress import Observer
from tengen.selfplay.rating_book import RatingBook

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


class UntilTheGate(Observer):
    """Stops a run once its raw policy has the score of the gate."""

    def __init__(self, folder: Path, stop: ShutdownFlag) -> None:
        self._folder = folder
        self._stop = stop

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        if ratings(self._folder)[-1:] and ratings(self._folder)[-1][1] >= GATE:
            self._stop.set()


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


def config_of(variant: str, seed: int) -> SelfPlayConfig:
    return load_recipe(str(RECIPE), [*VARIANTS[variant], f"seed={seed}"], model=SelfPlayConfig)


def is_over(config: SelfPlayConfig, folder: Path) -> bool:
    """Whether a run has reached the gate or its end."""
    found = ratings(folder)
    ended = bool(found) and found[-1][0] >= config.cycles * config.games_per_cycle
    return ended or games_to_gate(found) is not None


def run(variant: str, seed: int, out: Path) -> None:
    """Carry one run to the gate, or go on with it."""
    config, folder = config_of(variant, seed), out / f"{variant}-{seed}"
    if is_over(config, folder):
        return
    with ShutdownFlag() as stop:
        try:
            SelfPlayRun(config, folder, UntilTheGate(folder, stop), stop).go()
        except KeyboardInterrupt:
            if not is_over(config, folder):
                raise


def found_by(variant: str, seed: int, out: Path) -> dict[str, Any]:
    """What a run that is over found."""
    folder = out / f"{variant}-{seed}"
    found = ratings(folder)
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    cycles = [event for event in events if event["event"] == "cycle"]
    return {
        "variant": variant, "seed": seed, "games": games_to_gate(found), "played": found[-1][0], "scores": found,
        "seconds": round(sum(sum(event["seconds"].values()) for event in cycles)),
        "evaluations_per_game": round(sum(e["evaluations"] for e in cycles) / sum(e["played_here"] for e in cycles)),
    }  # fmt: skip


def all_found(out: Path) -> list[Variant]:
    """All runs that are over in the folder `out`, by variant."""
    shown = []
    for variant in VARIANTS:
        seeds = sorted(int(path.name.rpartition("-")[2]) for path in out.glob(f"{variant}-[0-9]*"))
        over = [seed for seed in seeds if is_over(config_of(variant, seed), out / f"{variant}-{seed}")]
        if over:
            shown.append(Variant.of(variant, [found_by(variant, seed, out) for seed in over]))
    return shown


def carry(wanted: list[tuple[str, int]], out: Path, jobs: int) -> Iterator[tuple[str, int]]:
    """All runs, each in a process of its own, `jobs` at once; which one is over, as it ends. A stop ends them all."""
    waiting, running = list(wanted), dict[tuple[str, int], subprocess.Popen[bytes]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                variant, seed = waiting.pop(0)
                command = [sys.executable, __file__, "--out", str(out), "--one", variant, str(seed)]
                running[variant, seed] = subprocess.Popen(command)
            for key in [key for key, process in running.items() if process.poll() is not None]:
                if code := running.pop(key).returncode:
                    raise SystemExit(f"the run of {key[0]} with seed {key[1]} ended with {code}")
                yield key
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
    asked = args.only.split(",") if args.one is None else args.one[:1]
    if unknown := [variant for variant in asked if variant not in VARIANTS]:
        parser.error(f"unknown variants: {', '.join(unknown)}; there are {', '.join(VARIANTS)}")
    if args.one:
        run(args.one[0], int(args.one[1]), args.out)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    wanted = [(variant, seed) for seed in range(args.seeds) for variant in asked]
    for variant, seed in carry(wanted, args.out, args.jobs):
        print(json.dumps(found_by(variant, seed, args.out)), flush=True)
    shown = all_found(args.out)
    print(f"\n{table(shown, GATE)}\n\npage: {write_report(shown, GATE, args.out)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on")
