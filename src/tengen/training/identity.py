"""The settings of a supervised run that stay the same when it is resumed, which its checkpoints hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tengen.data.label_sampler import LabelSampler
from tengen.data.split import choose
from tengen.errors import RecipeError
from tengen.runs.folder import check_same
from tengen.training.card import games_key
from tengen.training.config import CHOICE, RunConfig
from tengen.training.samplers import Samplers, splits

# A run that diverged goes on with lower rates, and a store may move: check_games knows its games.
_MAY_CHANGE = ("training.optimizer.lr", "training.optimizer.lr_rest", "data.store")


def check_resumes(out: Path, saved: dict[str, Any], run: RunConfig, samplers: Samplers) -> None:
    """Raise RecipeError where a run cannot go on from a checkpoint: it is of another run, or of more steps.

    A run that has ended has the learning rates that it has: another one would stand in its card and decide nothing.
    """
    has_ended = saved["step"] == run.training.total_steps
    check_same(out, saved["identity"], identity(run, samplers), ("data.store",) if has_ended else _MAY_CHANGE)
    _check_steps(out, saved["step"], run)


def identity(run: RunConfig, samplers: Samplers) -> dict[str, Any]:
    """The settings that cannot change when a run is resumed, as plain values."""
    training, data, inputs = run.training, run.data, samplers.train.plane_set
    validation_store, (_, split) = samplers.validation.store, splits(data)
    validates = np.flatnonzero(choose(validation_store.hashes, split, data.validation_fraction))
    fixed = {"batch_size", "seed", "optimizer", "ema", "losses", "value_loss"}
    teacher = data.teacher and data.teacher.model_dump(exclude_none=True, exclude={"licence", "buffer"})
    return {
        "training": training.model_dump(mode="json", include=fixed),
        "network": dict(run.network),
        "start": run.start,
        "data": {
            "store": data.store,
            # With another share, or none, games of the training would be used for validation.
            "validation_fraction": None if data.validation_store else data.validation_fraction,
            "validation_games": games_key(validation_store, validates),
            **dict.fromkeys(CHOICE),  # the defaults, which other versions may lack
            **data.model_dump(mode="json", include=set(CHOICE), exclude_defaults=True),
            **{name: getattr(data, name) for name in ("symmetries", "vary_rules", "validation_positions")},
            "teacher": teacher,
            # Names the rule, which another version may change.
            "targets": "labels of equal weight" if isinstance(samplers.train, LabelSampler) else "moves played",
        },
        "planes": [*inputs.planes, *inputs.scalars],
    }


def _check_steps(out: Path, step: int, run: RunConfig) -> None:
    """RecipeError for a run that has taken more steps than it should: its learning rate is not that of the end."""
    steps = run.training.total_steps
    if steps is not None and step > steps:
        of = "training.steps" if steps == run.training.steps else "the steps of training.epochs"
        raise RecipeError(
            f"{out} holds a run of {step} steps, more than {of} = {steps}; give {step} or more, or another --out"
        )
