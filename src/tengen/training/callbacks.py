"""Callbacks of the trainer: log, checkpoints, progress bar, interruption; and the registry of further ones.

Recipes name registered callbacks with their settings: `callbacks: {my-callback: {every: 10}}`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from rich.progress import Progress
from torch import Tensor

from tengen.errors import RecipeError
from tengen.plugins import Registry, described
from tengen.runs.checkpoints import save_checkpoint
from tengen.runs.events import EventLog
from tengen.runs.interruption import ShutdownFlag
from tengen.training.batches import BatchStream
from tengen.training.tensor_file import State
from tengen.training.trainer import Callback, Trainer
from tengen.training.validation import Validation

CALLBACKS: Registry[Callable[..., Callback]] = Registry("callback", "tengen.callbacks", {}, RecipeError)
"""Further callbacks by name: types or functions that make a Callback from the settings of the recipe."""


def make_callbacks(settings: Mapping[str, Mapping[str, Any]]) -> list[Callback]:
    """The callbacks of a recipe. Raises RecipeError for an unknown one and for settings that it does not take."""
    made = []
    for name, options in settings.items():
        maker = CALLBACKS[name]
        try:
            callback = maker(**options)
        except (TypeError, ValueError) as error:
            raise RecipeError(f"callbacks.{name}: {error} (found {dict(options)})") from error
        if not isinstance(callback, Callback):
            raise RecipeError(f"callbacks.{name} makes {described(callback)}, no Callback")
        made.append(callback)
    return made


class LossMeans(Callback):
    """The mean of each loss since the last `take`."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self.steps = 0

    def on_step(self, trainer: Trainer[Any]) -> None:
        for name, loss in trainer.losses.items():
            # Not as a float: that would wait for the GPU at each step.
            self._sums[name] = loss.double() if name not in self._sums else self._sums[name] + loss
        self.steps += 1

    def take(self) -> dict[str, float]:
        """The means by name; then begin anew."""
        means = {name: round(float(total) / self.steps, 5) for name, total in self._sums.items()}
        self._sums, self.steps = {}, 0
        return means

    def state_dict(self) -> State:
        return {"steps": self.steps, "sums": {name: float(total) for name, total in self._sums.items()}}

    def load_state_dict(self, state: State) -> None:
        self.steps = int(state["steps"])
        self._sums = {name: torch.tensor(total, dtype=torch.float64) for name, total in state["sums"].items()}


class LossLog(Callback):
    """Writes an event `train` every `every` steps and at the end of training: mean losses, learning rate, positions per
    second, share of the time spent waiting for data. Validations and checkpoints are no part of that time.

    `losses` is a callback of the same trainer, before this one.
    """

    def __init__(self, losses: LossMeans, log: EventLog, stream: BatchStream, batch_size: int, every: int) -> None:
        self._losses = losses
        self._events = log
        self._stream = stream
        self._batch_size = batch_size
        self._every = every
        self._since = self._stepped = time.perf_counter()
        self._timed = 0  # steps since then: not those of the means before a stop
        self.rate = 0.0
        self.means: dict[str, float] = {}

    def on_start(self, trainer: Trainer[Any]) -> None:
        self._since = self._stepped = time.perf_counter()

    def on_step(self, trainer: Trainer[Any]) -> None:
        self._timed += 1
        if trainer.step % self._every == 0:
            self._write(trainer)
        self._stepped = time.perf_counter()

    def on_validation(self, trainer: Trainer[Any], figures: Mapping[str, float]) -> None:
        self._leave_out()

    def on_checkpoint(self, trainer: Trainer[Any], path: Path) -> None:
        self._leave_out()

    def on_end(self, trainer: Trainer[Any]) -> None:
        if trainer.done >= 1 and self._losses.steps:
            self._write(trainer)

    def _leave_out(self) -> None:
        """Leave the time since the last step out of the rate."""
        now = time.perf_counter()
        self._since += now - self._stepped
        self._stepped = now

    def _write(self, trainer: Trainer[Any]) -> None:
        self.means = self._losses.take()  # which waits for the device
        now = time.perf_counter()
        elapsed, self._since = now - self._since, now
        self.rate, self._timed = self._timed * self._batch_size / elapsed, 0
        values = {
            **self.means,
            "lr": trainer.learning_rate,
            "rate": round(self.rate, 1),
            "waiting": round(self._stream.take_waited() / elapsed, 4),
            "done": round(trainer.done, 5),
            "hours": round(trainer.seconds / 3600, 4),
        }
        self._events.write("train", trainer.step, values)


class Checkpoints(Callback):
    """Saves the trainer every `minutes` and at the end, with the entries that `extra` returns; keeps the newest
    `keep`."""

    def __init__(self, folder: Path, minutes: float, keep: int, extra: Callable[[], Mapping[str, Any]]) -> None:
        self.folder = folder
        self._interval = minutes * 60
        self._keep = keep
        self._extra = extra
        self._last = time.monotonic()

    def on_step(self, trainer: Trainer[Any]) -> None:
        if time.monotonic() - self._last >= self._interval:
            self.save(trainer)

    def on_end(self, trainer: Trainer[Any]) -> None:
        self.save(trainer)

    def save(self, trainer: Trainer[Any]) -> None:
        """Write the checkpoint of the current step."""
        save_checkpoint(self.folder, trainer.step, self._keep, lambda path: trainer.save(path, **self._extra()))
        self._last = time.monotonic()


class ProgressBar(Callback):
    """Shows the rate, the loss, the newest accuracy and the time left: those of the policy, or of the value alone."""

    def __init__(self, bar: Progress, log: LossLog, validation: Validation, has_policy: bool) -> None:
        self._log = log
        self._validation = validation
        self._loss, self._metric, self._label = (
            ("policy", "top1", "top-1") if has_policy else ("value", "value_accuracy", "winner")
        )
        self._bar = bar
        self._task = bar.add_task("training", total=1.0)

    def on_step(self, trainer: Trainer[Any]) -> None:
        metric = self._validation.last.get(self._metric)
        parts = [
            f"step {trainer.step:,}",
            *([f"loss {self._log.means[self._loss]:.3f}"] if self._log.means else []),
            *([f"{self._label} {metric.mean:.1%}"] if metric else []),
            *([f"{self._log.rate:,.0f} positions/s"] if self._log.rate else []),  # cut in a narrow window
        ]
        self._bar.update(self._task, completed=trainer.done, description=", ".join(parts))


class StopOnSignal(Callback):
    """Ends training after the current step on Ctrl-C and SIGTERM."""

    def __init__(self, stop: ShutdownFlag) -> None:
        self._stop = stop

    def on_step(self, trainer: Trainer[Any]) -> None:
        trainer.should_stop |= bool(self._stop)


class Stopwatch(Callback):
    """Measures the steps after the first one and stops after `seconds` of them, but takes at least two."""

    def __init__(self, stream: BatchStream, seconds: float) -> None:
        self._stream = stream
        self._limit = seconds
        self._started: float | None = None
        self.steps = 0
        self.seconds = 0.0
        self.waited = 0.0

    def on_step(self, trainer: Trainer[Any]) -> None:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        now = time.perf_counter()
        if self._started is None:
            self._started = now
            self._stream.take_waited()
            return
        self.steps += 1
        self.seconds = now - self._started
        self.waited += self._stream.take_waited()
        trainer.should_stop |= self.steps >= 2 and self.seconds >= self._limit
