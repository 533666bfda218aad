"""From a module to a network file: one .onnx with dynamic batch and board size, and text beside the graph."""

import copy
import warnings
from collections.abc import Mapping
from pathlib import Path

import onnx
import torch
from torch import nn

from tengen.disk import write_whole
from tengen.errors import NetworkError
from tengen.networks.blocks import ScaledConv2d
from tengen.networks.interface import NetOutput

OPSET = 17
INPUTS = ("planes", "scalars", "mask")


def export(module: nn.Module, planes: int, scalars: int, path: Path, metadata: Mapping[str, str]) -> None:
    """Write `module` as a network file, under a temporary name first; `metadata` becomes the file's properties.

    The module is not changed. Inputs planes [B, C, H, W], scalars [B, S], mask [B, H, W]; outputs policy, value, score
    and ownership as in NetOutput, without those of heads that the network lacks. Raises NetworkError for weights that
    are not finite.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(path, checksum=True) as temporary:
        network = plain(module)
        if not all(bool(weights.isfinite().all()) for weights in network.state_dict().values()):
            raise NetworkError(f"{path} is not written: the network has weights that are infinite or no numbers")
        _trace(network, planes, scalars, temporary)
        model = onnx.load(temporary)
        _declare_inputs(model, planes, scalars)
        onnx.helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model)
        onnx.save(model, temporary)


def relabel(source: Path, target: Path, metadata: Mapping[str, str]) -> None:
    """Write the network file `source` as `target` with other properties."""
    model = onnx.load(source)
    onnx.helper.set_model_props(model, dict(metadata))
    with write_whole(target, checksum=True) as temporary:
        onnx.save(model, temporary)


def plain(module: nn.Module) -> nn.Module:
    """A copy on the CPU, in evaluation mode, whose standardised convolutions have become ordinary ones.

    The further maps of its policy, which serve training alone, are removed.
    """
    result = copy.deepcopy(module).cpu().requires_grad_(False)
    for parent in list(result.modules()):
        if isinstance(maps := getattr(parent, "maps", None), nn.ModuleDict):
            maps.clear()
        for name, child in list(parent.named_children()):
            if isinstance(child, ScaledConv2d):
                setattr(parent, name, child.plain())
    return result.eval()


def _declare_inputs(model: onnx.ModelProto, planes: int, scalars: int) -> None:
    """Give the file all three inputs: the tracer drops those that the network does not read."""
    there = {port.name: port for port in model.graph.input}
    shapes: dict[str, list[str | int]] = {
        "planes": ["batch", planes, "height", "width"],
        "scalars": ["batch", scalars],
        "mask": ["batch", "height", "width"],
    }
    declared = [
        there.get(name) or onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shapes[name])
        for name in INPUTS
    ]
    del model.graph.input[:]
    model.graph.input.extend(declared)


def _trace(module: nn.Module, planes: int, scalars: int, path: Path) -> None:
    fixed: int | None = getattr(module, "edge", None)  # of a network that takes boards of one size only
    edge = fixed or 9
    example = (torch.rand(2, planes, edge, edge), torch.rand(2, scalars), torch.ones(2, edge, edge))
    board = {} if fixed else {1: "height", 2: "width"}
    with torch.no_grad():
        found: NetOutput = module(*example)
    outputs = [name for name in found._fields[:-1] if getattr(found, name) is not None]
    # A network file has no further maps; what computes them alone is dropped with them.
    module.register_forward_hook(lambda _module, _inputs, output: tuple(getattr(output, name) for name in outputs))
    axes = {
        "planes": {0: "batch", **{axis + 1: name for axis, name in board.items()}},
        "mask": {0: "batch", **board},
        "ownership": {0: "batch", **board},
        "policy": {0: "batch"} if fixed else {0: "batch", 1: "moves"},
        **{name: {0: "batch"} for name in ("scalars", "value", "score")},
    }
    with warnings.catch_warnings(), torch.no_grad():
        # The tracer is deprecated, but its successor needs one more package and fixes the board size.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            example,
            str(path),
            input_names=list(INPUTS),
            output_names=outputs,
            dynamic_axes={name: axes[name] for name in (*INPUTS, *outputs)},
            opset_version=OPSET,
            # In the mode of the module, eval; asked for EVAL, the exporter folds batch norm into unnamed weights, from
            # which `load_module` could not rebuild the network. Every backend folds it when it loads the file.
            training=torch.onnx.TrainingMode.PRESERVE,
            dynamo=False,
        )
