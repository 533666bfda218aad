"""The Lightning module: network, its moving average, losses, learning rate."""

import copy
import time
from collections.abc import Callable
from typing import Any

import lightning as L
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from tengen.data.planes import PlaneSet
from tengen.networks import NetOutput, build, parse_config
from tengen.networks.scalars import ScalarRange, without_constants
from tengen.training.batches import TensorBatch
from tengen.training.config import RunConfig
from tengen.training.losses import losses, total
from tengen.training.optimizers import make_optimizer
from tengen.training.schedule import factor, progress


class TrainingModule(L.LightningModule):
    """A network in training for `run`, reading the plane set `inputs`.

    `average` is the exponential moving average of the weights: the network that is judged and exported. `parts` holds
    the losses of the last step by head, `seconds` the time spent in training, earlier starts of the run included.

    A run that is not one row of steps (self-play learns cycle by cycle) overrides `steps` and `done`, on which the
    learning rate and the average depend.
    """

    _forward: Callable[..., NetOutput]

    def __init__(self, run: RunConfig, inputs: PlaneSet) -> None:
        super().__init__()
        self.run = run
        self.planes = [*inputs.planes, *inputs.scalars]
        torch.manual_seed(run.training.seed)
        self.network = build(parse_config(run.network), len(inputs.planes), len(inputs.scalars))
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average = copy.deepcopy(self.network).requires_grad_(False)
        # Past nn.Module, which would take it for another part and save the network under a second name.
        self.__dict__["_forward"] = torch.compile(self.network) if run.training.compile else self.network
        self.scalars = ScalarRange(len(inputs.scalars))
        self.parts: dict[str, Tensor] = {}
        self._earlier = 0.0
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return self._earlier + time.monotonic() - self._started

    @property
    def steps(self) -> int:
        """Steps of the run so far."""
        return self.global_step

    @property
    def done(self) -> float:
        """How much of the run is behind us, 0 to 1."""
        return progress(self.run.training, self.steps, self.seconds / 3600)

    def on_train_start(self) -> None:
        self._started = time.monotonic()

    def on_train_batch_start(self, batch: TensorBatch, batch_idx: int) -> None:
        """Set the learning rate: a function of step and progress alone, so that there is no state to lose."""
        share = factor(self.run.training.schedule, self.steps, self.done)
        for group in self._optimizer().param_groups:
            group["lr"] = group["initial_lr"] * share

    def training_step(self, batch: TensorBatch, batch_idx: int) -> Tensor:
        self.scalars.see(batch.scalars)
        output = self._forward(batch.planes, batch.scalars, batch.mask)
        parts = losses(output, batch)
        self.parts = {name: loss.detach() for name, loss in parts.items()}
        return total(parts, self.run.training.losses)

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then move the average: slowly in the end, faster at first, when the weights change most.

        Here and not at the end of the batch, which callbacks that save the state see first.
        """
        super().optimizer_step(*args, **kwargs)
        step = self.steps + 1
        keep = min(self.run.training.ema, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.network.parameters()), 1 - keep)
            for mean, newest in zip(self.average.buffers(), self.network.buffers(), strict=True):
                mean.copy_(newest)  # running statistics, which are means already

    def configure_optimizers(self) -> Optimizer:
        return make_optimizer(self.network, self.run.training.optimizer)

    def playing(self) -> nn.Module:
        """A copy of the averaged network as it plays: indifferent to what was the same in all that it learnt."""
        return without_constants(self.average, self.scalars.constant)

    @property
    def learning_rate(self) -> float:
        return float(self._optimizer().param_groups[0]["lr"])

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["tengen"] = {"run": self.run.model_dump(mode="json"), "planes": self.planes, "seconds": self.seconds}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self._earlier = float(checkpoint["tengen"]["seconds"])
        state = checkpoint["state_dict"]  # older ones hold the network twice
        state = {name: part for name, part in state.items() if not name.startswith("_forward.")}
        fresh = {f"scalars.{name}": part for name, part in self.scalars.state_dict().items()}  # older ones have none
        checkpoint["state_dict"] = fresh | state

    def _optimizer(self) -> Optimizer:
        optimizer = self.optimizers()
        assert isinstance(optimizer, Optimizer) or hasattr(optimizer, "param_groups")
        return optimizer  # type: ignore[return-value]
