"""The network families by name, and networks made from their configurations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tengen.errors import NetworkError
from tengen.networks.a0 import A0Config, A0Net
from tengen.networks.cody import CodyConfig, CodyNet
from tengen.networks.interface import NetConfig, NetOutput
from tengen.networks.mobile import MobileConfig, MobileNet
from tengen.networks.plain import PlainConfig, PlainNet
from tengen.networks.preact import PreactConfig, PreactNet
from tengen.networks.presets import with_preset
from tengen.networks.residual import ResidualConfig, ResidualNet
from tengen.plugins import Registry, described


@dataclass(frozen=True)
class Family:
    """A family: the type of its configuration, and a function that makes a module from (config, planes, scalars)."""

    config: type[NetConfig]
    make: Callable[[Any, int, int], nn.Module]


FAMILIES: Registry[Family] = Registry(
    "network family",
    "tengen.networks",
    {
        "residual": Family(ResidualConfig, ResidualNet),
        "cody7x7": Family(CodyConfig, CodyNet),
        "plain": Family(PlainConfig, PlainNet),
        "preact": Family(PreactConfig, PreactNet),
        "a0": Family(A0Config, A0Net),
        "mobile": Family(MobileConfig, MobileNet),
    },
    NetworkError,
    part_type=Family,
)
"""Every family that `network.family` may name; `FAMILIES.register(name, Family(...))` adds one."""


def parse_config(data: Mapping[str, Any]) -> NetConfig:
    """The configuration that a mapping describes, of the type that its `family` asks for; `preset` may name fields.

    Raises NetworkError for an unknown family or preset and pydantic.ValidationError for wrong fields.
    """
    fields = with_preset(data)
    return FAMILIES[str(fields.get("family", ""))].config.model_validate(fields)


def build(config: NetConfig, planes: int, scalars: int) -> nn.Module:
    """A fresh network that reads `planes` planes and `scalars` scalars; weights come from torch's generator.

    Its forward takes planes [B, C, H, W], scalars [B, S] and mask [B, H, W] and returns a NetOutput with the heads that
    `config` declares. Raises NetworkError where the family makes no module.
    """
    module = FAMILIES[config.family].make(config, planes, scalars)
    if not isinstance(module, nn.Module):
        raise NetworkError(f"network family {config.family!r} makes {described(module)}, no torch.nn.Module")
    return module


def check_heads(module: nn.Module, config: NetConfig, planes: int, scalars: int) -> None:
    """Raise NetworkError unless the forward of a module returns the heads that `config` declares, in their shapes.

    The loss of a head that is declared and not returned would be left out, and a scalar [B, 1] be read as a logit.
    """
    edge, training = (config.board_sizes or (9,))[0], module.training
    with torch.no_grad():
        output = module.eval()(torch.zeros(2, planes, edge, edge), torch.zeros(2, scalars), torch.ones(2, edge, edge))
    module.train(training)
    family = f"network family {config.family!r}"
    if not isinstance(output, NetOutput):
        raise NetworkError(f"{family}: forward returns {described(output)}, no NetOutput")
    heads = config.heads
    moves = (2, edge * edge + heads.pass_move)
    declared: dict[str, tuple[int, ...] | None] = {
        "policy": moves,
        "value": {None: None, "win-draw-loss": (2, 3), "win-loss": (2, 1), "scalar": (2,)}[heads.value],
        "score": (2,) if heads.score else None,
        "ownership": (2, edge, edge) if heads.ownership else None,
        **dict.fromkeys(heads.maps, moves),
    }
    for name, wanted in declared.items():
        found = output.maps.get(name) if name in heads.maps else getattr(output, name)
        given = None if found is None else tuple(found.shape)
        if given != wanted:
            raise NetworkError(
                f"{family}: of 2 positions on {edge}x{edge} forward returns {name} of shape {given}, and the heads of "
                f"its configuration declare {wanted}: change `heads` or forward"
            )


def parameter_count(module: nn.Module) -> int:
    """Number of trained parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


def mac_count(module: nn.Module, planes: int, scalars: int, edge: int = 19) -> int:
    """Multiply-accumulates of a forward pass of one position on a board of `edge`: convolutions and linear layers."""
    total, training = 0, module.training
    device = next(module.parameters()).device

    def count(layer: nn.Module, _inputs: object, output: torch.Tensor) -> None:
        nonlocal total
        if isinstance(layer, nn.Conv2d):
            # A weight of a grouped convolution sees inputs / groups channels.
            total += layer.weight.numel() * output.shape[-2] * output.shape[-1]
        elif isinstance(layer, nn.Linear):
            total += layer.in_features * output.numel()  # of one position, or of each of its moves

    hooks = [
        layer.register_forward_hook(count) for layer in module.modules() if isinstance(layer, nn.Conv2d | nn.Linear)
    ]
    try:
        with torch.no_grad(), device:
            module.eval()  # running statistics stay as they are
            module(torch.zeros(1, planes, edge, edge), torch.zeros(1, scalars), torch.ones(1, edge, edge))
    finally:
        module.train(training)
        for hook in hooks:
            hook.remove()
    return total


def cost(config: NetConfig, planes: int, scalars: int, edge: int = 19) -> tuple[int, int]:
    """(parameters, multiply-accumulates of one position) of a network on a board of `edge`, its own if it has one size.

    The network is built without memory for its weights.
    """
    with torch.device("meta"):
        module = build(config, planes, scalars).eval()
        return parameter_count(module), mac_count(module, planes, scalars, getattr(module, "edge", None) or edge)
