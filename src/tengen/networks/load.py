"""From network files back to modules that can be trained: the inverse of the export, and the mean of several."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from tengen.checksums import check_seal
from tengen.errors import NetworkError, os_reason
from tengen.formats.network_weights import stored_weights
from tengen.networks.blocks import ScaledConv2d
from tengen.networks.export import export, plain
from tengen.networks.interface import NetConfig, NetOutput
from tengen.networks.registry import build, parse_config

_CARD_KEY = "tengen"


def load_module(path: str | Path) -> nn.Module:
    """The network of a file of ours, in evaluation mode on the CPU, which computes what the file does up to rounding.

    The filters of standardised convolutions are those of the file at norm 1, with the gain that makes up for it.
    Maps that serve training alone are not in the file: their parameters are fresh, from torch's generator. Raises
    NetworkError for a file that is none of ours or lacks something that its outputs need.
    """
    path = Path(path)
    try:
        check_seal(path, NetworkError)
        model = onnx.load(path)
    except NetworkError:
        raise
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {os_reason(error)}") from error
    except Exception as error:
        raise NetworkError(f"{path} cannot be read as an ONNX network: {error}") from error
    widths = _input_widths(model)
    if "planes" not in widths or "scalars" not in widths:
        raise NetworkError(f"{path} takes {sorted(widths)}; a network file of Tengen takes planes, scalars and mask")
    module = build(_config(model, path), widths["planes"], widths["scalars"])
    stored = _stored(model)
    _fill(module, stored, path)
    _require_all(module, set(stored), widths, path)
    return module.eval()


def average(files: Sequence[Path], planes: int, scalars: int, target: Path, metadata: Mapping[str, str]) -> None:
    """Write the network file whose weights are the means of those of `files`, networks of one run.

    This is stochastic weight averaging (Izmailov et al. 2018). `planes`, `scalars` and `metadata` as in `export`.
    """
    # The mean of standardised filters is not standardised, so their convolutions become ordinary ones.
    modules = [plain(load_module(file)) for file in files]
    states = [module.state_dict() for module in modules]
    for key, value in states[0].items():
        if value.is_floating_point():
            value.copy_(torch.stack([state[key] for state in states]).mean(0))
    export(modules[0], planes, scalars, target, metadata)


def _input_widths(model: onnx.ModelProto) -> dict[str, int]:
    """Channels of each input by name."""
    return {item.name: int(item.type.tensor_type.shape.dim[1].dim_value) for item in model.graph.input}


def _stored(model: onnx.ModelProto) -> dict[str, Tensor]:
    """The weights of the file by name, as tensors."""
    return {name: torch.from_numpy(values.copy()) for name, values in stored_weights(model).items()}


def _config(model: onnx.ModelProto, path: Path) -> NetConfig:
    try:
        card = json.loads({entry.key: entry.value for entry in model.metadata_props}[_CARD_KEY])
        return parse_config(card["config"])
    except (KeyError, TypeError, ValueError) as error:
        raise NetworkError(f"{path} carries no card from which its network could be built: {error}") from error


@torch.no_grad()
def _fill(module: nn.Module, stored: dict[str, Tensor], path: Path) -> None:
    """Copy the initializers of the file into the parameters and buffers of the same names."""
    places: dict[str, Tensor] = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    scaled = {f"{name}.weight": part for name, part in module.named_modules() if isinstance(part, ScaledConv2d)}
    for name in (name for name in places if name in stored):
        place, values = places[name], stored[name]
        if place.shape != values.shape:
            raise NetworkError(
                f"{path} holds {name} of shape {list(values.shape)}; its card asks for {list(place.shape)}"
            )
        if name in scaled:
            scaled[name].set_effective_weight(values)
        else:
            place.copy_(values)


def _require_all(module: nn.Module, stored: set[str], widths: dict[str, int], path: Path) -> None:
    """Raise NetworkError when a parameter or buffer is not stored that an output of the file depends on."""
    # The gain of a standardised convolution is part of its stored filters.
    absent = {name: p for name, p in module.named_parameters() if name not in stored and not name.endswith("gain")}
    lacking = [name for name, p in module.named_buffers() if name not in stored and p.is_floating_point()]
    if absent:
        edge = getattr(module, "edge", None) or 5
        inputs = (torch.zeros(1, widths["planes"], edge, edge), torch.zeros(1, widths["scalars"]))
        output: NetOutput = module.eval()(*inputs, torch.ones(1, edge, edge))
        total = torch.stack([part.sum() for part in output[:-1] if part is not None]).sum()
        gradients = torch.autograd.grad(total, list(absent.values()), allow_unused=True)
        lacking += [name for name, gradient in zip(absent, gradients, strict=True) if gradient is not None]
    if lacking:
        raise NetworkError(f"{path} does not hold {', '.join(lacking)}, from which its outputs are computed")
