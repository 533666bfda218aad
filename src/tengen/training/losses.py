"""The losses of the heads, each blind to targets that are unknown."""

import torch
import torch.nn.functional as F
from torch import Tensor

from tengen.errors import RecipeError
from tengen.networks import NetOutput
from tengen.training.batches import TensorBatch
from tengen.training.config import LossWeights

SCORE_UNIT = 20.0
"""Points that count as 1 in the score loss."""
SOFTNESS = 4.0
"""The soft policy's target is the policy's to the power 1 / SOFTNESS, made to sum to 1 again (KataGo)."""


def losses(output: NetOutput, targets: TensorBatch) -> dict[str, Tensor]:
    """The mean loss of each head over the rows whose target is known, weighted by row; 0 where no target is known.

    `reply` and `soft` are there where the network has these heads and the batch their targets.
    """
    parts = {
        "policy": policy_loss(output.policy, targets),
        "value": value_loss(output.value, targets),
        "score": score_loss(output.score, targets),
        "ownership": ownership_loss(output.ownership, targets),
    }
    if output.reply is not None and targets.reply is not None:
        parts["reply"] = _move_loss(output.reply, targets.reply, targets.weight)
    if output.soft is not None and targets.target is not None:
        parts["soft"] = _move_loss(output.soft, soften(targets.target), targets.weight)
    return parts


def check_heads(network: object, weights: LossWeights) -> None:
    """Raise RecipeError where a head that serves training alone is to be taught and the network lacks it.

    `network` is its configuration, as parse_config() gives it.
    """
    for head in ("reply", "soft"):
        weight = getattr(weights, head)
        if weight and not getattr(network, head, False):
            has = hasattr(network, head)
            raise RecipeError(
                f"losses.{head} = {weight:g}, but the network has no such head: "
                + (f"give network.{head}: true, or losses.{head}: 0" if has else f"its family takes losses.{head}: 0")
            )


def total(parts: dict[str, Tensor], weights: LossWeights) -> Tensor:
    """The weighted sum that training lowers."""
    return torch.stack([getattr(weights, name) * loss for name, loss in parts.items()]).sum()


def policy_loss(logits: Tensor, targets: TensorBatch) -> Tensor:
    """Cross-entropy with `target` [B, A] where the batch has it, else with the move played."""
    if targets.target is not None:
        return _move_loss(logits, targets.target, targets.weight)
    each = F.cross_entropy(logits.float(), targets.policy, reduction="none", ignore_index=-1)
    return _mean(each, targets.weight * (targets.policy >= 0))


def soften(target: Tensor) -> Tensor:
    """Probabilities [B, A] with the small ones raised; a row of zeros stays one."""
    raised = target.pow(1 / SOFTNESS)
    return raised / raised.sum(1, keepdim=True).clamp(min=1e-6)


def value_loss(logits: Tensor, targets: TensorBatch) -> Tensor:
    """Cross-entropy of win, draw and loss with a value in -1..1: its magnitude is win or loss, the rest draw."""
    known = ~targets.value.isnan()
    value = targets.value.nan_to_num()
    wanted = torch.stack([value.clamp(min=0), 1 - value.abs(), (-value).clamp(min=0)], dim=1)
    return _mean(F.cross_entropy(logits.float(), wanted, reduction="none"), targets.weight * known)


def score_loss(score: Tensor, targets: TensorBatch) -> Tensor:
    """Huber loss of the score in units of 20 points: linear beyond that, so that a rout does not outweigh all else."""
    known = ~targets.score.isnan()
    each = F.huber_loss(score.float() / SCORE_UNIT, targets.score.nan_to_num() / SCORE_UNIT, reduction="none")
    return _mean(each, targets.weight * known)


def ownership_loss(ownership: Tensor, targets: TensorBatch) -> Tensor:
    """Squared error of the ownership, mean over the points of a board that are known."""
    known = (~targets.ownership.isnan()) & (targets.mask > 0)
    error = (ownership.float() - targets.ownership.nan_to_num()).square() * known
    points = known.sum((1, 2))
    return _mean(error.sum((1, 2)) / points.clamp(min=1), targets.weight * (points > 0))


def _move_loss(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Cross-entropy with probabilities [B, A]; a row of zeros is unknown."""
    each = F.cross_entropy(logits.float(), target, reduction="none")
    return _mean(each, weight * (target.sum(1) > 0))


def _mean(each: Tensor, weight: Tensor) -> Tensor:
    return (each * weight).sum() / weight.sum().clamp(min=1e-6)
