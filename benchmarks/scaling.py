"""Where many cores or a fast device stop helping, simulated: one line of JSON for each case.

    python benchmarks/scaling.py [--seconds 3] [--size 19] [--latency 2] [--rate 5000] [--streams 1] [--cases queue ...]

A device is simulated: a batch takes `latency` ms and 1 / `rate` seconds a position, and `streams` batches run side by
side. It costs no processor time, so two cores can simulate a graphics card, or a machine of which all other cores
evaluate. `positions_per_second` is what a case reaches, `busy` the share of time that the device works,
`cpu_us` the processor time of all threads for a position, without the device. `ceiling` is 1 / (processor time of the
busiest thread for a position): more than that no device and no number of cores gives, however busy this machine is.

Cases: `search`, one tree; `queue`, positions of an analysis that share batches; `self-play`, games in 1 to 128 workers;
`playouts`, one tree searched by threads with random games, whose ceiling is the work that holds the tree's lock.
benchmarks/encode.py measures the sampler of training.
"""

import argparse
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tengen.benchmark.playing import opening
from tengen.engine import Limits, SearchQueue
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.search import TreeSearch
from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch, UniformEvaluator

Case = Iterator[dict[str, Any]]


class Device(BatchEvaluator):
    """A simulated device. Its policies and values are random, but the same for a row of a batch."""

    name = "simulated"

    def __init__(self, options: argparse.Namespace) -> None:
        self._latency, self._rate = options.latency / 1e3, options.rate
        self._streams = threading.Semaphore(options.streams)
        random = np.random.default_rng(1)
        self._policy = random.dirichlet(np.full(options.size**2 + 1, 0.1), 4096).astype(np.float32)
        self._value = random.uniform(-0.5, 0.5, 4096).astype(np.float32)
        self.positions, self.batches, self.seconds, self.cpu = 0, 0, 0.0, 0.0
        self._lock = threading.Lock()

    def infer(self, batch: InputBatch) -> Evaluation:
        began, rows = time.thread_time(), len(batch)
        with self._streams:
            seconds = self._latency + rows / self._rate
            time.sleep(seconds)
        result = Evaluation.zeros(rows, batch.edge)
        result.policy[:], result.value[:] = self._policy[:rows], self._value[:rows]
        with self._lock:
            self.positions += rows
            self.batches += 1
            self.seconds += seconds
            self.cpu += time.thread_time() - began
        return result


def measured(device: Device, options: argparse.Namespace, work: Callable[[], None]) -> dict[str, Any]:
    """Calls `work` for the seconds; `thread` is the processor time of the calling thread alone."""
    work()
    device.positions, device.batches, device.seconds, device.cpu = 0, 0, 0.0, 0.0
    start, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - start < options.seconds:
        work()
    return figures(device, options, time.perf_counter() - start, time.process_time() - cpu)


def figures(
    device: Device, options: argparse.Namespace, seconds: float, cpu: float, busiest: float | None = None
) -> dict[str, Any]:
    """`cpu` seconds of processor time of all threads, `busiest` those of the busiest, which is all unless given."""
    positions = max(device.positions, 1)
    each = max(cpu - device.cpu, 1e-9)
    return {
        "positions_per_second": round(positions / seconds),
        "batch": round(positions / max(device.batches, 1), 1),
        "busy": round(device.seconds / seconds / options.streams, 3),
        "cpu_us": round(each / positions * 1e6, 1),
        "ceiling": round(positions / (each if busiest is None else busiest)),
    }


def search(options: argparse.Namespace) -> Case:
    """One tree: gather, evaluate, scatter, one after the other."""
    for batch in (8, 32, 128):
        device = Device(options)
        tree = TreeSearch(device, SearchParams(), batch)
        tree.set_root(opening(options.size))
        yield {"batch_asked": batch, **measured(device, options, lambda tree=tree: tree.step() and None)}


class TimedQueue(SearchQueue):
    """Knows the processor time of the thread that drives it."""

    cpu = 0.0

    def _work(self) -> None:
        super()._work()
        self.cpu = time.thread_time()


