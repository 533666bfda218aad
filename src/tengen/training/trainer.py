"""The training loop of supervised runs, of self-play and of learning from results, on Lightning Fabric.

A `Trainer` owns what changes while a network learns: the network, its moving average, the optimizer, the range of the
scalars and two counters. The data is any iterable of batches, the loss any function of output and batch; everything
else (logs, validation, checkpoints) is a `Callback`.
"""

from __future__ import annotations

import copy
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

import torch
from lightning_fabric import Fabric
from lightning_utilities.core.apply_func import apply_to_collection
from torch import Tensor, nn

from tengen.data.seeds import derive
from tengen.disk import write_whole
from tengen.errors import RecipeError, TrainingDiverged
from tengen.machine import keep_freed_memory
from tengen.networks import NetOutput
from tengen.networks.constant_inputs import ScalarRange, without_constants
from tengen.runs.checkpoints import checkpoints, newest_readable
from tengen.training.config import TrainerConfig
from tengen.training.convolution import accelerate, pays
from tengen.training.fabric import in_bf16, make_fabric
from tengen.training.losses import PartWeights
from tengen.training.optimizers import make_optimizer
from tengen.training.ranks import FOREVER
from tengen.training.schedules import LearningRateSchedule, Position
from tengen.training.tensor_file import State, load_tensors, save_tensors

_LOOK_EVERY = 16  # steps between two looks at the loss on a GPU: a look waits for the device


class Inputs(Protocol):
    """What a batch must have: planes [B, C, H, W], scalars [B, S], mask [B, H, W]. The loss reads the rest."""

    @property
    def planes(self) -> Tensor: ...
    @property
    def scalars(self) -> Tensor: ...
    @property
    def mask(self) -> Tensor: ...


BatchT = TypeVar("BatchT", bound=Inputs)
Loss = Callable[[NetOutput, BatchT], tuple[Tensor, Mapping[str, Tensor]]]
"""The scalar to minimize, and its unweighted parts by name for the log."""
PositionOf = Callable[[int, float], Position]
"""From (steps taken, seconds of training) to what the learning-rate schedule reads: its step, the share of the run that
is done (0 to 1), and for schedules in those units the samples and epochs."""


class Callback:
    """Hooks of a `Trainer`, called between its steps; a subclass overrides those that it needs.

    All methods run between two steps, in the order of the trainer's callbacks. They may read the trainer and set
    `trainer.should_stop`; a supervised run that a callback ended so is over until the callbacks of its recipe change. A
    callback must not change the weights if a resumed run is to repeat bit for bit.
    """

    def on_start(self, trainer: Trainer[Any]) -> None:
        """Before the first step of `Trainer.fit`."""

    def on_step(self, trainer: Trainer[Any]) -> None:
        """After each step; `trainer.losses` has its losses."""

    def on_validation(self, trainer: Trainer[Any], figures: Mapping[str, float]) -> None:
        """After a validation; `figures` has the means by name, such as top1."""

    def on_checkpoint(self, trainer: Trainer[Any], path: Path) -> None:
        """After a checkpoint was written."""

    def on_end(self, trainer: Trainer[Any]) -> None:
        """After the last step of `Trainer.fit`, also when a callback stopped it, but not after an error."""

    def state_dict(self) -> State:
        """What a resumed run needs, of types that a checkpoint holds: numbers, text, tensors, lists, dictionaries."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Go on from what `state_dict` returned."""


