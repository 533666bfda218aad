"""How fast a run trains here, from a few of its steps."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightning as L
import torch
from torch.utils.data import DataLoader

from tengen.evaluators.torch import TorchEvaluator
from tengen.training.accuracy import measure
from tengen.training.batches import BatchStream, TensorBatch
from tengen.training.config import RunConfig
from tengen.training.module import TrainingModule
from tengen.training.run import Samplers, make_trainer

_WARM_UP = 1  # steps before the first that is measured
_LEAST = 2  # steps measured, however little time there is


@dataclass(frozen=True)
class Pace:
    """Over `steps` steps: seconds a step with its data, the share of them spent waiting for data; and seconds of
    judging a position."""

    steps: int
    step_seconds: float
    waiting: float
    judging_seconds: float


class _Stopwatch(L.Callback):
    """Times the steps after the first and ends the run when `seconds` are over."""

    def __init__(self, stream: BatchStream, seconds: float) -> None:
        self._stream = stream
        self._limit = seconds
        self._started = 0.0
        self.steps = 0
        self.seconds = 0.0
        self.waited = 0.0

    def on_train_batch_end(self, trainer: L.Trainer, pl_module: L.LightningModule, *_: Any) -> None:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        now = time.perf_counter()
        if trainer.global_step <= _WARM_UP:
            self._started = now
            self._stream.take_waited()
            return
        self.steps += 1
        self.seconds = now - self._started
        self.waited += self._stream.take_waited()
        if self.steps >= _LEAST and self.seconds >= self._limit:
            trainer.should_stop = True


def measure_pace(run: RunConfig, samplers: Samplers, seconds: float) -> Pace:
    """Train by a run's settings for about `seconds`, at least three steps, and judge one batch; nothing is kept."""
    threads = torch.get_num_threads()
    if run.training.threads:
        torch.set_num_threads(run.training.threads)
    try:
        module = TrainingModule(run, samplers.train.plane_set)
        stream = BatchStream(samplers.train, 0, run.data.ahead)
        stopwatch = _Stopwatch(stream, seconds)
        loader: DataLoader[TensorBatch] = DataLoader(stream, batch_size=None)
        with tempfile.TemporaryDirectory(prefix="tengen-pace-") as folder:
            make_trainer(run.training, Path(folder), [stopwatch], endless=True).fit(module, loader)
        return Pace(
            steps=stopwatch.steps,
            step_seconds=stopwatch.seconds / stopwatch.steps,
            waiting=stopwatch.waited / stopwatch.seconds,
            judging_seconds=_judging_seconds(module, samplers),
        )
    finally:
        torch.set_num_threads(threads)


def _judging_seconds(module: TrainingModule, samplers: Samplers) -> float:
    """Seconds a position of one batch of the validation."""
    evaluator = TorchEvaluator(
        module.average, name="measured", plane_set=samplers.validation.plane_set.name, device=str(module.device)
    )
    positions = min(samplers.validation.batch_size, samplers.validation.positions)
    start = time.perf_counter()
    measure(evaluator, samplers.validation, positions)
    return (time.perf_counter() - start) / positions
