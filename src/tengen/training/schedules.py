"""Progress of a run, and the learning-rate schedule that follows it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tengen.errors import RecipeError
from tengen.training.config import ScheduleConfig, TrainConfig


class Position(NamedTuple):
    """What the schedule reads: the number of the next step, the share of the run that is done (0 to 1), and the samples
    and epochs so far."""

    step: int
    done: float
    samples: float = 0.0
    epochs: float = 0.0


def progress(config: TrainConfig, step: int, hours: float) -> float:
    """The share of the run that is done after `step` steps and `hours` of training, 0 to 1."""
    steps = config.total_steps
    by_steps = step / steps if steps else 0.0
    by_clock = hours / config.max_hours if config.max_hours else 0.0
    return min(1.0, max(by_steps, by_clock))


def position(config: TrainConfig, step: int, hours: float) -> Position:
    """The position of a supervised run after `step` steps and `hours` of training."""
    samples = step * config.batch_size
    return Position(step, progress(config, step, hours), samples, samples / config.epoch if config.epoch else 0.0)


def factor(
    config: ScheduleConfig, step: int, done: float, samples: float = 0.0, epochs: float = 0.0, changes: int = 0
) -> float:
    """The share of the full learning rate at a `Position`; `changes` of a plateau schedule were made before it."""
    warm = min(1.0, (step + 1) / config.warmup_steps) if config.warmup_steps else 1.0
    now = {"steps": step, "samples": samples, "epochs": epochs}[config.unit]
    if config.shape in ("linear", "cosine"):
        if config.decay == 0:
            return warm
        left = min(1.0, (1.0 - done) / config.decay)
        falling = left if config.shape == "linear" else 0.5 - 0.5 * math.cos(math.pi * left)
        return warm * (config.min_factor + (1 - config.min_factor) * falling)
    share = 1.0
    if config.shape == "steps":
        share = config.factor ** sum(now >= point for point in config.at)
    elif config.shape == "halving" and config.every:
        share = 0.5 ** (now // config.every)
    elif config.shape == "exponential" and config.every:
        share = config.factor ** (now / config.every)
    elif config.shape == "inverse" and config.every:
        share = 1 / (1 + now / config.every)
    elif config.shape == "plateau":
        share = config.factor**changes
    return warm * max(share, config.min_factor)


def check_metric(config: ScheduleConfig, figures: Sequence[str]) -> None:
    """Raise RecipeError for a plateau of a figure that is not among those of the validations: its rate never falls."""
    if config.shape == "plateau" and config.metric not in figures:
        raise RecipeError(
            f"training.schedule.metric is {config.metric}, which the validations of this network on these games do not "
            f"have; give one of {', '.join(figures)}"
        )


class LearningRateSchedule:
    """The learning rate of a run, with what a plateau schedule remembers of the validations."""

    def __init__(self, config: ScheduleConfig) -> None:
        self._config = config
        self._lower_is_better = config.metric in ("cross_entropy", "value_mse")
        self._best: float | None = None
        self._since = config.after  # the epoch of the best figure or of the last change
        self._changes = 0

    def factor(self, at: Position) -> float:
        """The share of the full learning rate."""
        return factor(self._config, *at, changes=self._changes)

    def see(self, at: Position, figures: Mapping[str, float]) -> None:
        """Take note of a validation. A figure that is equal to the best is no new best."""
        if self._config.shape != "plateau" or self._config.metric not in figures:
            return
        figure = figures[self._config.metric]
        epoch = math.floor(at.epochs + 1e-9)
        if self._best is None or (figure < self._best if self._lower_is_better else figure > self._best):
            self._best, self._since = figure, max(epoch, self._config.after)
        elif epoch - self._since >= self._config.patience:
            self._changes, self._since = self._changes + 1, epoch

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint saves."""
        return {"metric": self._config.metric, "best": self._best, "since": self._since, "changes": self._changes}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` returned. A best figure of another metric is forgotten."""
        self._best = state["best"] if state["metric"] == self._config.metric else None
        self._since, self._changes = int(state["since"]), int(state["changes"])
