"""Self-play by the workers of a Ray cluster on this machine: one line of JSON for each case.

    python benchmarks/cluster.py [--games 256] [--visits 32] [--cases workers driver run capacity]

Cases: `workers`, the games of a cycle of 7x7 in this process with 1 and 2 threads, and by 1, 2, 4 and 8 workers of one
thread, with the processor time of the workers, of this process and of Ray's own processes, and the bytes a game that
come back; `driver`, what a finished game of 7x7, 9x9 and 19x19 costs the process that leads, from its bytes into the
store, without Ray; `run`, the rates of one worker and of a learner, each alone, and runs of three cycles by 1 and 2
workers, and of five with `overlap` by one, with the share of time in which the learner waits for games beside the share
that the model makes of these rates; `capacity`, the model of docs/guides/cluster.md for some runs. Figures by processor
time hardly depend on other work on the machine; those by the clock do.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pickle
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import ray

from tengen.cluster import Cluster, Place
from tengen.data.store import Store
from tengen.evaluators.evaluator import UniformEvaluator
from tengen.evaluators.installed_networks import find_network
from tengen.runs.events import read_events
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.cluster import ClusterPlayer
from tengen.selfplay.conditions import CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.selfplay.learn import Learner
from tengen.selfplay.loop import SelfPlayRun
from tengen.selfplay.play import CyclePlayer, play_games
from tengen.selfplay.progress import Observer
from tengen.selfplay.transport import FolderTransport, number_of


@dataclasses.dataclass(frozen=True)
class Capacity:
    """A run in balance: how many workers play as much as one learner digests (docs/guides/cluster.md).

    `evaluations` of a worker and `positions` of the learner are those of a second; a game has `game_positions` that are
    learned from, each `reuse` times, and costs `visits` evaluations for each of them.
    """

    evaluations: float
    positions: float
    visits: float
    game_positions: float
    reuse: float = 4

    @property
    def worker_games(self) -> float:
        """Games a second of a worker."""
        return self.evaluations / (self.visits * self.game_positions)

    @property
    def learner_games(self) -> float:
        """Games a second that the learner digests."""
        return self.positions / (self.reuse * self.game_positions)

    @property
    def workers(self) -> float:
        """Workers that keep the learner busy: positions * visits / (reuse * evaluations)."""
        return self.learner_games / self.worker_games

    def idle(self, workers: float, overlap: bool = True) -> float:
        """The share of time in which the learner waits for games."""
        playing, learning = 1 / (workers * self.worker_games), 1 / self.learner_games
        return max(0.0, 1 - learning / playing) if overlap else playing / (playing + learning)


RUNS = {
    "7x7, b4c32": Capacity(22_500, 5_270, 95, 28),
    "9x9, b4c32": Capacity(13_600, 3_190, 95, 45),
    "19x19, b8c64, 100 visits": Capacity(388, 245, 100, 220),
    "19x19, b8c64, KataGo's visits": Capacity(388, 245, 900, 55),
    "19x19, b8c64, 1,600 visits": Capacity(388, 245, 1_600, 220),
}
"""Workers and learners of one core. 7x7 as measured on an idle machine (docs/results.md); 9x9 by the number of points;
19x19 by the figures of two threads in docs/log.md. KataGo searches a quarter of the positions with 600 visits, which
are learned from, and the others with 100."""


def recipe(options: argparse.Namespace, size: int, **more: Any) -> SelfPlayConfig:
    return SelfPlayConfig.model_validate(
        {
            "name": "benchmark",
            "cycles": 1,
            "games_per_cycle": options.games,
            "games_at_once": options.at_once,
            "workers": 1,
            "network": {"family": "residual", "size": "b4c32", "stem": 3, "reply": True, "soft": True},
            "game": {"sizes": {size: 1}},
            "search": {"visits": options.visits},
            **more,
        }
    )


def processor_seconds() -> dict[str, float]:
    """Of this process, the workers and all other processes of Ray so far."""
    found = {"driver": sum(psutil.Process().cpu_times()[:2]), "workers": 0.0, "ray": 0.0}
    for process in psutil.process_iter(["cmdline"]):
        words = " ".join(process.info["cmdline"] or [])
        if process.pid != os.getpid() and ("ray::" in words or "/ray/" in words):
            with contextlib.suppress(psutil.Error):  # it has just ended
                found["workers" if "ray::Worker" in words else "ray"] += sum(process.cpu_times()[:2])
    return found


def play(config: SelfPlayConfig, cluster: Cluster | None, folder: Path) -> dict[str, Any]:
    """One cycle with the network zero-7x7 or zero-9x9; the processor time is that of the games alone."""
    run = SelfPlayFolder(folder)
    run.network(0).parent.mkdir(parents=True)
    shutil.copyfile(find_network("zero-7x7"), run.network(0))
    transport = FolderTransport(run)
    conditions = CycleConditions.of(config, [], 0)
    with ShutdownFlag() as stop:
        player = ClusterPlayer(config, transport, stop, cluster) if cluster else CyclePlayer(config, transport, stop)
        before, began = processor_seconds(), time.perf_counter()
        stats = player.play(0, conditions, lambda *_: None)
        seconds, after = time.perf_counter() - began, processor_seconds()
    used = {name: round(after[name] - before[name], 2) for name in after}
    playing = used["workers"] if cluster else used["driver"]
    return {
        "games": stats.games,
        "games_per_second": round(stats.games / seconds, 2),
        "evaluations_per_second": round(stats.evaluations / seconds),
        "games_per_cpu_second": round(stats.games / playing, 2),
        "evaluations_per_cpu_second": round(stats.evaluations / playing),
        "cpu_seconds": used,
    }


def started() -> None:
    """Start Ray as a cluster of its own, beside any that runs here. It gives up after 30 seconds, on a busy machine
    several times."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    for attempt in range(10):
        if not ray.is_initialized():
            try:
                ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
            except Exception:
                if attempt == 9:
                    raise
                ray.shutdown()


