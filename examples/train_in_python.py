"""Train a network in a few lines of Python, without recipe and run folder.

    python examples/train_in_python.py STORE NETWORK.onnx

`Trainer` takes any iterable of batches with planes, scalars and mask, and any loss of (output, batch).
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from tengen.data import Sampler, Store
from tengen.data.planes import plane_set
from tengen.evaluators.network_file import Card
from tengen.networks import build, parse_config
from tengen.networks.export import export
from tengen.training.batches import BatchStream, TensorBatch
from tengen.training.config import LossWeights, OptimizerConfig, ScheduleConfig, TrainerConfig
from tengen.training.losses import WeightedLosses
from tengen.training.schedules import Position
from tengen.training.trainer import Trainer

STEPS = 40


def main(store: str, path: str) -> tuple[float, float]:
    """Train for 40 steps and write the network file; returns the policy loss of the first and the last step."""
    inputs = plane_set("tengen")
    planes, scalars = len(inputs.planes), len(inputs.scalars)

    # A network, from the fields that a recipe has below `network`.
    torch.manual_seed(0)
    config = parse_config({"family": "residual", "size": "b1c16"})
    network = build(config, planes, scalars)

    # A trainer. The position maps (steps, seconds) to what the learning-rate schedule reads.
    trainer: Trainer[TensorBatch] = Trainer(
        network,
        TrainerConfig(
            optimizer=OptimizerConfig(name="muon", lr=0.02), schedule=ScheduleConfig(warmup_steps=5), precision="f32"
        ),
        WeightedLosses(LossWeights(value=0.5)),
        scalars=scalars,
        position=lambda step, seconds: Position(step, done=step / STEPS),
        ema=0.9,
    )

    # The data: batch number n of a sampler is a function of its seed and n alone.
    sampler = Sampler(Store.open(store), "train", "tengen", batch_size=64, seed=1)
    stream = BatchStream(sampler, first=0)
    trainer.fit(stream, steps=1)
    first = float(trainer.losses["policy"])
    trainer.fit(BatchStream(sampler, first=trainer.step), steps=STEPS)

    # The averaged network as a network file, with the card that every command reads.
    card = Card(
        name="mine", family=config.family, config=config.model_dump(), plane_set="tengen", board_sizes=[sampler.edge]
    )
    export(trainer.playing(), planes, scalars, Path(path), card.metadata())
    return first, float(trainer.losses["policy"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print("policy loss of the first and the last step: {:.3f}, {:.3f}".format(*main(sys.argv[1], sys.argv[2])))
