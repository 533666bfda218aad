"""The losses of the heads, and the registry of losses that a recipe names. Unknown targets do not count."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from tengen.errors import RecipeError, unknown_name
from tengen.networks import NetConfig, NetOutput, expected_result
from tengen.plugins import Registry
from tengen.training.batches import MOVE_TARGETS, TensorBatch
from tengen.training.config import LossWeights, ValueLoss

SCORE_UNIT = 20.0
"""Points that count as 1 in the score loss."""
SOFTNESS = 4.0
"""The soft policy's target is the policy's to the power 1 / SOFTNESS, normalized (KataGo)."""


@dataclass(frozen=True)
class LossTerm:
    """A loss that a recipe may name under `losses`.

    `function` returns the mean over the rows with a known target, weighted by `batch.weight`; `mean` computes it also
    where a batch is split over devices. It is called where the network has the head `head` ("" for any network) and the
    batch the columns `columns` (fields of TensorBatch that may be None). `targets` names registered targets (see
    `tengen.training.batches.TARGETS`) that it reads from `batch.extra`.
    """

    function: Callable[[NetOutput, TensorBatch], Tensor]
    head: str = ""
    columns: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


def policy_loss(logits: Tensor, targets: TensorBatch) -> Tensor:
    """Cross-entropy with `target` [B, A] where the batch has it, else with the move played.

    Logits [B, A], or [B, A - 1] of a network without pass, for which rows whose move is a pass do not count.
    """
    if targets.target is not None:
        return move_loss(logits, targets.target, targets.weight)
    return played_loss(logits, targets.policy, targets.weight)


def played_loss(logits: Tensor, move: Tensor, weight: Tensor) -> Tensor:
    """Cross-entropy of logits [B, A] or [B, A - 1] with a move [B], a policy index; -1 and moves without logit do not
    count."""
    known = (move >= 0) & (move < logits.shape[1])
    each = F.cross_entropy(logits.float(), move.where(known, -1), reduction="none", ignore_index=-1)
    return mean(each, weight * known)


def later_move_loss(output: NetOutput, batch: TensorBatch, *, name: str) -> Tensor:
    """Cross-entropy of the map `name` with the move played that many moves later."""
    return played_loss(output.maps[name], batch.extra[name], batch.weight)


def value_loss(value: Tensor, targets: TensorBatch, kind: ValueLoss = "auto") -> Tensor:
    """The loss of a value: logits [B, 3] of win, draw, loss; a logit [B, 1] of a win; or a scalar [B] in -1..1.

    The target v is in -1..1. `mse` is the squared error of the expected result in -1..1, four times that of a
    probability. `bce` is the binary cross-entropy of the probability of a win, (1 + value) / 2; of three outcomes, the
    cross-entropy with a win of (1 + v) / 2, a loss of (1 - v) / 2 and no draw. `auto` is the cross-entropy of the three
    outcomes, with |v| as the probability of win (v > 0) or loss and the rest draw; `bce` for one logit; `mse` for a
    scalar.
    """
    known = ~targets.value.isnan()
    target = targets.value.nan_to_num()
    three = value.ndim == 2 and value.shape[1] == 3
    if kind == "auto" and not three:
        kind = "mse" if value.ndim == 1 else "bce"
    if kind == "mse":
        return mean((expected_result(value) - target).square(), targets.weight * known)
    if not three:  # bce
        logit = value.float().squeeze(1) if value.ndim == 2 else torch.logit((1 + value.float()) / 2, eps=1e-6)
        each = F.binary_cross_entropy_with_logits(logit, (1 + target) / 2, reduction="none")
        return mean(each, targets.weight * known)
    # By the expected result alone a head that calls all games drawn would hardly be moved: its gradient is the product
    # of the error and the small probability of a win or loss. So a b8c96 learned no values in its first 900 steps.
    none = torch.zeros_like(target)
    wanted = (
        torch.stack([(1 + target) / 2, none, (1 - target) / 2], dim=1)
        if kind == "bce"
        else torch.stack([target.clamp(min=0), 1 - target.abs(), (-target).clamp(min=0)], dim=1)
    )
    return mean(F.cross_entropy(value.float(), wanted, reduction="none"), targets.weight * known)


def score_loss(score: Tensor, targets: TensorBatch) -> Tensor:
    """Huber loss of the score in units of 20 points: linear beyond, so that lopsided games do not dominate."""
    known = ~targets.score.isnan()
    each = F.huber_loss(score.float() / SCORE_UNIT, targets.score.nan_to_num() / SCORE_UNIT, reduction="none")
    return mean(each, targets.weight * known)


def ownership_loss(ownership: Tensor, targets: TensorBatch) -> Tensor:
    """Squared error of the ownership, mean over the known points of a board."""
    known = (~targets.ownership.isnan()) & (targets.mask > 0)
    error = (ownership.float() - targets.ownership.nan_to_num()).square() * known
    points = known.sum((1, 2))
    return mean(error.sum((1, 2)) / points.clamp(min=1), targets.weight * (points > 0))


def soften(target: Tensor) -> Tensor:
    """Probabilities [B, A] flattened by the power 1 / SOFTNESS; a row of zeros stays zero."""
    raised = target.pow(1 / SOFTNESS)
    return raised / raised.sum(1, keepdim=True).clamp(min=1e-6)


def move_loss(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Cross-entropy of logits [B, A] with probabilities [B, A]; a row of zeros is unknown.

    Logits without pass, [B, A - 1], are compared with the probabilities of the points, normalized.
    """
    if logits.shape[1] == target.shape[1] - 1:
        points = target[:, :-1]
        target = points / points.sum(1, keepdim=True).clamp(min=1e-6)
    each = F.cross_entropy(logits.float(), target, reduction="none")
    return mean(each, weight * (target.sum(1) > 0))


