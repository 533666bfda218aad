"""The learner of a policy gradient: one update of the network from the positions of a batch of games."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tengen.data.planes import plane_set as find_plane_set
from tengen.evaluators.torch import TorchEvaluator
from tengen.networks.constant_inputs import used_scalars
from tengen.networks.export import plain
from tengen.reinforce.config import PolicyGradientConfig
from tengen.reinforce.losses import PolicyGradientLoss, UpdateBatch, advantages, divergence, log_policy
from tengen.reinforce.trajectories import Trajectories
from tengen.training.callbacks import LossMeans, make_callbacks
from tengen.training.fabric import in_bf16
from tengen.training.schedules import Position
from tengen.training.trainer import Trainer

_MIN_KEPT = 2**-8  # share of an update below which it is not reduced further


class PolicyLearner:
    """A network in training. `updates` have been made; state() and restore() carry it over a stop."""

    def __init__(self, module: nn.Module, plane_set: str, config: PolicyGradientConfig) -> None:
        self.config = config
        self.plane_set = plane_set
        self.updates = 0
        self._means = LossMeans()
        # Without a maximum the trainer still measures the norm of the gradient, for the log.
        clip = float("inf") if config.learn.clip is None else config.learn.clip
        self.trainer: Trainer[UpdateBatch] = Trainer(
            module,
            config.learn.model_copy(update={"clip": clip}),
            PolicyGradientLoss(config),
            scalars=len(find_plane_set(plane_set).scalars),
            position=self._position,
            seed=config.seed,
            callbacks=[self._means, *make_callbacks(config.learn.callbacks)],
        )
        self.trainer.scalars.know(used_scalars(module))

    def _position(self, step: int, _: float) -> Position:
        """Steps and epochs of the schedule are updates."""
        samples = step * self.config.learn.batch_size
        return Position(self.updates, self.updates / self.config.iterations, samples, self.updates)

    def state(self) -> dict[str, Any]:
        """Everything that decides the next update."""
        return {"updates": self.updates, **self.trainer.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.updates = int(state["updates"])
        self.trainer.restore(state)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the last update."""
        return self.trainer.learning_rate

    def playing(self) -> nn.Module:
        """A copy of the network for play: scalars that were constant for it and its parent have no effect in it."""
        return self.trainer.playing()

    def evaluator(self, name: str) -> TorchEvaluator:
        """The network as it is now, for games."""
        return module_evaluator(self.trainer.network, name, self.plane_set, self.config)

    def update(self, steps: Trajectories) -> dict[str, float]:
        """Train on the positions once; returns losses and changes of the policy, by name."""
        learn = self.config.learn
        start = [parameter.detach().clone() for parameter in self.trainer.network.parameters()]
        before, advantage, explained = self._before(steps)
        random = np.random.default_rng([self.config.seed, self.updates])
        parts = max(1, round(len(steps) / learn.batch_size))
        gradient = 0.0
        batch: UpdateBatch | None = None
        for _ in range(learn.passes):
            for rows in np.array_split(random.permutation(len(steps)), parts):
                chosen = torch.from_numpy(rows)
                batch = UpdateBatch.of(steps.rows(chosen), before[chosen], advantage[chosen])
                batch = self.trainer.fabric.to_device(batch)
                norm = self.trainer.train_step(batch)
                self.trainer.call("on_step")
                assert norm is not None
                gradient += float(norm) / (parts * learn.passes)
        assert batch is not None
        kept, moved = self._limit(start, batch)
        self.updates += 1
        losses = {name if name == "entropy" else f"{name}_loss": mean for name, mean in self._means.take().items()}
        return {**losses, "gradient": gradient, "kl": moved, "kept": kept, "explained": explained}

    def _before(self, steps: Trajectories) -> tuple[Tensor, Tensor, float]:
        """Log policy [N, A] and advantage [N] before the update, and the share of the outcomes' variance that the value
        explains."""
        learn = self.config.learn
        logs, values = [], []
        for first in range(0, len(steps), learn.batch_size):
            part = steps.rows(torch.arange(first, min(first + learn.batch_size, len(steps))))
            output = self.trainer.forward(part)
            allowed = part.allowed.to(self.trainer.device)
            logs.append(log_policy(output, allowed, self.config.temperature).cpu())
            values.append(torch.zeros(len(part.outcome)) if output.value is None else output.value.float().cpu())
        advantage = advantages(steps.outcome, steps.black, torch.cat(values), learn.baseline)
        error = advantages(steps.outcome, steps.black, torch.cat(values), "value")
        variance = float(steps.outcome.var())
        explained = 1 - float(error.square().mean()) / variance if variance > 0 else 0.0
        return torch.cat(logs), advantage, explained

    @torch.no_grad()
    def _limit(self, start: list[Tensor], batch: UpdateBatch) -> tuple[float, float]:
        """Halve the way from the weights at `start` until the policy moved at most `kl`: (share kept, nats moved)."""

        def moved() -> float:
            now = log_policy(self.trainer.forward(batch), batch.allowed, self.config.temperature)
            return float(divergence(batch.log_policy, now))

        weights = [parameter.data for parameter in self.trainer.network.parameters()]
        kept, nats = 1.0, moved()
        while nats > self.config.learn.kl and kept > _MIN_KEPT:
            torch._foreach_lerp_(weights, start, 0.5)
            kept, nats = kept / 2, moved()
        return kept, nats


def module_evaluator(module: nn.Module, name: str, plane_set: str, config: PolicyGradientConfig) -> TorchEvaluator:
    """A frozen copy of a network, for games on the CPU."""
    frozen = plain(module).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    half = in_bf16(config.learn.precision, "cpu")
    return TorchEvaluator(frozen, name=name, plane_set=plane_set, device="cpu", precision="bf16" if half else "f32")
