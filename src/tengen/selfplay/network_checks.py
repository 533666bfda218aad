"""Checks of a network on a few positions of self-play games: consistency, and its error on new games."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tengen.coords import policy_index
from tengen.data.record import GameRecord
from tengen.data.store import Store
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch, evaluation_from_outputs
from tengen.evaluators.evaluator import BatchEvaluator
from tengen.evaluators.symmetric import SYMMETRIES, infer_under

if TYPE_CHECKING:
    from torch import nn

_TINY = 1e-9  # keeps logarithms finite
_TURNED = 64  # positions that are shown eight ways round
_ALONE = 8  # positions that are also shown by themselves


@dataclass(frozen=True, eq=False)
class Probe:
    """B encoded positions, one of each game at most, with the search's and the game's result for the side to move.

    `size` [B]; `target` [B, A]: the search's distribution; `value` [B]: 1 won, -1 lost, 0 a draw, NaN unknown.
    """

    inputs: InputBatch
    size: npt.NDArray[np.int64]
    target: Floats
    value: Floats

    def __len__(self) -> int:
        return len(self.size)

    def head(self, count: int) -> Probe:
        """The first `count` positions."""
        return Probe(*(getattr(self, field.name)[:count] for field in fields(self)))


def draw_probe(
    evaluator: BatchEvaluator, store: Store, first: int = 0, end: int | None = None, *, positions: int = 256,
    seed: int = 0, edge: int | None = None,
) -> Probe:  # fmt: skip
    """Draw up to `positions` searched positions of rows first <= row < end, one of each game,
    in the encoding of an evaluator.

    A game none of whose moves was recorded with visits gives none. `edge` is that of the tensors, the largest board
    drawn unless given.
    """
    random = np.random.default_rng((seed, first))
    rows = np.arange(first, len(store) if end is None else end)
    chosen = np.sort(random.permutation(rows)[:positions])
    drawn: list[tuple[GameRecord, int]] = []
    for row in chosen.tolist():
        record = store.row(row)
        plies = [ply for ply, visits in enumerate(record.visits or ()) if len(visits)]
        if plies:
            drawn.append((record, int(random.choice(plies))))
    width = edge or max((record.size for record, _ in drawn), default=5)
    return Probe(
        evaluator.encoded([record.game(ply) for record, ply in drawn], width),
        size=np.array([record.size for record, _ in drawn], np.int64),
        target=np.array([_target(record, ply, width) for record, ply in drawn], np.float32),
        value=np.array([_value(record, ply) for record, ply in drawn], np.float32),
    )


def prediction_figures(evaluator: BatchEvaluator, probe: Probe) -> dict[str, float | None]:
    """How well a network's raw outputs predict search and result, means over the probe.

    `agreement`: share of positions where its best move is the search's best; `policy`: cross-entropy with the search's
    distribution in nats; `surprise`: that less the distribution's own entropy; `value`: squared error with the result
    (values -1..1). None for an empty probe.
    """
    if not len(probe):
        return dict.fromkeys(("agreement", "policy", "surprise", "value"))
    found = evaluator.infer(probe.inputs)
    cross = -(probe.target * np.log(np.maximum(found.policy, _TINY))).sum(axis=1)
    entropy = -(probe.target * np.log(np.maximum(probe.target, _TINY))).sum(axis=1)
    errors = np.square(found.value - probe.value)
    return {
        "agreement": _rounded((found.policy.argmax(axis=1) == probe.target.argmax(axis=1)).mean()),
        "policy": _rounded(cross.mean()),
        "surprise": _rounded((cross - entropy).mean()),
        "value": None if np.isnan(errors).all() else _rounded(np.nanmean(errors)),
    }


def symmetry_disagreement(evaluator: BatchEvaluator, probe: Probe) -> dict[str, float | None]:
    """How much evaluations change between the eight symmetries of a position; 0 for a symmetric network.

    `policy`: mean divergence of the eight policies from their mean in nats (Jensen-Shannon, 0 to ln 8); `value`: mean
    standard deviation of the eight values; `best`: share of the eight whose best move is that of their mean.
    """
    if not len(probe):
        return dict.fromkeys(("policy", "value", "best"))
    seen = [infer_under(evaluator, probe.inputs, np.full(len(probe), s)) for s in range(SYMMETRIES)]
    policies = np.stack([one.policy for one in seen]).astype(np.float64)
    mean = policies.mean(axis=0)
    ratio = np.log(np.maximum(policies, _TINY)) - np.log(np.maximum(mean, _TINY))
    return {
        "policy": _rounded((policies * ratio).sum(axis=2).mean()),
        "value": _rounded(np.stack([one.value for one in seen]).std(axis=0).mean()),
        "best": _rounded((policies.argmax(axis=2) == mean.argmax(axis=1)).mean()),
    }


def batch_dependence(evaluator: BatchEvaluator, probe: Probe) -> float | None:
    """How far an evaluation depends on the rest of the batch: the largest change of a probability or value.

    0 but for rounding. Batch normalisation that runs in training mode shows here (cody2007's 7x7 system).
    """
    if len(probe) < 2:
        return None
    together = evaluator.infer(probe.inputs)
    changes = []
    for row in range(min(_ALONE, len(probe))):
        one = slice(row, row + 1)
        alone = evaluator.infer(probe.inputs[np.array([row])])
        changes.append(_largest_change(alone, together.rows(one)))
    return _rounded(max(changes))


def training_mode_difference(evaluator: BatchEvaluator, module: nn.Module, probe: Probe) -> float | None:
    """Mean change of value and of policy (total variation) between a network file and its module in training mode.

    A network without batch statistics and dropout gives 0 but for rounding. The module's mode, weights and running
    statistics are left as they were.
    """
    import torch

    if not len(probe):
        return None
    twin = copy.deepcopy(module).train()
    device = next(itertools.chain(twin.parameters(), twin.buffers())).device
    with torch.no_grad():
        outputs = twin(*(torch.from_numpy(part).to(device) for part in probe.inputs.arrays))
    policy, value = (part.float().cpu().numpy() for part in (outputs.policy, outputs.value))
    trained = evaluation_from_outputs(probe.inputs.mask, policy, value)
    return _rounded(_mean_change(trained, evaluator.infer(probe.inputs)))


def network_figures(
    evaluator: BatchEvaluator, store: Store, fresh: range, seen: range, *, seed: int = 0, edge: int | None = None
) -> dict[str, Any]:
    """All figures of the network that played the rows `fresh` of the store and was not trained on them yet.

    `fresh` are its errors on those games, `seen` on those it was trained on last, None for an empty range; `agreement`
    is that of `fresh`. `symmetry` comes from 64 positions; `normalisation` says how far evaluations depend on the
    batch. All as the report and the warnings read them.
    """
    new, old = (draw_probe(evaluator, store, rows.start, rows.stop, seed=seed, edge=edge) for rows in (fresh, seen))
    few = new.head(_TURNED)
    judged = prediction_figures(evaluator, new)
    return {
        "agreement": judged["agreement"],
        "fresh": judged,
        "seen": prediction_figures(evaluator, old),
        "symmetry": symmetry_disagreement(evaluator, few),
        "normalisation": {"batch": batch_dependence(evaluator, few)},
    }


def _target(record: GameRecord, ply: int, edge: int) -> Floats:
    """The search's distribution [A] on a tensor of the given edge."""
    assert record.visits is not None
    visits = record.visits[ply]
    points, counts = visits & np.uint32(0xFFFF), (visits >> 16).astype(np.float32)
    target = np.zeros(edge * edge + 1, np.float32)
    target[policy_index(points, record.size, edge)] = counts / max(1.0, counts.sum())
    return target


def _value(record: GameRecord, ply: int) -> float:
    if record.winner is None:
        return float("nan")
    return 0.0 if record.winner == 2 else 1.0 if record.winner == int(record.colors[ply]) else -1.0


def _largest_change(a: Evaluation, b: Evaluation) -> float:
    return max(float(np.abs(a.policy - b.policy).max()), float(np.abs(a.value - b.value).max()))


def _mean_change(a: Evaluation, b: Evaluation) -> float:
    policy = np.abs(a.policy - b.policy).sum(axis=1) / 2
    return float(np.maximum(policy, np.abs(a.value - b.value)).mean())


def _rounded(value: float | np.floating[Any]) -> float:
    return round(float(value), 6)
