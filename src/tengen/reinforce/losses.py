"""What a policy-gradient update lowers: REINFORCE, clipped or not, and the losses of the other heads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tengen.networks import NetOutput
from tengen.reinforce.config import RlLearnConfig
from tengen.reinforce.trajectories import Trajectories
from tengen.training.batches import TensorBatch
from tengen.training.losses import ownership_loss, score_loss, value_loss

_BARRED = -1e9  # log probability of a move that may not be made: finite, so that 0 times it is 0


@dataclass(frozen=True, eq=False)
class Before:
    """What the network said before the update: log probabilities [N, A] and the advantage [N] of the move made."""

    log_policy: Tensor
    advantage: Tensor


def log_policy(output: NetOutput, allowed: Tensor, temperature: float) -> Tensor:
    """Log probabilities [B, A] by which moves are drawn: softmax of logits / temperature over the moves allowed."""
    return torch.log_softmax(output.policy.float().div(temperature).masked_fill(~allowed, _BARRED), dim=1)


def advantages(outcome: Tensor, black: Tensor, output_value: Tensor, baseline: str) -> Tensor:
    """Outcome [N] less the baseline: the value of the logits [N, 3], the mean of the colour, or nothing."""
    if baseline == "value":
        value = torch.softmax(output_value.float(), dim=1)
        return outcome - (value[:, 0] - value[:, 2])
    if baseline == "mean":
        return outcome - torch.where(black, _mean(outcome, black), _mean(outcome, ~black))
    return outcome


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    return (values * chosen).sum() / chosen.sum().clamp(min=1)


def policy_surrogate(log_probability: Tensor, before: Tensor, advantage: Tensor, ratio: float | None) -> Tensor:
    """Whose gradient is that of -advantage x log probability [B], mean, at the policy `before` [B].

    With `ratio` the gain of a move ends where its probability has changed by that share (PPO, Schulman et al. 2017).
    """
    if ratio is None:
        return -(log_probability * advantage).mean()
    changed = (log_probability - before).exp()
    return -torch.minimum(changed * advantage, changed.clamp(1 - ratio, 1 + ratio) * advantage).mean()


def divergence(before: Tensor, now: Tensor) -> Tensor:
    """Mean Kullback-Leibler divergence in nats from log probabilities `before` to `now` [B, A]."""
    return (before.exp() * (before - now)).sum(1).mean()


def loss_parts(
    output: NetOutput, rows: Trajectories, before: Before, config: RlLearnConfig, temperature: float
) -> dict[str, Tensor]:
    """The loss of each head and the policy's entropy in nats, by name."""
    logs = log_policy(output, rows.allowed, temperature)
    made = logs.gather(1, rows.move[:, None]).squeeze(1)
    made_before = before.log_policy.gather(1, rows.move[:, None]).squeeze(1)
    targets = TensorBatch(
        planes=rows.planes,
        scalars=rows.scalars,
        mask=rows.mask,
        policy=rows.move,
        value=rows.outcome,
        score=rows.score,
        ownership=rows.ownership,
        weight=torch.ones_like(rows.outcome),
    )
    return {
        "policy": policy_surrogate(made, made_before, before.advantage, config.ratio),
        "value": value_loss(output.value, targets),
        "score": score_loss(output.score, targets),
        "ownership": ownership_loss(output.ownership, targets),
        "entropy": -(logs.exp() * logs).sum(1).mean(),
    }


def total_loss(parts: dict[str, Tensor], config: RlLearnConfig) -> Tensor:
    """The weighted sum; entropy counts against it."""
    weights = {name: getattr(config.losses, name) for name in ("policy", "value", "score", "ownership")}
    weighted = [weight * parts[name] for name, weight in weights.items()]
    return torch.stack([*weighted, -config.entropy * parts["entropy"]]).sum()
