"""Self-play at full speed: games a second and where the time goes, one line of JSON.

    python benchmarks/selfplay.py [--seconds 45] [--size 7] [--network b4c32] [--visits 16] [--selection gumbel]

An untrained network plays itself in two workers, each with an evaluator of one thread. `tree_share` is search, encoding
and play of all the workers' time; the rest is the evaluator. What is told per CPU second, or of CPU time, is by the
processor time of all threads, so that other work on the machine counts little. Games in flight are given up at the end:
the first games end late, so a short run counts few. `bytes_a_game` is what the native side holds of a game in flight.
With `--minutes N` it plays for so long and prints the resident memory of the process every ten seconds, for the
question whether it stays flat.
"""

import argparse
import itertools
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from tengen import _native
from tengen.evaluators.network_file import Card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.machine import resident_memory
from tengen.networks.export import export
from tengen.networks.registry import build, parse_config
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.generate import GameGenerator
from tengen.selfplay.plan import GamePlan, make_plan

PLANE_SET = "tengen"


def network(folder: Path, size: str, edge: int) -> Path:
    """An untrained residual network as a file."""
    torch.manual_seed(1)
    config = parse_config({"family": "residual", "size": size})
    planes, scalars = _native.plane_set(PLANE_SET)
    card = Card(name=size, family="residual", config=config.model_dump(), plane_set=PLANE_SET, board_sizes=[5, edge])
    path = folder / "network.onnx"
    export(build(config, len(planes), len(scalars)), len(planes), len(scalars), path, card.metadata())
    return path


def recipe(options: argparse.Namespace) -> SelfPlayConfig:
    return SelfPlayConfig.model_validate(
        {
            "name": "benchmark",
            "cycles": 1,
            "games_per_cycle": 1,
            "games_at_once": options.games,
            "workers": options.workers,
            "network": {"family": "residual", "size": options.network},
            "game": {"sizes": {options.size: 1}},
            "search": {
                "visits": options.visits,
                "params": {"selection": options.selection, "gumbel_moves": 8, **dict(options.set)},
            },
        }
    )


def warmed(path: Path, edge: int) -> OpenVinoEvaluator:
    evaluator = OpenVinoEvaluator(path, threads=1)
    evaluator.warm_up(edge, tuple(1 << i for i in range(7)))
    return evaluator


def watch(stop: threading.Event, seconds: float) -> None:
    """Print the memory now and then, and end the play in time."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        stop.wait(min(left, 10))
        print(json.dumps({"benchmark": "selfplay", "resident_mb": round(resident_memory() / 1e6, 1)}), flush=True)
    stop.set()


def measure(options: argparse.Namespace, path: Path) -> dict[str, object]:
    config = recipe(options)
    generator = GameGenerator(config, [warmed(path, options.size) for _ in range(options.workers)])
    before = resident_memory() / 1e6
    plans: Iterator[GamePlan] = (make_plan(config, 0, i) for i in itertools.count())
    stop = threading.Event()
    if options.minutes:
        threading.Thread(target=watch, args=(stop, 60 * options.minutes), daemon=True).start()
    else:
        threading.Timer(options.seconds, stop.set).start()
    start, cpu, games, moves, seen = time.perf_counter(), time.process_time(), 0, 0, 0
    for finished in generator.play(plans, stop):
        games += len(finished)
        moves += sum(len(game.moves) for game in finished)
        seen += sum(game.evaluations for game in finished)
    seconds, cpu_seconds, spent = time.perf_counter() - start, time.process_time() - cpu, generator.seconds
    return {
        "benchmark": "selfplay",
        "size": options.size,
        "network": options.network,
        "search": f"{options.selection} {options.visits}",
        "games_at_once": options.games,
        "workers": options.workers,
        "games_per_second": round(games / seconds, 1),
        "games_per_cpu_second": round(games / cpu_seconds, 1),
        "evaluations_per_second": round(generator.evaluations / seconds),
        "evaluations_per_cpu_second": round(generator.evaluations / cpu_seconds),
        "evaluations_a_game": round(seen / max(games, 1)),
        "moves_a_game": round(moves / max(games, 1), 1),
        "tree_share": round(spent["tree"] / (spent["tree"] + spent["evaluate"]), 3),
        "tree_share_of_cpu": round(spent["tree_cpu"] / cpu_seconds, 3),
        "bytes_a_game": round(generator.bytes / options.games),
        "resident_mb": [round(before), round(resident_memory() / 1e6)],
    }


def setting(text: str) -> tuple[str, str]:
    name, value = text.split("=")
    return name, value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--size", type=int, default=7)
    parser.add_argument("--network", default="b4c32")
    parser.add_argument("--visits", type=int, default=16)
    parser.add_argument("--selection", default="gumbel")
    parser.add_argument("--set", type=setting, action="append", default=[], help="a search setting, name=value")
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(options, network(Path(folder), options.network, options.size))), flush=True)


if __name__ == "__main__":
    main()
