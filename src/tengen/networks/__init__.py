"""Networks: a configuration becomes a PyTorch module, and a module becomes a network file. Needs the extra [train]."""

from tengen.errors import MissingExtra

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra("making and training networks", "train") from error

from tengen.networks.interface import Heads, NetConfig, NetOutput, expected_result
from tengen.networks.registry import FAMILIES, Family, build, parse_config

__all__ = ["FAMILIES", "Family", "Heads", "NetConfig", "NetOutput", "build", "expected_result", "parse_config"]
