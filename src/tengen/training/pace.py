"""How long the steps and the validations of a supervised run take on this machine."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from tengen.data.sampler import Sampler
from tengen.training.batches import BatchStream, TensorBatch
from tengen.training.callbacks import Stopwatch
from tengen.training.config import RunConfig
from tengen.training.fabric import set_threads
from tengen.training.metrics import measure
from tengen.training.samplers import Samplers
from tengen.training.schedules import Position
from tengen.training.supervised import make_trainer
from tengen.training.trainer import Trainer
from tengen.training.validation import evaluator_of


@dataclass(frozen=True)
class Pace:
    """Over `steps` steps: seconds per step with its data, the share of them spent waiting for data; and seconds per
    position of a validation."""

    steps: int
    step_seconds: float
    waiting: float
    validation_seconds: float


def measure_pace(run: RunConfig, samplers: Samplers, seconds: float) -> Pace:
    """Train by a run's settings for about `seconds`, at least three steps, and validate one batch; nothing is kept."""
    threads = torch.get_num_threads()
    try:
        set_threads(run.training)
        trainer = make_trainer(run, samplers.train.plane_set)
        stream = BatchStream(samplers.train, 0, run.data.ahead, trainer.device)
        stopwatch = Stopwatch(stream, seconds)
        trainer.callbacks = [stopwatch]
        trainer.position = lambda step, _: Position(step, 0.0)  # the stopwatch ends it
        trainer.fit(stream)
        return Pace(
            steps=stopwatch.steps,
            step_seconds=stopwatch.seconds / stopwatch.steps,
            waiting=stopwatch.waited / stopwatch.seconds,
            validation_seconds=_validation_seconds(trainer, samplers.validation),
        )
    finally:
        torch.set_num_threads(threads)


def _validation_seconds(trainer: Trainer[TensorBatch], validation: Sampler) -> float:
    """Seconds per position, over one batch."""
    evaluator = evaluator_of(trainer, validation)
    positions = min(validation.batch_size, validation.positions)
    start = time.perf_counter()
    measure(evaluator, validation, positions)
    return (time.perf_counter() - start) / positions
