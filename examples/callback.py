"""A callback of your own: early stopping, when the top-1 accuracy has not risen for some validations.

    python examples/callback.py STORE RUN

`CALLBACKS.register` makes the callback known in this program. An installed package makes it known to all commands by an
entry point in its pyproject.toml::

    [project.entry-points."tengen.callbacks"]
    early-stopping = "my_package.training:EarlyStopping"

A recipe then names it with its settings: `callbacks: {early-stopping: {patience: 3}}`. It works in supervised runs, in
self-play and in policy gradients; `on_validation` is called in supervised runs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tengen.training.callbacks import CALLBACKS
from tengen.training.config import RunConfig
from tengen.training.supervised import train
from tengen.training.trainer import Callback, Trainer


class EarlyStopping(Callback):
    """Ends a run after `patience` validations without a new best top-1 accuracy."""

    def __init__(self, patience: int = 3) -> None:
        self.patience = patience
        self.best = 0.0
        self.since_best = 0

    def on_validation(self, trainer: Trainer[Any], figures: Mapping[str, float]) -> None:
        if figures["top1"] > self.best:
            self.best, self.since_best = figures["top1"], 0
            return
        self.since_best += 1
        trainer.should_stop |= self.since_best >= self.patience

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "since_best": self.since_best}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.best, self.since_best = state["best"], state["since_best"]


def main(store: str, run: str) -> Path:
    """Train until the accuracy stops rising; returns the network file."""
    CALLBACKS.register("early-stopping", EarlyStopping)
    recipe = RunConfig.model_validate(
        {
            "name": "stopped-early",
            "data": {"store": store, "validation_fraction": 0.2},
            "network": {"family": "residual", "size": "b1c8"},
            "training": {
                "steps": 500,
                "batch_size": 16,
                "validate_every": 5,
                "optimizer": {"name": "sgd", "lr": 1e-9, "momentum": 0},  # a rate at which nothing improves
                "callbacks": {"early-stopping": {"patience": 2}},
            },
        }
    )
    return train(recipe, Path(run))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(main(sys.argv[1], sys.argv[2]))