def mean(each: Tensor, weight: Tensor) -> Tensor:
    """The weighted mean of [B]; 0 where all weights are 0.

    Where a batch is computed in parts, the sum of a part is divided by the mean weight of a part of the whole batch, so
    that the mean over the parts is that of the batch.
    """
    weight_sum = weight.sum()
    weights = _WEIGHTS.get()
    if weights is not None:
        weight_sum = weights.of_part(weight_sum)
    return (each * weight).sum() / weight_sum.clamp(min=1e-6)


class PartWeights:
    """The sums of weights by which `mean` divides, in the order of its calls, while a batch is computed in parts.

    They depend on the batch and not on the output, so that a first pass over the losses of the parts can `collect` them
    all with the output of one part. Then `shares` has their mean over the parts, which `use` gives to `mean`.
    """

    def __init__(self) -> None:
        self.parts: list[Tensor] = []
        self.shares: Tensor | None = None
        self._seen: list[Tensor] = []
        self._used = 0

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Note the weights of the next part, [calls]."""
        self._seen = []
        with self._set():
            yield
        self.parts.append(torch.stack(self._seen) if self._seen else torch.zeros(0))

    @contextmanager
    def use(self) -> Iterator[None]:
        """Divide by `shares`."""
        self._used = 0
        with self._set():
            yield

    def of_part(self, weight: Tensor) -> Tensor:
        """The number to divide a sum of weight `weight` by."""
        if self.shares is None:
            self._seen.append(weight.float())
            return weight
        self._used += 1
        return self.shares[self._used - 1]

    @contextmanager
    def _set(self) -> Iterator[None]:
        token = _WEIGHTS.set(self)
        try:
            yield
        finally:
            _WEIGHTS.reset(token)


_WEIGHTS: ContextVar[PartWeights | None] = ContextVar("weights", default=None)


def _known(column: Tensor | None) -> Tensor:
    assert column is not None, "a loss is called only where the head and the columns that it names exist"
    return column


# Losses stand by their names beside these in an event `train` of the log.
_LOGGED = ("event", "step", "time", "lr", "rate", "waiting", "done", "hours", "top1", "top5", "value_mse")

LOSSES: Registry[LossTerm] = Registry(
    "loss",
    "tengen.losses",
    {
        "policy": LossTerm(lambda output, batch: policy_loss(output.policy, batch), "policy"),
        "value": LossTerm(lambda output, batch: value_loss(_known(output.value), batch), "value"),
        "score": LossTerm(lambda output, batch: score_loss(_known(output.score), batch), "score"),
        "ownership": LossTerm(lambda output, batch: ownership_loss(_known(output.ownership), batch), "ownership"),
        "reply": LossTerm(
            lambda output, batch: move_loss(output.maps["reply"], _known(batch.reply), batch.weight),
            "reply",
            ("reply",),
        ),
        "soft": LossTerm(
            lambda output, batch: move_loss(output.maps["soft"], soften(_known(batch.target)), batch.weight),
            "soft",
            ("target",),
        ),
        **{name: LossTerm(partial(later_move_loss, name=name), name, targets=(name,)) for name in MOVE_TARGETS},
    },
    RecipeError,
    part_type=LossTerm,
    reserved=_LOGGED,
)
"""Every loss that a recipe may name; `LOSSES.register(name, LossTerm(...))` adds one."""


class WeightedLosses:
    """The loss of supervised and self-play training: the weighted sum of the losses of the network's heads."""

    def __init__(self, weights: LossWeights, value: ValueLoss = "auto", with_accuracy: bool = False) -> None:
        """`value` is the kind of the value's loss; `with_accuracy` adds `accuracy_figures` to the parts for the log."""
        self._weights = weights.weights()
        self._with_accuracy = with_accuracy
        self._terms = loss_terms(weights, value)

    def __call__(self, output: NetOutput, batch: TensorBatch) -> tuple[Tensor, dict[str, Tensor]]:
        """The sum, and its unweighted parts by name; parts of the usual heads with weight 0 too, for the log."""
        parts = {
            name: term.function(output, batch)
            for name, term in self._terms.items()
            if (not term.head or output.has(term.head)) and all(getattr(batch, c) is not None for c in term.columns)
        }
        loss = total(parts, self._weights)
        return loss, {**parts, **accuracy_figures(output, batch)} if self._with_accuracy else parts