def queue(options: argparse.Namespace) -> Case:
    """Positions of an analysis: half of them are gathered while the others are evaluated; 1, 2, 4 threads of trees."""
    for at_once, threads in ((2, 1), (8, 1), (32, 1), (128, 1), (32, 2), (32, 4), (128, 4)):
        device = Device(options)
        searches = TimedQueue(device, batch=8, at_once=at_once, tree_threads=threads)
        start, cpu = time.perf_counter(), time.process_time()
        tasks = [searches.start(opening(options.size), Limits(visits=options.visits)) for _ in range(at_once)]
        for task in tasks:
            task.wait()
        seconds = time.perf_counter() - start
        searches.close()
        cpu = time.process_time() - cpu
        trees = (cpu - device.cpu - searches.cpu) / threads if threads > 1 else 0
        found = figures(device, options, seconds, cpu, max(searches.cpu, trees))
        yield {"at_once": at_once, "tree_threads": threads, **found}


def selfplay(options: argparse.Namespace) -> Case:
    """Games in worker threads, each with its own Python loop around native work."""
    from selfplay import recipe

    from tengen.selfplay.generate import GameGenerator
    from tengen.selfplay.plan import make_plan

    for workers in (1, 2, 8, 32, 128):
        device = Device(options)
        asked = argparse.Namespace(
            games=options.games * workers, workers=workers, network="b1c8", size=options.size, visits=32, set=()
        )
        config = recipe(argparse.Namespace(**vars(asked), selection="gumbel"))
        generator = GameGenerator(config, [device] * workers)
        stop = threading.Event()
        threading.Timer(options.seconds, stop.set).start()
        start, cpu = time.perf_counter(), time.process_time()
        for _ in generator.play((make_plan(config, 0, number) for number in itertools.count()), stop):
            pass
        found = figures(device, options, time.perf_counter() - start, time.process_time() - cpu)
        native = generator.seconds["tree_cpu"] / max(device.positions, 1)
        # What is not native work holds the lock of the Python process: all workers together have one thread of it.
        python = max(found["cpu_us"] / 1e6 - native, 1e-9)
        yield {"workers": workers, **found, "python_us": round(python * 1e6, 2), "ceiling": round(1 / python)}


def playouts(options: argparse.Namespace) -> Case:
    """Random games beside each other in one tree. `lock_us` is the work of a visit that is no random game, by the cost
    of visits of one and of five games: at most so much holds the lock of the tree."""
    cost = {}
    for games in (1, 5):
        cost[games], _ = played(options, playout_params().model_copy(update={"playouts": games}), 1)
    lock = cost[1] - (cost[5] - cost[1]) / 4
    for threads in (1, 2, 4, 8):
        each, rate = played(options, playout_params(), threads)
        asked = {"threads": threads, "positions_per_second": round(rate), "cpu_us": round(each * 1e6, 1)}
        yield {**asked, "lock_us": round(lock * 1e6, 1), "ceiling": round(1 / lock)}


def played(options: argparse.Namespace, params: SearchParams, threads: int) -> tuple[float, float]:
    """(processor time of a visit in seconds, visits a second)."""
    tree = TreeSearch(UniformEvaluator(), params, threads=threads)
    tree.set_root(opening(options.size))
    tree.step(100)
    visits, start, cpu = tree.visits, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < options.seconds:
        tree.step()
    visits = tree.visits - visits
    return (time.process_time() - cpu) / visits, visits / (time.perf_counter() - start)


CASES: dict[str, Callable[[argparse.Namespace], Case]] = {
    "search": search,
    "queue": queue,
    "self-play": selfplay,
    "playouts": playouts,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--size", type=int, default=19)
    parser.add_argument("--latency", type=float, default=2, help="ms a batch")
    parser.add_argument("--rate", type=float, default=5000, help="positions a second of a stream")
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--games", type=int, default=32, help="in flight, of each worker of self-play")
    parser.add_argument("--visits", type=int, default=400, help="of each position of the queue")
    options = parser.parse_args()
    device = {"latency_ms": options.latency, "rate": options.rate, "streams": options.streams}
    for case in options.cases:
        for line in CASES[case](options):
            print(json.dumps({"benchmark": "scaling", "case": case, "size": options.size, **device, **line}))


if __name__ == "__main__":
    sys.exit(main())
