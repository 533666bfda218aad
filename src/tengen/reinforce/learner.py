"""The learners: one update of the network from the positions of a batch of games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from tengen.data.planes import plane_set as find_plane_set
from tengen.evaluators.torch import TorchEvaluator
from tengen.networks import expected_result
from tengen.networks.constant_inputs import used_scalars
from tengen.networks.export import plain
from tengen.reinforce.config import ActionValueConfig, PolicyGradientConfig, ReinforceConfig
from tengen.reinforce.losses import (
    ActionValueLoss,
    PolicyGradientLoss,
    UpdateBatch,
    action_logits,
    advantages,
    divergence,
    log_policy,
)
from tengen.reinforce.trajectories import Trajectories
from tengen.training.callbacks import LossMeans, make_callbacks
from tengen.training.config import TrainerPrecision
from tengen.training.fabric import in_bf16
from tengen.training.schedules import Position
from tengen.training.trainer import Loss, Trainer

_MIN_KEPT = 2**-8  # share of an update below which it is not reduced further


BatchT = TypeVar("BatchT", bound=Trajectories)


class Learner(ABC, Generic[BatchT]):
    """A network in training. `updates` have been made; state() and restore() carry it over a stop."""

    def __init__(
        self,
        module: nn.Module,
        plane_set: str,
        config: ReinforceConfig,
        loss: Loss[BatchT],
    ) -> None:
        self.plane_set = plane_set
        self.updates = 0
        self._learn, self._seed, self._iterations = config.learn, config.seed, config.iterations
        self._means = LossMeans()
        # Without a maximum the trainer still measures the norm of the gradient, for the log.
        clip = float("inf") if config.learn.clip is None else config.learn.clip
        self.trainer: Trainer[BatchT] = Trainer(
            module,
            config.learn.model_copy(update={"clip": clip}),
            loss,
            scalars=len(find_plane_set(plane_set).scalars),
            position=self._position,
            seed=config.seed,
            callbacks=[self._means, *make_callbacks(config.learn.callbacks)],
        )
        self.trainer.scalars.know(used_scalars(module))

    def _position(self, step: int, _: float) -> Position:
        """Steps and epochs of the schedule are updates."""
        samples = step * self._learn.batch_size
        return Position(self.updates, self.updates / self._iterations, samples, self.updates)

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
        return module_evaluator(self.trainer.network, name, self.plane_set, self._learn.precision)

    @abstractmethod
    def update(self, steps: Trajectories) -> dict[str, float]:
        """Train on the positions once; returns losses and further figures by name."""

    def _train(self, rows: BatchT) -> tuple[BatchT, dict[str, float]]:
        """All steps of an update: the batch of the last one, and losses and the mean norm of the gradient by name."""
        random = np.random.default_rng([self._seed, self.updates])
        parts = max(1, round(len(rows) / self._learn.batch_size))
        gradient = 0.0
        batch: BatchT | None = None
        for _ in range(self._learn.passes):
            for chosen in np.array_split(random.permutation(len(rows)), parts):
                batch = self.trainer.fabric.to_device(rows.rows(torch.from_numpy(chosen)))
                norm = self.trainer.train_step(batch)
                self.trainer.call("on_step")
                assert norm is not None
                gradient += float(norm) / (parts * self._learn.passes)
        assert batch is not None
        self.updates += 1
        losses = {name if name == "entropy" else f"{name}_loss": mean for name, mean in self._means.take().items()}
        return batch, {**losses, "gradient": gradient}


def _explained(outcome: Tensor, expected: Tensor) -> float:
    """The share of the outcomes' variance that the expected results explain; 0 where there is no variance."""
    variance = float(outcome.var())
    return 1 - float((outcome - expected).square().mean()) / variance if variance > 0 else 0.0


class PolicyLearner(Learner[UpdateBatch]):
    """The learner of a policy gradient."""

    def __init__(self, module: nn.Module, plane_set: str, config: PolicyGradientConfig) -> None:
        super().__init__(module, plane_set, config, PolicyGradientLoss(config))
        self.config = config

    def update(self, steps: Trajectories) -> dict[str, float]:
        """Train on the positions once; returns losses and changes of the policy, by name."""
        start = [parameter.detach().clone() for parameter in self.trainer.network.parameters()]
        rows, explained = self._before(steps)
        batch, figures = self._train(rows)
        kept, moved = self._limit(start, batch)
        return {**figures, "kl": moved, "kept": kept, **explained}

    def _before(self, steps: Trajectories) -> tuple[UpdateBatch, dict[str, float]]:
        """The positions with log policy and advantage before the update, and, of a network with a value, what share of
        the outcomes' variance it explains."""
        learn = self.config.learn
        logs, values = [], []
        for part in steps.parts(learn.batch_size):
            output = self.trainer.forward(part)
            allowed = part.allowed.to(self.trainer.device)
            logs.append(log_policy(output, allowed, self.config.temperature).cpu())
            values.append(torch.zeros(len(part.outcome)) if output.value is None else output.value.float().cpu())
        value = torch.cat(values)
        advantage = advantages(steps.outcome, steps.black, value, learn.baseline)
        has_value = output.value is not None
        explained = {"explained": _explained(steps.outcome, expected_result(value))} if has_value else {}
        return UpdateBatch.of(steps, torch.cat(logs), advantage), explained

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


class ActionValueLearner(Learner[Trajectories]):
    """The learner of action values."""

    def __init__(self, module: nn.Module, plane_set: str, config: ActionValueConfig) -> None:
        super().__init__(module, plane_set, config, ActionValueLoss(config))

    def update(self, steps: Trajectories) -> dict[str, float]:
        """Train on the positions once; returns losses and what the values of the moves explained before, by name."""
        parts = steps.parts(self._learn.batch_size)
        logits = torch.cat([action_logits(self.trainer.forward(part), part.move).cpu() for part in parts])
        known = ~logits.isnan()
        explained = _explained(steps.outcome[known], expected_result(logits[known][:, None]))
        _, figures = self._train(steps)
        return {**figures, "explained": explained}


def new_learner(module: nn.Module, plane_set: str, config: ReinforceConfig) -> PolicyLearner | ActionValueLearner:
    """The learner of a run."""
    if isinstance(config, PolicyGradientConfig):
        return PolicyLearner(module, plane_set, config)
    assert isinstance(config, ActionValueConfig)
    return ActionValueLearner(module, plane_set, config)


def module_evaluator(module: nn.Module, name: str, plane_set: str, precision: TrainerPrecision) -> TorchEvaluator:
    """A frozen copy of a network, for games on the CPU."""
    frozen = plain(module).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    half = in_bf16(precision, "cpu")
    return TorchEvaluator(frozen, name=name, plane_set=plane_set, device="cpu", precision="bf16" if half else "f32")