class Nothing:
    """Work that only shows that the workers are there."""

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], None]]:
        for item in items:
            time.sleep(1)
            yield [item], None

    def close(self) -> None:
        pass


@contextlib.contextmanager
def ready(number: int, cpus: float) -> Iterator[Cluster]:
    """A cluster whose workers have started, which is not part of the figures."""
    with Cluster("local", Place(cpus=cpus, workers=number)) as cluster:
        while len(cluster.scale_up(number)[0]) < number:
            time.sleep(0.2)
        for _ in cluster.run(Nothing(), range(number)):
            pass
        yield cluster


def workers(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    config = recipe(options, 7)
    for threads in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            found = play(config.model_copy(update={"workers": threads}), None, Path(folder))
        yield {"threads": threads, **found}
    started()
    for number in (1, 2, 4, 8):
        with ready(number, 0.25) as cluster, tempfile.TemporaryDirectory() as folder:
            before = dataclasses.replace(cluster.traffic)
            found = play(config, cluster, Path(folder))
            size = (cluster.traffic.bytes - before.bytes) / (cluster.traffic.items - before.items)
            repeated = cluster.traffic.repeated - before.repeated
            yield {"workers": number, **found, "bytes_per_game": round(size), "repeated": repeated}


def driver(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Games of uniform probabilities, whose searches spread over more moves than those of a network."""
    for size, visits, games in ((7, 96, 16), (9, 96, 16), (19, 100, 2)):
        with tempfile.TemporaryDirectory() as folder:
            few = recipe(options, size, games_per_cycle=games, search={"visits": visits})
            played = play_games(few, 0, CycleConditions.of(few, [], 0), [UniformEvaluator()], range(games))
            records = [record for found, _ in played for record in found]
            renamed = (dataclasses.replace(records[i % games], source=f"0/{i}") for i in range(400))
            wire = [pickle.dumps(([number_of(record)], ([record], 1)), protocol=5) for record in renamed]
            target = FolderTransport(SelfPlayFolder(Path(folder) / "many"))
            pending, began = target.cycle_games(0), time.process_time()
            pending.begin()
            for data in wire:
                pending.add(pickle.loads(data)[1][0])
            pending.flush()
            target.store_cycle(0)
            used = time.process_time() - began
            yield {
                "size": size,
                "visits": visits,
                "moves": round(sum(len(record.moves) for record in records) / games, 1),
                "bytes_per_game": round(sum(map(len, wire)) / len(wire)),
                "cpu_ms_per_game": round(1e3 * used / len(wire), 3),
            }


def learner_rate(config: SelfPlayConfig, games: Path) -> float:
    """Positions a second that a learner trains on while nothing else runs, with the games of this folder's cycle 0."""
    folder = SelfPlayFolder(games)
    FolderTransport(folder).store_cycle(0)
    with ShutdownFlag() as stop:
        learned = Learner(config, folder, stop).learn(0, Store.open(folder.games), config.games_per_cycle)
    return learned.steps * config.learn.batch_size / learned.seconds


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The model gets the evaluations of one worker that plays alone and the positions of a learner that trains alone,
    both measured before the runs. The work is counted in the runs: evaluations and positions of their games, and how
    often a position is learned from. With `overlap` the first cycle and the last do not count: nothing is learned while
    the one is played, and nothing played while the other is learned from."""
    learn = {"batch_size": 64, "reuse": 4, "threads": 1, "window": {"min_positions": 1000}}
    rating = {"games": 2, "anchors": ["random"], "every": 9}
    config = recipe(options, 7, cycles=3, cluster={"cpus": 0.5, "workers": 1}, learn=learn, rating=rating)
    started()
    with tempfile.TemporaryDirectory() as folder:
        with ready(1, 0.5) as cluster:
            evaluations = play(config, cluster, Path(folder))["evaluations_per_second"]
        positions = learner_rate(config, Path(folder))
    yield {"worker_evaluations": round(evaluations), "learner_positions": round(positions)}
    for number, overlap in ((1, False), (2, False), (1, True)):
        workers = config.cluster.model_copy(update={"workers": number})
        config = config.model_copy(update={"cluster": workers, "overlap": overlap, "cycles": 5 if overlap else 3})
        with tempfile.TemporaryDirectory() as folder, Cluster("local", config.cluster.place()) as cluster:
            with ShutdownFlag() as stop:
                SelfPlayRun(config, Path(folder) / "run", Observer(), stop, cluster).go()
            # The first cycle also waits for the start of the workers.
            events = read_events(Path(folder) / "run", "cycle")[1 : -1 if overlap else None]
        seconds = {name: sum(event["seconds"].get(name, 0) for event in events) for name in ("generate", "learn")}
        work = {name: sum(event[name] for event in events) for name in ("evaluations", "fresh_positions", "steps")}
        playing = sum(event["playing_seconds"] for event in events)
        games, fresh = config.games_per_cycle * len(events), work["fresh_positions"]
        reuse = work["steps"] * config.learn.batch_size / fresh
        model = Capacity(evaluations, positions, work["evaluations"] / fresh, fresh / games, reuse)
        yield {
            "workers": number,
            "overlap": overlap,
            "evaluations_per_game": round(work["evaluations"] / games),
            "positions_per_game": round(fresh / games, 1),
            "games_per_second": round(games / playing, 2),
            "games_per_second_by_model": round(number * model.worker_games, 2),
            "learner_games_per_second": round(games / seconds["learn"], 2),
            "learner_games_per_second_by_model": round(model.learner_games, 2),
            "idle": round(seconds["generate"] / sum(seconds.values()), 3),
            "idle_by_model": round(model.idle(number, overlap), 3),
        }


def capacity(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for name, model in RUNS.items():
        figures = {name: getattr(model, name) for name in ("worker_games", "learner_games", "workers")}
        yield {"run": name, **{name: float(f"{value:.3g}") for name, value in figures.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--visits", type=int, default=32)
    cases = {"workers": workers, "driver": driver, "run": run, "capacity": capacity}
    parser.add_argument("--cases", nargs="+", choices=cases, default=list(cases))
    options = parser.parse_args()
    for case in options.cases:
        for found in cases[case](options):
            print(json.dumps({"case": case, **found}), flush=True)


if __name__ == "__main__":
    main()