def loss_terms(weights: LossWeights, value: ValueLoss) -> dict[str, LossTerm]:
    """The losses with a weight above 0 and those of the usual heads, by name; `value` is the kind of the value's."""
    builtin = type(weights).model_fields
    terms = {name: LOSSES[name] for name, weight in weights.weights().items() if weight or name in builtin}
    if value != "auto":
        terms["value"] = LossTerm(lambda output, batch: value_loss(_known(output.value), batch, value), "value")
    return terms


@torch.no_grad()
def accuracy_figures(output: NetOutput, batch: TensorBatch) -> dict[str, Tensor]:
    """Accuracy on a batch in training: top1, top5, value_mse (-1..1), and top1 and top5 of each map of a later move."""
    found: dict[str, Tensor] = {}
    # A map of another name may learn anything, such as a distribution.
    moves = {name: logits for name, logits in output.maps.items() if name in MOVE_TARGETS}
    maps = {f"{name}_": (logits, batch.extra.get(name)) for name, logits in moves.items()}
    for name, (logits, move) in {"": (output.policy, batch.policy), **maps}.items():
        if move is not None:
            known = (move >= 0) & (move < logits.shape[1])
            hits = logits.topk(min(5, logits.shape[1]), dim=1).indices == move[:, None]
            found[f"{name}top1"] = mean(hits[:, 0].float(), known.float())
            found[f"{name}top5"] = mean(hits.any(1).float(), known.float())
    if output.value is not None:
        error = (expected_result(output.value) - batch.value.nan_to_num()).square()
        found["value_mse"] = mean(error, (~batch.value.isnan()).float())
    return found


def total(parts: Mapping[str, Tensor], weights: Mapping[str, float]) -> Tensor:
    """The weighted sum of losses by name."""
    return torch.stack([weights[name] * loss for name, loss in parts.items()]).sum()


def check_losses(network: NetConfig, weights: LossWeights) -> None:
    """Raise RecipeError for an unknown loss, and where the recipe weighs the loss of a head that the network lacks.

    Defaults for heads that it lacks have no effect.
    """
    for name, weight in weights.weights().items():
        if name not in LOSSES:
            raise RecipeError(unknown_name("loss", f"losses.{name}", LOSSES))
        head = LOSSES[name].head
        if weight and name in weights.model_fields_set and head and not network.heads.has(head):
            switch = isinstance(getattr(network, head, None), bool)
            raise RecipeError(
                f"losses.{name} = {weight:g}, but the network has no head {head!r}: "
                + (f"give network.{head}: true, or losses.{name}: 0" if switch else f"give losses.{name}: 0")
            )


def learns_results(network: NetConfig, weights: LossWeights) -> bool:
    """Whether a loss learns what games ended with: by value, score or ownership."""
    return any(getattr(weights, head) and network.heads.has(head) for head in ("value", "score", "ownership"))


def needed_targets(weights: LossWeights) -> tuple[bool, Collection[str]]:
    """(whether batches need `target` and `reply`, names of registered targets) for losses with a weight above 0."""
    terms = [LOSSES[name] for name, weight in weights.weights().items() if weight]
    return any(term.columns for term in terms), sorted({name for term in terms for name in term.targets})
