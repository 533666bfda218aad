"""Progress of a run, and the learning-rate schedule that follows it."""

import math

from tengen.training.config import ScheduleConfig, TrainConfig


def progress(config: TrainConfig, step: int, hours: float) -> float:
    """The share of the run that is done after `step` steps and `hours` of training, 0 to 1."""
    by_steps = step / config.steps if config.steps else 0.0
    by_clock = hours / config.max_hours if config.max_hours else 0.0
    return min(1.0, max(by_steps, by_clock))


def factor(config: ScheduleConfig, step: int, done: float) -> float:
    """The share of the full learning rate for step number `step` (from 0) when the share `done` of the run is done."""
    warm = min(1.0, (step + 1) / config.warmup_steps) if config.warmup_steps else 1.0
    if config.decay == 0:
        return warm
    left = min(1.0, (1.0 - done) / config.decay)
    falling = left if config.shape == "linear" else 0.5 - 0.5 * math.cos(math.pi * left)
    return warm * (config.min_factor + (1 - config.min_factor) * falling)
