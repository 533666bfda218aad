"""The network that a recipe describes, and whether it sees the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from tengen.data.planes import PlaneSet
from tengen.networks import build, parse_config
from tengen.networks.blocks import ScalarLinear
from tengen.networks.registry import check_heads


def make_network(network: Mapping[str, Any], inputs: PlaneSet, seed: int) -> nn.Module:
    """A fresh network of a recipe's fields; its weights follow from `seed`. Raises NetworkError as `check_heads`."""
    torch.manual_seed(seed)
    config, planes, scalars = parse_config(network), len(inputs.planes), len(inputs.scalars)
    module = build(config, planes, scalars)
    check_heads(module, config, planes, scalars)
    return module


def sees_rules(network: nn.Module, inputs: PlaneSet) -> bool:
    """Whether a network sees rules and komi: by the scalars, or by planes of the komi."""
    layers = (part for part in network.modules() if isinstance(part, ScalarLinear))
    return any(layer.in_features > layer.first for layer in layers) or any(
        plane.startswith("komi") for plane in inputs.planes
    )
