"""The settings of a supervised run that stay the same when it is resumed, which its checkpoints hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from tengen.data.label_sampler import LabelSampler, recorded_positions
from tengen.data.split import choose
from tengen.errors import RecipeError
from tengen.runs.folder import check_same
from tengen.training.card import games_key
from tengen.training.config import CHOICE, LossWeights, OptimizerConfig, RunConfig, TeacherConfig
from tengen.training.losses import LOSSES
from tengen.training.optimizers import NO_OPTIONS, OWN
from tengen.training.samplers import Samplers, splits

# A run that diverged goes on with lower rates, and a store may move: check_games knows its games.
_MAY_CHANGE = ("training.optimizer.lr", "training.optimizer.lr_rest", "data.store")
_OBJECTIVE = ("losses", "value_loss")  # keys of training that stay
_DRAWN = ("symmetries", "vary_rules", "validation_positions")  # further ones that stay


def check_resumes(out: Path, saved: dict[str, Any], run: RunConfig, samplers: Samplers) -> None:
    """Raise RecipeError where a run cannot go on from a checkpoint: it is of another run, or of more steps."""
    before, now = saved["identity"], identity(run, samplers)
    before["training"].setdefault("ema", run.training.ema if saved["average"] else 0.0)
    if "targets" not in before["data"]:
        _check_targets(out, run, samplers)
    _add_new_settings(before, now)
    check_same(out, before, now, _MAY_CHANGE)
    _check_steps(out, saved["step"], run)


def identity(run: RunConfig, samplers: Samplers) -> dict[str, Any]:
    """The settings that cannot change when a run is resumed, as plain values."""
    training, data, inputs = run.training, run.data, samplers.train.plane_set
    validation_store, (_, split) = samplers.validation.store, splits(data)
    validates = np.flatnonzero(choose(validation_store.hashes, split, data.validation_fraction))
    fixed = {"batch_size", "seed", "optimizer", "ema", *_OBJECTIVE}
    return {
        "training": training.model_dump(mode="json", include=fixed),
        "network": dict(run.network),
        "start": run.start,
        "data": {
            "store": data.store,
            # With another share, or none, games of the training would be used for validation.
            "validation_fraction": None if data.validation_store else data.validation_fraction,
            "validation_games": games_key(validation_store, validates),
            **{name: getattr(data, name) or None for name in CHOICE},
            **{name: getattr(data, name) for name in _DRAWN},
            **({} if data.teacher is None else {"teacher": _fixed_of(data.teacher)}),
            # Names the rule: see _check_targets.
            "targets": "labels of equal weight" if isinstance(samplers.train, LabelSampler) else "moves played",
        },
        "planes": [*inputs.planes, *inputs.scalars],
    }


def _fixed_of(teacher: TeacherConfig) -> dict[str, Any]:
    """What of a teacher cannot change when a run is resumed."""
    return teacher.model_dump(exclude_none=True, exclude={"licence", "buffer"})


def _check_targets(out: Path, run: RunConfig, samplers: Samplers) -> None:
    """RecipeError for a run of an earlier version whose losses or weights of positions are others now."""
    data, train = run.data, samplers.train
    if isinstance(train, LabelSampler):
        if any(len(shard.surprises) for shard in train.store.shards):
            raise RecipeError(
                f"{out} holds a run of an earlier version of Tengen, which weighted the positions of {data.store} by "
                "the surprise of their searches; give another folder with --out"
            )
        return
    weights = run.training.losses.weights()
    columns = {column for name, weight in weights.items() if weight for column in LOSSES[name].columns}
    if data.teacher is not None:
        columns.discard("target")  # that of the network
    if columns and recorded_positions(train.store)[train.game_rows].any():
        raise RecipeError(
            f"{out} holds a run of an earlier version of Tengen, which learned the visits or labels of {data.store} "
            "instead of the moves played; give another folder with --out"
        )


def _add_new_settings(before: dict[str, Any], now: Mapping[str, Any]) -> None:
    """Add to the identity in a checkpoint of an earlier version what it does not have, in place."""
    for section, names in (("training", _OBJECTIVE), ("data", ("validation_games", "targets", *_DRAWN))):
        for name in names:
            before[section].setdefault(name, now[section][name])
    if (teacher := before["data"].get("teacher")) is not None:
        before["data"]["teacher"] = _fixed_of(TeacherConfig.model_validate(teacher))
    models: dict[str, type[BaseModel]] = {"optimizer": OptimizerConfig, "losses": LossWeights}
    for name, model in models.items():
        before["training"][name] = model.model_validate(before["training"][name]).model_dump(mode="json")
    if (optimizer := before["training"]["optimizer"])["name"] in OWN:
        for name in NO_OPTIONS:  # they were taken, and had no effect
            optimizer["options"].pop(name, None)


def _check_steps(out: Path, step: int, run: RunConfig) -> None:
    """RecipeError for a run that has taken more steps than it should: its learning rate is not that of the end."""
    steps = run.training.total_steps
    if steps is not None and step > steps:
        of = "training.steps" if steps == run.training.steps else "the steps of training.epochs"
        raise RecipeError(
            f"{out} holds a run of {step} steps, more than {of} = {steps}; give {step} or more, or another --out"
        )
