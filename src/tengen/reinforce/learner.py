"""The learner of a policy gradient: network, optimiser, one update from the positions of a batch of games."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tengen.data.planes import plane_set as find_plane_set
from tengen.evaluators.torch import TorchEvaluator
from tengen.networks import NetOutput
from tengen.networks.export import plain
from tengen.networks.scalars import ScalarRange, without_constants
from tengen.reinforce.config import RlConfig
from tengen.reinforce.losses import Before, advantages, divergence, log_policy, loss_parts, total_loss
from tengen.reinforce.trajectories import Trajectories
from tengen.training.config import Precision
from tengen.training.optimizers import make_optimizer
from tengen.training.precision import in_bf16
from tengen.training.schedule import factor

_LEAST_KEPT = 2**-8  # share of a step that went too far


class Learner:
    """A network in training. `updates` have been made; state() and restore() carry it over a stop."""

    def __init__(self, module: nn.Module, plane_set: str, config: RlConfig) -> None:
        self.config = config
        self.plane_set = plane_set
        self.updates = 0
        self.network: nn.Module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.scalars = ScalarRange(len(find_plane_set(plane_set).scalars))
        self.scalars.know(module)
        self._optimizer = make_optimizer(module, config.learn.optimizer)

    def state(self) -> dict[str, Any]:
        """All that decides the next update."""
        return {
            "updates": self.updates,
            "network": self.network.state_dict(),
            "scalars": self.scalars.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.updates = int(state["updates"])
        self.network.load_state_dict(state["network"])
        if "scalars" in state:  # older ones have none
            self.scalars.load_state_dict(state["scalars"])
        self._optimizer.load_state_dict(state["optimizer"])

    @property
    def rate(self) -> float:
        """The learning rate of the last update."""
        return float(self._optimizer.param_groups[0]["lr"])

    def playing(self) -> nn.Module:
        """A copy of the network as it plays: indifferent to what neither its parent nor it ever saw change."""
        return without_constants(self.network, self.scalars.constant)

    def evaluator(self, name: str) -> TorchEvaluator:
        """The network as it is now, for games."""
        return module_evaluator(self.network, name, self.plane_set, self.config)

    def update(self, steps: Trajectories) -> dict[str, float]:
        """Learn from the positions once; returns losses and what became of the policy, by name."""
        learn = self.config.learn
        self.scalars.see(steps.scalars)
        start = [parameter.detach().clone() for parameter in self.network.parameters()]
        before, explained = self._before(steps)
        self._set_rate()
        random = np.random.default_rng([self.config.seed, self.updates])
        figures: dict[str, float] = {}
        parts = max(1, round(len(steps) / learn.batch_size))
        chosen = torch.empty(0)
        for _ in range(learn.passes):
            for batch in np.array_split(random.permutation(len(steps)), parts):
                chosen = torch.from_numpy(batch)
                for name, value in self._step(steps.rows(chosen), _rows(before, chosen)).items():
                    figures[name] = figures.get(name, 0.0) + value / (parts * learn.passes)
        kept, moved = self._limit(start, steps.rows(chosen), _rows(before, chosen))
        self.updates += 1
        return {**figures, "kl": moved, "kept": kept, "explained": explained}

    def _forward(self, steps: Trajectories) -> NetOutput:
        with _autocast(self.config):
            output: NetOutput = self.network(steps.planes, steps.scalars, steps.mask)
        return output

    @torch.no_grad()
    def _before(self, steps: Trajectories) -> tuple[Before, float]:
        """The policy and the advantages before the update, and the share of the outcomes' variance the value knew."""
        learn = self.config.learn
        logs, values = [], []
        for first in range(0, len(steps), learn.batch_size):
            part = steps.rows(torch.arange(first, min(first + learn.batch_size, len(steps))))
            output = self._forward(part)
            logs.append(log_policy(output, part.allowed, self.config.temperature))
            values.append(output.value.float())
        advantage = advantages(steps.outcome, steps.black, torch.cat(values), learn.baseline)
        error = advantages(steps.outcome, steps.black, torch.cat(values), "value")
        variance = float(steps.outcome.var())
        explained = 1 - float(error.square().mean()) / variance if variance > 0 else 0.0
        return Before(torch.cat(logs), advantage), explained

    def _set_rate(self) -> None:
        share = factor(self.config.learn.schedule, self.updates, self.updates / self.config.iterations)
        for group in self._optimizer.param_groups:
            group["lr"] = group["initial_lr"] * share

    def _step(self, rows: Trajectories, before: Before) -> dict[str, float]:
        learn = self.config.learn
        parts = loss_parts(self._forward(rows), rows, before, learn, self.config.temperature)
        self._optimizer.zero_grad(set_to_none=True)
        total_loss(parts, learn).backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), learn.clip or float("inf"))
        self._optimizer.step()
        named = {name if name == "entropy" else f"{name}_loss": float(part.detach()) for name, part in parts.items()}
        return {**named, "gradient": float(norm)}

    @torch.no_grad()
    def _limit(self, start: list[Tensor], rows: Trajectories, before: Before) -> tuple[float, float]:
        """Go back towards the weights at `start` until the policy has moved little enough: (share kept, nats moved)."""

        def moved() -> float:
            now = log_policy(self._forward(rows), rows.allowed, self.config.temperature)
            return float(divergence(before.log_policy, now))

        weights = [parameter.data for parameter in self.network.parameters()]
        kept, nats = 1.0, moved()
        while nats > self.config.learn.kl and kept > _LEAST_KEPT:
            torch._foreach_lerp_(weights, start, 0.5)
            kept, nats = kept / 2, moved()
        return kept, nats


def module_evaluator(module: nn.Module, name: str, plane_set: str, config: RlConfig) -> TorchEvaluator:
    """A frozen copy of a network, for games."""
    frozen = plain(module).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    precision: Precision = "bf16" if _in_bf16(config) else "f32"
    return TorchEvaluator(frozen, name=name, plane_set=plane_set, device="cpu", precision=precision)


def _autocast(config: RlConfig) -> AbstractContextManager[Any]:
    return torch.autocast("cpu", torch.bfloat16, enabled=_in_bf16(config))


def _in_bf16(config: RlConfig) -> bool:
    return in_bf16(config.learn.precision, "cpu")


def _rows(before: Before, chosen: Tensor) -> Before:
    return Before(before.log_policy[chosen], before.advantage[chosen])
