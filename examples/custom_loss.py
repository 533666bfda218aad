"""A loss of your own with a target of your own: the value counts more in positions near the end of the game.

    python examples/custom_loss.py STORE RUN

trains a small network for 30 steps and prints the losses of its log.

`TARGETS.register` and `LOSSES.register` make both known in this program. An installed package makes them known to all
commands by entry points in its pyproject.toml::

    [project.entry-points."tengen.targets"]
    moves-left = "my_package.training:moves_left"

    [project.entry-points."tengen.losses"]
    late-value = "my_package.training:LATE_VALUE"

A recipe then names the loss and its weight: `losses: {value: 0, late-value: 0.3}`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from torch import Tensor

from tengen.data import Store
from tengen.data.batch import Rows
from tengen.networks import NetOutput
from tengen.runs.events import read_events
from tengen.training.batches import TARGETS, TensorBatch
from tengen.training.config import RunConfig
from tengen.training.losses import LOSSES, LossTerm, value_loss
from tengen.training.supervised import train


def moves_left(store: Store, rows: Rows, edge: int) -> npt.NDArray[np.float32]:
    """A target [B] for the positions `rows` of a store: the moves until the end of the game."""
    return (store.lengths[rows.game] - rows.ply).astype(np.float32)


def late_value(output: NetOutput, batch: TensorBatch) -> Tensor:
    """The usual loss of the value, with weights that halve for every 20 moves before the end."""
    assert output.value is not None, "the loss names the head `value`"
    late = 0.5 ** (batch.extra["moves-left"] / 20)
    return value_loss(output.value, batch._replace(weight=batch.weight * late))


LATE_VALUE = LossTerm(late_value, head="value", targets=("moves-left",))


def main(store: str, run: str) -> list[float]:
    """Train with the loss; returns its value at each entry of the log."""
    TARGETS.register("moves-left", moves_left)
    LOSSES.register("late-value", LATE_VALUE)
    recipe = RunConfig.model_validate(
        {
            "name": "late-value",
            "data": {"store": store, "validation_fraction": 0.2},
            "network": {"family": "residual", "size": "b1c16"},
            "training": {
                "steps": 30,
                "batch_size": 32,
                "validate_every": 30,
                "log_every": 10,
                "losses": {"value": 0, "late-value": 0.3},
            },
        }
    )
    train(recipe, Path(run))
    return [event["late-value"] for event in read_events(Path(run), "train")]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(main(sys.argv[1], sys.argv[2]))