class Trainer(Generic[BatchT]):
    """Trains `network` by `config`, minimizing `loss`.

    `average` is the exponential moving average of the weights with decay `ema` (the network itself where that is 0):
    it is what is validated and exported. `step` counts the steps so far, `seconds` the time spent in `fit`, both over
    all starts of a run; `losses` has the parts of the last step. `seed` decides the random numbers of a step (dropout)
    together with its number, so that a resumed run repeats them. `prepare` changes each batch, or part of one, on the
    device before its step, as a teacher that labels it does.

    With several ranks each has a trainer, which sees the rank's rows of each batch; callbacks run in rank 0 alone. The
    gradient and the losses are those of the whole batch, however many devices and parts compute it, up to the order of
    sums in float32. What a network computes from its own rows alone differs: batch norm, and dropout masks.
    """

    def __init__(
        self,
        network: nn.Module,
        config: TrainerConfig,
        loss: Loss[BatchT],
        *,
        scalars: int,
        position: PositionOf,
        ema: float = 0.0,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        fabric: Fabric | None = None,
        prepare: Callable[[BatchT], BatchT] | None = None,
    ) -> None:
        self.config = config
        self.callbacks = list(callbacks)
        self.position = position
        self.step = 0
        self.seconds = 0.0
        self.losses: Mapping[str, Tensor] = {}
        self.should_stop = False
        self.fabric = make_fabric(config) if fabric is None else fabric
        self._loss = loss
        self._prepare = prepare
        self._ema = ema
        self._seed = seed
        self._decided: float | None = None  # factor of the learning rate, which rank 0 knows
        alone = self.fabric.world_size == 1
        self._control = None if alone else torch.distributed.new_group(backend="gloo", timeout=FOREVER)
        self.network: nn.Module = network.to(self.fabric.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average: nn.Module = copy.deepcopy(self.network).requires_grad_(False) if ema else self.network
        precision: Literal["f32", "bf16"] = "bf16" if in_bf16(config.precision, config.device) else "f32"
        if self.device.type == "cpu":
            keep_freed_memory()
            if not config.compile and pays(precision):
                accelerate(self.network, precision)
        self.scalars = ScalarRange(scalars).to(self.fabric.device)
        self.optimizer = make_optimizer(self.network, config.optimizer)
        self.schedule = LearningRateSchedule(config.schedule)
        compiled: Any = torch.compile(self.network) if config.compile else self.network
        self._module, self._stepper = self.fabric.setup(compiled, self.optimizer)
        self._finite = torch.ones((), dtype=torch.bool, device=self.device)  # whether all losses so far are
        self._last: BatchT | None = None

    @property
    def done(self) -> float:
        """The share of the run that is done, 0 to 1."""
        return self._position().done

    @property
    def learning_rate(self) -> float:
        """The learning rate of the last step, of the first group of parameters."""
        return float(self.optimizer.param_groups[0]["lr"])

    @property
    def device(self) -> torch.device:
        return self.fabric.device

    @property
    def hardware(self) -> str:
        """The processors that train, for a card."""
        number = self.fabric.world_size
        if self.device.type == "cuda":
            return (f"{number} x " if number > 1 else "") + str(torch.cuda.get_device_name(self.device))
        threads = number * torch.get_num_threads()
        return f"{threads} CPU {'thread' if threads == 1 else 'threads'}, {platform.machine()}"

    def fit(self, batches: Iterable[BatchT], steps: int | None = None) -> None:
        """Take a step for each batch until `step` is `steps`, the run is done or a callback sets `should_stop`."""
        self.should_stop = False
        self._module.train()
        earlier, started = self.seconds, time.monotonic()
        self.call("on_start")
        ended = self._agree(False)
        for batch in batches:
            if ended:
                break
            self.train_step(batch)
            self.seconds = earlier + time.monotonic() - started
            self.call("on_step")
            if ended := self._agree(self.should_stop or self.done >= 1 or self.step == steps):
                break
        self.call("on_end")

    def train_step(self, batch: BatchT) -> Tensor | None:
        """Move the weights once; returns the norm of the gradient where it is clipped.

        `batch` holds the rows of this rank. Raises TrainingDiverged, and leaves the weights as they are, for a loss
        that is not finite; on a GPU up to 16 steps later, and never after a checkpoint.
        """
        parts, first = self._prepared(batch), self.fabric.global_rank * self.config.accumulate
        weights = PartWeights() if self.fabric.world_size * len(parts) > 1 else None
        found: list[Mapping[str, Tensor]] = []
        self._set_learning_rate()
        self._stepper.zero_grad(set_to_none=True)
        for number, part in enumerate(parts):
            torch.manual_seed(derive(self._seed, self.step, *([first + number] if first + number else [])))
            self.scalars.see(part.scalars)
            with self.fabric.no_backward_sync(self._module, enabled=number + 1 < len(parts)):
                # Forward: in the precision of the run. The losses are computed in float32.
                output: NetOutput = self._module(part.planes, part.scalars, part.mask)
                if weights is not None and weights.shares is None:
                    self._share(weights, output, parts)
                with nullcontext() if weights is None else weights.use():
                    total, losses = self._loss(output, part)
                found.append({name: loss.detach() for name, loss in losses.items()})
                self.fabric.backward(total if len(parts) == 1 else total / len(parts))
        self.losses = found[0] if weights is None else self._mean_losses(found)
        # The mean of all ranks: all of them stop at the same step.
        self._finite &= torch.stack([loss.isfinite() for loss in self.losses.values() or (total.detach(),)]).all()
        if self.device.type == "cpu" or self.step % _LOOK_EVERY == 0:
            self._check_losses()
        self._last = part
        norm = None
        if self.config.clip is not None:
            norm = self.fabric.clip_gradients(
                self._module, self._stepper, max_norm=self.config.clip, error_if_nonfinite=False
            )
        self._stepper.step()
        self.step += 1
        self._move_average()
        return norm

    @torch.no_grad()
    def _prepared(self, batch: BatchT) -> list[BatchT]:
        """The parts of a batch on the device."""
        parts = [self.fabric.to_device(part) for part in _split(batch, self.config.accumulate)]
        return parts if self._prepare is None else [self._prepare(part) for part in parts]

    @torch.no_grad()
    def _share(self, weights: PartWeights, output: NetOutput, parts: Sequence[BatchT]) -> None:
        """Find the weights of the losses in all parts of all ranks, and the range of the scalars in all ranks."""
        output = apply_to_collection(output, Tensor, Tensor.detach)
        for part in parts:
            with weights.collect():
                self._loss(output, part)
        mean = torch.stack(weights.parts).mean(0)
        if self.fabric.world_size > 1:
            mine = torch.cat([mean, self.scalars.lowest, self.scalars.highest])
            split = [len(mean), len(self.scalars.lowest), len(self.scalars.highest)]
            means, lowest, highest = torch.split(self._gather(mine), split, dim=1)
            mean = means.mean(0)
            self.scalars.lowest.copy_(lowest.amin(0))
            self.scalars.highest.copy_(highest.amax(0))
        weights.shares = mean

    @torch.no_grad()
    def _mean_losses(self, found: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
        """The losses of the whole batch from those of the parts of this rank."""
        mean = torch.stack([torch.stack([loss.float() for loss in losses.values()]) for losses in found]).mean(0)
        if self.fabric.world_size > 1:
            mean = self._gather(mean).mean(0)
        return dict(zip(found[0], mean, strict=True))

    def _gather(self, mine: Tensor) -> Tensor:
        """The values of all ranks, [ranks, ...]."""
        found = self.fabric.all_gather(mine)
        assert isinstance(found, Tensor)
        return found

    def _agree(self, ended: bool) -> bool:
        """Whether rank 0 ends `fit`; it also tells the seconds and what validations did to the learning rate."""
        if self._control is None:
            return ended
        control = torch.tensor([ended, self.seconds, self.schedule.factor(self._position())], dtype=torch.float64)
        torch.distributed.broadcast(control, 0, group=self._control)
        ended, self.seconds, self._decided = bool(control[0]), float(control[1]), float(control[2])
        return ended

    @torch.no_grad()
    def forward(self, batch: Inputs) -> NetOutput:
        """The output of the network in training for a batch, without gradients."""
        output: NetOutput = self._module(*self.fabric.to_device((batch.planes, batch.scalars, batch.mask)))
        return output

    def playing(self) -> nn.Module:
        """A copy of the averaged network for play: scalars that were constant in training have no effect in it."""
        return without_constants(self.average, self.scalars.constant)

    def validated(self, figures: Mapping[str, float]) -> None:
        """Tell the schedule and the callbacks of a validation: the mean of each figure by name."""
        self.schedule.see(self._position(), figures)
        self.call("on_validation", figures)

    def call(self, hook: str, *values: Any) -> None:
        """Call a method of all callbacks, in their order, in rank 0."""
        for callback in self.callbacks if self.fabric.global_rank == 0 else ():
            getattr(callback, hook)(self, *values)

    def state(self) -> State:
        """Everything that decides the next step, for a checkpoint. Raises as `check_finite`."""
        self.check_finite()
        return {
            "step": self.step,
            "seconds": self.seconds,
            "network": self.network.state_dict(),
            "average": self.average.state_dict() if self._ema else None,
            "scalars": self.scalars.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "callbacks": {type(one).__qualname__: state for one in self.callbacks if (state := one.state_dict())},
        }

    @torch.no_grad()
    def check_finite(self) -> None:
        """Raise TrainingDiverged unless all losses so far, all weights and the averaged network's loss on the last
        batch are finite."""
        self._check_losses()
        for module in (self.network, self.average):
            if not all(bool(weights.isfinite().all()) for weights in module.state_dict().values()):
                raise self._diverged("a weight")
        if self._last is not None:
            batch, mode = self._last, self.average.training
            loss, _ = self._loss(self.average.eval()(batch.planes, batch.scalars, batch.mask), batch)
            self.average.train(mode)
            if not loss.isfinite():
                raise self._diverged("the loss of the averaged network")

    def _check_losses(self) -> None:
        if not self._finite:
            raise self._diverged("the loss")

    def _diverged(self, what: str) -> TrainingDiverged:
        section, rate = self.config.section, self.config.optimizer.lr
        if self.step == 0:  # no learning rate has had an effect
            return TrainingDiverged(
                f"training cannot begin: {what} is not finite at step 0, before a weight has changed: look for NaN and "
                "infinity in targets and losses of your own, or in the weights of the network that it starts from"
            )
        return TrainingDiverged(
            f"training diverged: {what} is not finite at step {self.step:,}; the last checkpoint, if any, is kept: the "
            f"same command with a lower --set {section}.optimizer.lr=... (now {rate:g}) or with {section}.clip goes on"
        )

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned, on any device, with the learning rates of the configuration.

        Raises RecipeError for what another version returned.
        """
        rates = [group["initial_lr"] for group in self.optimizer.param_groups]
        self.step, self.seconds = int(state["step"]), float(state["seconds"])
        self.network.load_state_dict(state["network"])
        if self._ema:
            self.average.load_state_dict(state["average"])
        self.scalars.load_state_dict(state["scalars"])
        try:
            self.optimizer.load_state_dict(state["optimizer"])
            self.schedule.load_state_dict(state["schedule"])
            states = state["callbacks"]
        except (KeyError, ValueError) as error:
            raise RecipeError(
                f"the checkpoint of step {self.step} was written by another version of Tengen; give another folder "
                "with --out"
            ) from error
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["initial_lr"] = rate
        for callback in self.callbacks:
            if found := states.get(type(callback).__qualname__):
                callback.load_state_dict(found)

    def save(self, path: Path, **extra: Any) -> None:
        """Write `state` and `extra` entries as a checkpoint, under a temporary name first."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(path, checksum=True) as temporary:
            save_tensors({**self.state(), **extra}, temporary)
        self.call("on_checkpoint", path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        self.restore(read_checkpoint(path))

    def _position(self) -> Position:
        return self.position(self.step, self.seconds)

    def _set_learning_rate(self) -> None:
        share = self.schedule.factor(self._position()) if self._decided is None else self._decided
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"] * share

    @torch.no_grad()
    def _move_average(self) -> None:
        """Faster than `ema` at first, when the weights change most."""
        if not self._ema:
            return
        step = self._position().step
        keep = min(self._ema, (1 + step) / (10 + step))
        torch._foreach_lerp_(list(self.average.parameters()), list(self.network.parameters()), 1 - keep)
        # Running statistics too. Validation loss of a 3-block network after 600 steps: 3.013; with the newest
        # statistics 3.089, with statistics estimated again 3.020.
        for mean, newest in zip(self.average.buffers(), self.network.buffers(), strict=True):
            _ = mean.lerp_(newest, 1 - keep) if mean.is_floating_point() else mean.copy_(newest)


def read_checkpoint(path: Path) -> State:
    """What `Trainer.save` wrote, on the CPU. Raises DamagedCheckpoint, and RecipeError for a checkpoint in the form of
    an earlier version."""
    state = load_tensors(path)
    if "network" not in state:
        raise RecipeError(f"{path} was written by another version of Tengen; give another folder with --out")
    return state


def newest_checkpoint(folder: Path) -> tuple[Path, State] | None:
    """(path, state) of the newest checkpoint in a folder that can be read; None where there is none.

    Damaged ones are skipped with a warning in the log; raises DamagedCheckpoint where all are.
    """
    return newest_readable((path for _, path in checkpoints(folder)), read_checkpoint)


def _split(batch: BatchT, parts: int) -> list[BatchT]:
    """Equal parts of the rows of a batch, in their order."""
    if parts == 1:
        return [batch]
    return [apply_to_collection(batch, Tensor, lambda rows, n=n: rows.tensor_split(parts)[n]) for n in range(parts)]
