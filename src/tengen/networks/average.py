"""The mean of several networks, weight by weight."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from tengen.networks.export import export, plain
from tengen.networks.load import load_module


def average(files: Sequence[Path], planes: int, scalars: int, target: Path, metadata: Mapping[str, str]) -> None:
    """Write the network file whose weights are the means of those of `files`, networks of one run.

    Where neighbouring networks make different mistakes, their mean may make fewer (stochastic weight averaging,
    Izmailov et al. 2018). `planes`, `scalars` and `metadata` as in `export`.
    """
    modules = [plain(load_module(file)) for file in files]  # plain: of standardised filters the mean is another one
    states = [module.state_dict() for module in modules]
    for key, value in states[0].items():
        if value.is_floating_point():
            value.copy_(torch.stack([state[key] for state in states]).mean(0))
    export(modules[0], planes, scalars, target, metadata)
