"""What watches a run: the log of losses and rates, validation at a steady pace, the progress bar."""

import signal
import threading
import time
from types import FrameType
from typing import Any

import lightning as L

from tengen.data.sampler import Sampler
from tengen.evaluators.torch import TorchEvaluator
from tengen.runs.events import Journal
from tengen.runs.progress import new_bar
from tengen.training.accuracy import Estimate, measure
from tengen.training.batches import BatchStream
from tengen.training.module import TrainingModule


class LossLog(L.Callback):
    """Writes an event `train` every `every` steps: mean losses, learning rate, positions a second, share of time spent
    waiting for data."""

    def __init__(self, journal: Journal, stream: BatchStream, every: int) -> None:
        self._journal = journal
        self._stream = stream
        self._every = every
        self._sums: dict[str, float] = {}
        self._steps = 0
        self._since = time.perf_counter()
        self.rate = 0.0

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self._since = time.perf_counter()

    def on_train_batch_end(self, trainer: L.Trainer, pl_module: L.LightningModule, *_: Any) -> None:
        assert isinstance(pl_module, TrainingModule)
        for name, loss in pl_module.parts.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(loss)
        self._steps += 1
        if trainer.global_step % self._every == 0:
            self._write(trainer.global_step, pl_module)

    def _write(self, step: int, module: TrainingModule) -> None:
        elapsed = time.perf_counter() - self._since
        self.rate = self._steps * module.run.training.batch_size / elapsed
        means = {name: round(value / self._steps, 5) for name, value in self._sums.items()}
        self._journal.write(
            "train",
            step,
            {
                **means,
                "lr": module.learning_rate,
                "rate": round(self.rate, 1),
                "waiting": round(self._stream.take_waited() / elapsed, 4),
                "done": round(module.done, 5),
                "hours": round(module.seconds / 3600, 4),
            },
        )
        self._sums, self._steps = {}, 0
        self._since = time.perf_counter()


class Validation(L.Callback):
    """Judges the averaged network every `every` steps and at the end, on the same positions each time.

    Writes an event `validation` with the mean and 95% interval of each figure that is known, and the number of
    positions. `last` holds the newest figures.
    """

    def __init__(self, journal: Journal, sampler: Sampler, positions: int, every: int) -> None:
        self._journal = journal
        self._sampler = sampler
        self._positions = positions
        self._every = every
        self._step = -1
        self.last: dict[str, Estimate] = {}

    def on_train_batch_end(self, trainer: L.Trainer, pl_module: L.LightningModule, *_: Any) -> None:
        if trainer.global_step % self._every == 0:
            self._validate(trainer.global_step, pl_module)

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        assert isinstance(pl_module, TrainingModule)
        if pl_module.done >= 1.0 and self._step != trainer.global_step:
            self._validate(trainer.global_step, pl_module)

    def _validate(self, step: int, module: L.LightningModule) -> None:
        assert isinstance(module, TrainingModule)
        self._step = step
        evaluator = TorchEvaluator(
            module.average, name="in training", plane_set=self._sampler.plane_set.name, device=str(module.device)
        )
        judgement = measure(evaluator, self._sampler, self._positions)
        self.last = {name: figure for name, figure in judgement.estimates().items() if figure.count}
        values: dict[str, Any] = {name: round(figure.mean, 5) for name, figure in self.last.items()}
        intervals = {name: figure.interval(5) for name, figure in self.last.items()}
        self._journal.write("validation", step, {**values, "intervals": intervals, "count": len(judgement)})


class ProgressBar(L.Callback):
    """A bar with the rate, the policy loss, the newest top-1 and the time that is left."""

    def __init__(self, log: LossLog, validation: Validation) -> None:
        self._log = log
        self._validation = validation
        self._bar = new_bar()
        self._task = self._bar.add_task("training", total=1.0)

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self._bar.start()

    def on_train_batch_end(self, trainer: L.Trainer, pl_module: L.LightningModule, *_: Any) -> None:
        assert isinstance(pl_module, TrainingModule)
        top1 = self._validation.last.get("top1")
        parts = [
            f"step {trainer.global_step:,}",
            f"{self._log.rate:,.0f} positions/s",
            f"loss {float(pl_module.parts['policy']):.3f}",
            *([f"top-1 {top1.mean:.1%}"] if top1 else []),
        ]
        self._bar.update(self._task, completed=pl_module.done, description=", ".join(parts))

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self._bar.stop()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        self._bar.stop()


class Stopping(L.Callback):
    """Ends the run when its time is up, or after the current step on Ctrl-C and SIGTERM: then it is `interrupted`."""

    def __init__(self) -> None:
        self.interrupted = False
        self._before: dict[signal.Signals, Any] = {}

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._interrupt)

    def on_train_batch_end(self, trainer: L.Trainer, pl_module: L.LightningModule, *_: Any) -> None:
        assert isinstance(pl_module, TrainingModule)
        if self.interrupted or pl_module.done >= 1.0:
            trainer.should_stop = True

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True
