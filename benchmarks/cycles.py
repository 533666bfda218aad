"""Time and memory of each cycle of a self-play run of very many, very small cycles.

    python benchmarks/cycles.py --cycles 400

What a run does in a cycle beside its games must not grow with the cycles behind it. Networks are the same file in every
cycle and nothing evaluates them, so that a cycle takes parts of a second; games, store, statistics, sampler, training
and checkpoints are those of every run. Prints a line every tenth of the run: milliseconds of processor time a cycle,
shards that were opened in a cycle, and the memory of the process: all of it, and the part that belongs to no file.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from tengen.data import store
from tengen.evaluators.evaluator import UniformEvaluator
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.learn import Learner
from tengen.selfplay.loop import SelfPlayRun
from tengen.selfplay.progress import TerminalObserver
from tengen.selfplay.run_clock import RunClock

RECIPE = {
    "kind": "selfplay",
    "name": "cycles",
    "games_at_once": 8,
    "workers": 1,
    "network": {"family": "residual", "size": "b1c8"},
    "game": {"sizes": {5: 1}, "komi": {"start": 5}, "max_moves": 20},
    "search": {"visits": 4},
    "learn": {"batch_size": 16, "reuse": 1, "window": {"min_positions": 200, "max_positions": 400}, "threads": 1},
    "rating": {"every": 100_000, "games": 2, "program_games": 2, "anchors": ["random"]},
}


class Opened(store.Shard):
    """A shard that counts how many were opened."""

    count = 0

    def _opened(self) -> Any:
        Opened.count += 1
        return super()._opened()


class Copies(Learner):
    """A learner all of whose networks are copies of the first."""

    def export(self, number: int, path: Path, metrics: dict[str, Any] | None = None) -> None:
        first = self.folder.network(0)
        if first.exists():
            shutil.copyfile(first, path)
        else:
            super().export(number, path, metrics)


FAKES: dict[str, Any] = {
    "data.store.Shard": Opened,
    "selfplay.loop.Learner": Copies,
    "selfplay.loop.load_evaluator": lambda *_, **__: UniformEvaluator(),
    "selfplay.loop.training_mode_difference": lambda *_: None,
    "selfplay.matches.load_evaluator": lambda *_, **__: UniformEvaluator(),
    "selfplay.play.open_evaluators": lambda *_: [UniformEvaluator()],
}
"""What stands in the place of a network and of a shard, by name in `tengen`."""


class Curve(TerminalObserver):
    """Prints the figures of the cycles since the last line."""

    def __init__(self, cycles: int, games: int) -> None:
        super().__init__("cycles", RunClock(cycles, games, set(), []))
        self._every = max(1, cycles // 10)
        self._begin()
        print(f"{'cycle':>6} {'ms':>7} {'opened':>7} {'MB':>7} {'own MB':>7}")

    def _begin(self) -> None:
        self._since, self._opened = time.process_time(), Opened.count

    def cycle_done(self, event: Mapping[str, Any]) -> None:
        self.clock.end(event)
        done = event["cycle"] + 1
        if done % self._every == 0:
            memory, n = psutil.Process().memory_info(), self._every
            figures = (
                1000 * (time.process_time() - self._since) / n,
                (Opened.count - self._opened) / n,
                memory.rss / 1e6,
                (memory.rss - getattr(memory, "shared", 0)) / 1e6,
            )
            print(f"{done:6}" + "".join(f" {figure:7.1f}" for figure in figures), flush=True)
            self._begin()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=400)
    parser.add_argument("--games", type=int, default=8)
    args = parser.parse_args()
    config = SelfPlayConfig.model_validate({**RECIPE, "cycles": args.cycles, "games_per_cycle": args.games})
    with ExitStack() as stack:
        for name, fake in FAKES.items():
            stack.enter_context(patch(f"tengen.{name}", fake))  # raises AttributeError for a name that is gone
        folder, stop = stack.enter_context(tempfile.TemporaryDirectory()), stack.enter_context(ShutdownFlag())
        SelfPlayRun(config, Path(folder) / "run", Curve(args.cycles, args.games), stop).go()


if __name__ == "__main__":
    main()
