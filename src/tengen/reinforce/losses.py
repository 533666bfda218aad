"""The losses of an update: of a policy by REINFORCE, clipped or not, or of action values; and of the other heads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tengen.errors import RecipeError
from tengen.networks import NetOutput, expected_result
from tengen.reinforce.config import PolicyGradientConfig, ReinforceConfig, UpdateConfig
from tengen.reinforce.trajectories import Trajectories
from tengen.training.batches import TensorBatch
from tengen.training.config import LossWeights
from tengen.training.losses import loss_terms, total, value_loss

_HEADS = ("policy", "value", "score", "ownership")
_EXCLUDED = -1e9  # log probability of a move that is not allowed: finite, so that 0 times it is 0


@dataclass(eq=False)
class UpdateBatch(Trajectories):
    """Positions of an update, with the log policy [N, A] and the advantage [N] before it."""

    log_policy: Tensor
    advantage: Tensor

    @staticmethod
    def of(rows: Trajectories, log_policy: Tensor, advantage: Tensor) -> UpdateBatch:
        return UpdateBatch(**vars(rows), log_policy=log_policy, advantage=advantage)


def log_policy(output: NetOutput, allowed: Tensor, temperature: float) -> Tensor:
    """Log probabilities [B, A] by which moves are drawn: softmax of logits / temperature over the moves allowed.

    A network without pass passes only where no other move is allowed.
    """
    logits = output.policy.float().div(temperature).masked_fill(~allowed[:, : output.policy.shape[1]], _EXCLUDED)
    if logits.shape[1] < allowed.shape[1]:
        only_pass = torch.full_like(logits[:, :1], _EXCLUDED / 2)
        logits = torch.cat([logits, only_pass.masked_fill(~allowed[:, -1:], _EXCLUDED)], dim=1)
    return torch.log_softmax(logits, dim=1)


def advantages(outcome: Tensor, black: Tensor, output_value: Tensor, baseline: str) -> Tensor:
    """Outcome [N] less the baseline: the value (as of NetOutput), the mean of the color, or nothing."""
    if baseline == "value":
        return outcome - expected_result(output_value)
    if baseline == "mean":
        return outcome - torch.where(black, _mean(outcome, black), _mean(outcome, ~black))
    return outcome


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    return (values * chosen).sum() / chosen.sum().clamp(min=1)


def policy_surrogate(log_probability: Tensor, before: Tensor, advantage: Tensor, ratio: float | None) -> Tensor:
    """A loss with the gradient of -advantage x log probability [B], mean, at the policy `before` [B].

    With `ratio` the gradient of a move is 0 once its probability has changed by that share (PPO, Schulman et al. 2017).
    """
    if ratio is None:
        return -(log_probability * advantage).mean()
    changed = (log_probability - before).exp()
    return -torch.minimum(changed * advantage, changed.clamp(1 - ratio, 1 + ratio) * advantage).mean()


def divergence(before: Tensor, now: Tensor) -> Tensor:
    """Mean Kullback-Leibler divergence in nats from log probabilities `before` to `now` [B, A]."""
    return (before.exp() * (before - now)).sum(1).mean()


def action_logits(output: NetOutput, move: Tensor) -> Tensor:
    """The logit of winning by the move of each row [B]; NaN for a pass of a network without a logit for it."""
    moves = output.policy.shape[1]
    chosen = output.policy.float().gather(1, move.clamp(max=moves - 1)[:, None]).squeeze(1)
    return chosen.masked_fill(move >= moves, torch.nan)


def check_losses(weights: LossWeights) -> None:
    """Raise RecipeError for a loss with a weight that learns something else than results."""
    if unused := [name for name, weight in weights.weights().items() if weight and name not in _HEADS]:
        raise RecipeError(
            f"learn.losses.{unused[0]} = {weights.weights()[unused[0]]:g}: a network that learns from results has the "
            f"losses {', '.join(_HEADS)} alone"
        )


class _ResultLosses:
    """The losses by which value, score and ownership learn the results."""

    def __init__(self, learn: UpdateConfig) -> None:
        self._terms = loss_terms(learn.losses, learn.value_loss)

    def __call__(self, output: NetOutput, batch: Trajectories) -> dict[str, Tensor]:
        """By name the loss of each head that there is."""
        targets = _targets(batch, batch.outcome)
        return {name: self._terms[name].function(output, targets) for name in _HEADS[1:] if output.has(name)}


def _targets(batch: Trajectories, outcome: Tensor) -> TensorBatch:
    return TensorBatch(
        planes=batch.planes,
        scalars=batch.scalars,
        mask=batch.mask,
        policy=batch.move,
        value=outcome,
        score=batch.score,
        ownership=batch.ownership,
        weight=torch.ones_like(batch.outcome),
    )


class PolicyGradientLoss:
    """The weighted sum of the losses of all heads, less the entropy of the policy."""

    def __init__(self, config: PolicyGradientConfig) -> None:
        self._learn = config.learn
        self._results = _ResultLosses(config.learn)
        self._temperature = config.temperature
        self._weights = {**config.learn.losses.weights(), "entropy": -config.learn.entropy}

    def __call__(self, output: NetOutput, batch: UpdateBatch) -> tuple[Tensor, dict[str, Tensor]]:
        """The sum, and by name the loss of each head and the entropy in nats."""
        logs = log_policy(output, batch.allowed, self._temperature)
        now, before = (each.gather(1, batch.move[:, None]).squeeze(1) for each in (logs, batch.log_policy))
        parts = {
            "policy": policy_surrogate(now, before, batch.advantage, self._learn.ratio),
            **self._results(output, batch),
            "entropy": -(logs.exp() * logs).sum(1).mean(),
        }
        return total(parts, self._weights), parts


class ActionValueLoss:
    """The weighted sum of the losses of all heads, in which the logit of the move that was made learns the result.

    It learns as the value of a network with one logit does (`learn.value_loss`), with the weight of the policy.
    """

    def __init__(self, config: ReinforceConfig) -> None:
        self._kind = config.learn.value_loss
        self._results = _ResultLosses(config.learn)
        self._weights = config.learn.losses.weights()

    def __call__(self, output: NetOutput, batch: Trajectories) -> tuple[Tensor, dict[str, Tensor]]:
        """The sum, and by name the loss of each head."""
        logits = action_logits(output, batch.move)
        targets = _targets(batch, batch.outcome.masked_fill(logits.isnan(), torch.nan))
        of_moves = value_loss(logits.nan_to_num()[:, None], targets, self._kind)
        parts = {"policy": of_moves, **self._results(output, batch)}
        return total(parts, self._weights), parts
