"""Names of network families. A new family is one file with a configuration and a module, and one line here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from torch import nn

from tengen.errors import NetworkError
from tengen.networks.cody import CodyConfig, CodyNet
from tengen.networks.config import NetConfig
from tengen.networks.residual import ResidualConfig, ResidualNet


@dataclass(frozen=True)
class Family:
    """A family: the type of its configuration, and how a module is made from (config, planes, scalars)."""

    config: type[NetConfig]
    make: Callable[[Any, int, int], nn.Module]


_FAMILIES = {
    "residual": Family(ResidualConfig, ResidualNet),
    "cody7x7": Family(CodyConfig, CodyNet),
}


def families() -> list[str]:
    """The names that `family` may take."""
    return list(_FAMILIES)


def config_type(family: str) -> type[NetConfig]:
    """The type of a family's configuration; NetworkError for an unknown family."""
    return _family(family).config


def parse_config(data: Mapping[str, Any]) -> NetConfig:
    """The configuration that a mapping describes, of the type that its `family` asks for.

    Raises NetworkError for an unknown family and pydantic.ValidationError for wrong fields.
    """
    return config_type(str(data.get("family", ""))).model_validate(dict(data))


def build(config: NetConfig, planes: int, scalars: int) -> nn.Module:
    """A fresh network that reads `planes` planes and `scalars` scalars; weights come from torch's generator.

    Its forward takes planes [B, C, H, W], scalars [B, S] and mask [B, H, W] and returns a NetOutput.
    """
    return _family(config.family).make(config, planes, scalars)


def _family(name: str) -> Family:
    if name not in _FAMILIES:
        near = get_close_matches(name, _FAMILIES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(_FAMILIES)}"
        raise NetworkError(f"no network family {name!r}; {hint}")
    return _FAMILIES[name]
