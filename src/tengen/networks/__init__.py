"""Networks: a configuration becomes a PyTorch module, and a module becomes a network file. Needs the extra [train]."""

from tengen.errors import MissingExtra

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra("making and training networks", "train") from error

from tengen.networks.config import NetConfig
from tengen.networks.output import NetOutput
from tengen.networks.registry import build, families, parse_config

__all__ = ["NetConfig", "NetOutput", "build", "families", "parse_config"]
