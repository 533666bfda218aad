"""How fast a small network learns from games of its own: positions drawn a second, positions trained a second.

    python benchmarks/learning.py [--size b4c32] [--board 7] [--batch 128] [--steps 60] [--threads 1 2] \
        [--precision f32 bf16]

One line of JSON a measurement. The training steps are those of a run: sampler, network, losses, optimiser and moving
average through `Trainer`, with PyTorch's convolutions and with Winograd's; the first ten are not counted.
`seconds` are of the clock, `cpu` of processor time of all threads (medians of a step), so that other work on the
machine can be told. Needs the extra [train].
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
import torch

from tengen import _native
from tengen.data import GameRecord, LabelSampler, Store, StoreAppender
from tengen.data.record import pack_moves
from tengen.game import Game
from tengen.training import trainer
from tengen.training.batches import BatchStream
from tengen.training.config import RunConfig
from tengen.training.convolution import accelerate
from tengen.training.supervised import make_trainer
from tengen.training.trainer import Callback, Trainer

GAMES = 200
SKIPPED = 10


def game(size: int, seed: int) -> GameRecord:
    """A random game with visits at every move, as of a search of about 30."""
    random = np.random.default_rng(seed)
    board = Game(size, "tromp-taylor", 6.5)
    visits: list[npt.NDArray[np.uint32]] = []
    surprises = []
    while len(board.moves) < size * size and (legal := board.legal_points()):
        seen = random.choice(legal, min(10, len(legal)), replace=False)
        visits.append((seen | random.integers(1, 10, len(seen)) << 16).astype(np.uint32))
        surprises.append(random.exponential())
        board.play(int(random.choice(legal)))
    colors, points = zip(*board.moves, strict=True)
    return GameRecord(
        size, pack_moves(colors, points), "tromp-taylor", komi=6.5, winner=seed % 2, score=0.5 - seed % 2,
        ownership=random.integers(0, 3, size * size).astype(np.uint8), visits=tuple(visits),
        surprises=np.array(surprises, np.float32),
    )  # fmt: skip


@contextmanager
def games(size: int) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        with StoreAppender(Path(folder) / "games") as appender:
            appender.append(game(size, seed) for seed in range(GAMES))
        yield Store.open(Path(folder) / "games")


class Watch(Callback):
    """Clock and processor time at the end of every step."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.cpu: list[float] = []

    def on_step(self, trainer: Trainer[Any]) -> None:
        self.clock.append(time.perf_counter())
        self.cpu.append(time.process_time())


def drawing(sampler: LabelSampler, steps: int) -> dict[str, object]:
    sampler.batch(0)
    started = time.thread_time()
    for step in range(1, steps + 1):
        sampler.batch(step)
    seconds = (time.thread_time() - started) / steps
    return {"benchmark": "self-play batches", "positions_per_second": round(sampler.batch_size / seconds)}


def training(
    sampler: LabelSampler, size: str, precision: str, threads: int, steps: int, winograd: bool
) -> dict[str, object]:
    run = RunConfig.model_validate({
        "name": "measured",
        "data": {"store": str(sampler.store.path)},
        "network": {"family": "residual", "size": size, "reply": True, "soft": True},
        "training": {
            "batch_size": sampler.batch_size, "steps": SKIPPED + steps, "precision": precision, "device": "cpu",
            "losses": {"reply": 0.15, "soft": 1.0},
        },
    })  # fmt: skip
    torch.set_num_threads(threads)
    fitted: list[int] = []
    trainer.pays = lambda precision: winograd
    trainer.accelerate = lambda *given: fitted.append(accelerate(*given))
    watch = Watch()
    make_trainer(run, sampler.plane_set, [watch]).fit(BatchStream(sampler, 0))
    clock, cpu = (np.diff(times)[SKIPPED - 1 :] for times in (watch.clock, watch.cpu))
    return {
        "benchmark": "training",
        "network": size,
        "precision": precision,
        "convolutions": "winograd" if any(fitted) else "pytorch",
        "threads": threads,
        "positions_per_second": round(sampler.batch_size / float(np.median(clock))),
        "positions_per_second_of_best_tenth": round(sampler.batch_size / float(np.quantile(clock, 0.1))),
        "positions_per_cpu_second": round(sampler.batch_size / float(np.median(cpu))),
        "load": round(psutil.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="b4c32")
    parser.add_argument("--board", type=int, default=7)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--precision", nargs="+", default=["f32", "bf16"])
    chosen = parser.parse_args()
    with games(chosen.board) as store:
        sampler = LabelSampler(store, batch_size=chosen.batch)
        print(json.dumps(drawing(sampler, 4 * chosen.steps)))
        for precision in chosen.precision:
            for threads in chosen.threads:
                for winograd in (True, False)[not _native.Winograd.available(precision) :]:
                    found = training(sampler, chosen.size, precision, threads, chosen.steps, winograd)
                    print(json.dumps(found), flush=True)
                    if found["convolutions"] == "pytorch":  # no layer fits: the next run would be the same
                        break


if __name__ == "__main__":
    main()
