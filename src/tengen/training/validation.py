"""The validations of a training run, which measure the averaged network while it learns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tengen.data.batch import Rows
from tengen.data.label_sampler import LabelSampler
from tengen.data.sampler import Sampler
from tengen.evaluators.torch import TorchEvaluator
from tengen.runs.events import EventLog
from tengen.training.batches import MOVE_TARGETS, TARGETS
from tengen.training.metrics import Estimate, Integers, Numbers, agreement, compare_moves, measure
from tengen.training.trainer import Callback, Trainer


class Validation(Callback):
    """Evaluates the averaged network at the steps that are `due` and at the end, on the same positions each time; with
    `first` also before the first step.

    Writes an event `validation` with the mean and 95% confidence interval of each figure that is known, and the number
    of positions; as many positions of `labels` show how far the network agrees with a teacher. There are no figures of
    moves without `has_policy`. `last` holds the newest figures.
    """

    def __init__(
        self,
        log: EventLog,
        sampler: Sampler,
        labels: LabelSampler | None,
        positions: int,
        has_policy: bool,
        due: Callable[[int], bool],
        first: bool,
    ) -> None:
        self._events = log
        self._sampler = sampler
        self._labels = labels
        self._positions = positions
        self._has_policy = has_policy
        self._due = due
        self._first = first
        self._step = -1
        self.last: dict[str, Estimate] = {}

    def on_start(self, trainer: Trainer[Any]) -> None:
        if self._first and not trainer.step:
            self._validate(trainer)

    def on_step(self, trainer: Trainer[Any]) -> None:
        if self._due(trainer.step):
            self._validate(trainer)

    def on_end(self, trainer: Trainer[Any]) -> None:
        if trainer.done >= 1 and self._step != trainer.step:
            self._validate(trainer)

    def _validate(self, trainer: Trainer[Any]) -> None:
        self._step = trainer.step
        with LaterMoves(trainer.average, self._sampler) as maps:
            evaluator = evaluator_of(trainer, self._sampler)
            result = measure(evaluator, self._sampler, self._positions, maps.see)
        if not self._has_policy:
            result = result.without_policy()
        found = {**result.estimates(), **maps.estimates()}
        if self._labels is not None:
            found |= agreement(evaluator, self._labels, self._positions, self._has_policy)
        self.last = {name: figure for name, figure in found.items() if figure.count}
        values: dict[str, Any] = {name: round(figure.mean, 5) for name, figure in self.last.items()}
        intervals = {name: figure.interval(5) for name, figure in self.last.items()}
        self._events.write("validation", trainer.step, {**values, "intervals": intervals, "count": len(result)})
        trainer.validated(values)


def evaluator_of(trainer: Trainer[Any], sampler: Sampler) -> TorchEvaluator:
    """The averaged network as it is now, for the positions of a sampler."""
    planes = sampler.plane_set.name
    return TorchEvaluator(trainer.average, name="in training", plane_set=planes, device=str(trainer.device))


class LaterMoves:
    """Evaluates the maps `move2`, `move3`, ... of a network while it is measured. Within the context the maps are kept.

    Evaluators give the outputs of a network file alone; these maps are none of them.
    """

    def __init__(self, network: nn.Module, sampler: Sampler) -> None:
        self._network = network
        self._sampler = sampler
        self._maps: dict[str, Tensor] = {}
        self._found: dict[str, list[tuple[Numbers, Numbers, Numbers, Integers]]] = {}

    def __enter__(self) -> LaterMoves:
        self._hook = self._network.register_forward_hook(
            lambda _module, _inputs, output: self._maps.update(output.maps)
        )
        return self

    def __exit__(self, *_error: object) -> None:
        self._hook.remove()

    def see(self, rows: Rows) -> None:
        """Compare the maps of the last batch, of which these are the first positions, with the moves played."""
        for name, logits in self._maps.items():
            if name in MOVE_TARGETS:
                move = TARGETS[name](self._sampler.store, rows, self._sampler.edge)
                chances = torch.softmax(logits[: len(rows.game)].float(), dim=1).cpu().numpy()
                known = np.where(move < chances.shape[1], move, -1)  # of a pass a map may know nothing
                self._found.setdefault(name, []).append((*compare_moves(chances, known), rows.game))

    def estimates(self) -> dict[str, Estimate]:
        """top1, top5 and cross_entropy of each map, such as move2_top1."""
        figures: dict[str, Estimate] = {}
        for name, parts in self._found.items():
            top1, top5, loss, game = (np.concatenate(column) for column in zip(*parts, strict=True))
            known = ~np.isnan(loss)
            for figure, hits in (("top1", top1), ("top5", top5)):
                figures[f"{name}_{figure}"] = Estimate.share(hits[known], game[known])
            figures[f"{name}_cross_entropy"] = Estimate.average(loss[known], game[known])
        return figures
