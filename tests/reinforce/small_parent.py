"""A small network that knows nothing, and a recipe of a few seconds that starts from it."""

from pathlib import Path
from typing import Any

import torch

from tengen.data.planes import plane_set
from tengen.evaluators.network_file import Card
from tengen.networks import build, parse_config
from tengen.networks.export import export
from tengen.reinforce.config import ActionValueConfig, PolicyGradientConfig

SMALL: dict[str, Any] = {
    "name": "small",
    "iterations": 6,
    "games": 8,
    "game": {"size": 5, "komi": 0.5},
    "pool": {"every": 2},
    "learn": {"threads": 1, "batch_size": 64, "optimizer": {"name": "adamw", "lr": 0.003}},
    "evaluation": {"every": 3, "games": 10, "opening_moves": 3},
}
"""Six updates of eight games on 5x5, a copy every second one."""


def write_parent(path: Path, size: str = "b1c16", seed: int = 0, network: dict[str, Any] | None = None) -> Path:
    torch.manual_seed(seed)
    config = parse_config(network or {"family": "residual", "size": size, "stem": 3})
    inputs = plane_set(config.plane_set)
    widths = len(inputs.planes), len(inputs.scalars)
    card = Card(
        name="knows nothing",
        family=config.family,
        config=config.model_dump(mode="json"),
        plane_set=config.plane_set,
        board_sizes=[5],
        licence="MIT",
        provenance={"games": [{"store": "games of the parent"}]},
    )
    export(build(config, *widths), *widths, path, card.metadata())
    return path


def small_config(start: Path, **changes: Any) -> PolicyGradientConfig:
    """A policy gradient from this parent."""
    return PolicyGradientConfig.model_validate({**SMALL, "start": str(start), **changes})


def small_q_config(**changes: Any) -> ActionValueConfig:
    """Action values of a new network, a narrow one of BetaGo's book."""
    network = {
        "preset": "betago-q",
        "board_size": 5,
        "convs": ["3x3x16"],
        "dense": 32,
        "policy": {"kind": "action-value", "hidden": 32},
    }
    return ActionValueConfig.model_validate({**SMALL, "network": network, **changes})
