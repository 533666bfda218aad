"""Evaluation with PyTorch: for networks in training, and for network files on a GPU. Needs the extra [train]."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import onnx
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import Evaluation, InputBatch, evaluation_from_outputs
from tengen.evaluators.evaluator import BatchEvaluator
from tengen.evaluators.network_file import read_card


class Outputs(Protocol):
    """What a network returns: logits [B, A], outcome logits [B, 3], score [B] in points, ownership [B, H, W]."""

    @property
    def policy(self) -> Tensor: ...
    @property
    def value(self) -> Tensor: ...
    @property
    def score(self) -> Tensor: ...
    @property
    def ownership(self) -> Tensor: ...


class TorchEvaluator(BatchEvaluator):
    """Runs a network module whose forward takes (planes, scalars, mask).

    `device` auto takes the GPU where there is one. With `precision` auto the module runs under bf16 autocast on a GPU
    and in f32 on the CPU, so that the results can serve as the reference of other backends. The module is moved to the
    device; it is put into eval mode for each evaluation and back into the mode that it had once none is under way.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        name: str,
        plane_set: str = "tengen",
        device: str = "auto",
        precision: Literal["auto", "bf16", "f32"] = "auto",
        advice: Mapping[str, Any] | None = None,
    ) -> None:
        self.advice = dict(advice or {})
        self.name = name
        self.plane_set = plane_set
        self.only_size = getattr(module, "edge", None)
        self.device = torch.device(_default_device() if device == "auto" else device)
        self._half = precision == "bf16" or (precision == "auto" and self.device.type != "cpu")
        self._module = module.to(self.device)
        self._lock = threading.Lock()
        self._under_way = 0
        self._was_training = False

    @torch.inference_mode()
    def infer(self, batch: InputBatch) -> Evaluation:
        inputs = [torch.from_numpy(part).to(self.device) for part in batch.arrays]
        with self._eval_mode(), torch.autocast(self.device.type, torch.bfloat16, enabled=self._half):
            outputs: Outputs = self._module(*inputs)
        parts = (outputs.policy, outputs.value, outputs.score, outputs.ownership)
        policy, value, score, ownership = (part.float().cpu().numpy() for part in parts)
        return evaluation_from_outputs(batch.mask, policy, value, score, ownership)

    @contextmanager
    def _eval_mode(self) -> Iterator[None]:
        """The first of several threads sets the mode, the last one gives it back."""
        with self._lock:
            if not self._under_way:
                self._was_training = self._module.training
                self._module.eval()
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                if not self._under_way:
                    self._module.train(self._was_training)


def load_torch(path: str | Path, device: str = "auto") -> TorchEvaluator:
    """The evaluator of a network file. Raises NetworkError for one that is none or uses an operation unknown here."""
    path = Path(path)
    card = read_card(path)
    try:
        model = onnx.load(path)
    except Exception as error:  # of the file system, and of the protocol buffers that onnx happens to use
        raise NetworkError(f"{path} cannot be read as an ONNX network: {error}") from error
    return TorchEvaluator(
        GraphModule(model, path), name=card.name, plane_set=card.plane_set, device=device, advice=card.search
    )


class _GraphOutputs(dict[str, Tensor]):
    """The outputs of a graph by name, which can be read like those of a module."""

    __getattr__ = dict.__getitem__


class GraphModule(nn.Module):
    """An ONNX graph run node by node: the operations that networks of Go are exported to, and no others."""

    def __init__(self, model: onnx.ModelProto, path: Path) -> None:
        super().__init__()
        unknown = sorted({node.op_type for node in model.graph.node} - set(_OPERATIONS))
        if unknown:
            raise NetworkError(f"{path} uses {', '.join(unknown)}, unknown to backend torch; use backend openvino")
        self._outputs = [item.name for item in model.graph.output]
        shapes = {item.name: item.type.tensor_type.shape.dim for item in model.graph.input}
        self.edge: int | None = shapes["planes"][3].dim_value or None if "planes" in shapes else None
        self._constants: dict[str, str] = {}
        for i, item in enumerate(model.graph.initializer):
            self._add_constant(f"constant{i}", item.name, onnx.numpy_helper.to_array(item))
        self._steps: list[tuple[_Operation, list[str], str, dict[str, Any]]] = []
        for i, node in enumerate(model.graph.node):
            attributes = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
            if node.op_type == "Constant":
                self._add_constant(f"inline{i}", node.output[0], onnx.numpy_helper.to_array(attributes["value"]))
            else:
                self._steps.append((_OPERATIONS[node.op_type], list(node.input), node.output[0], attributes))

    def _add_constant(self, buffer: str, name: str, value: Any) -> None:
        tensor = torch.from_numpy(value.copy())
        if tensor.is_floating_point():
            self.register_buffer(buffer, tensor, persistent=False)
        else:
            setattr(self, buffer, tensor)  # axes and indices stay on the CPU, where they are read
        self._constants[name] = buffer

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> _GraphOutputs:
        values = {name: getattr(self, buffer) for name, buffer in self._constants.items()}
        values |= {"planes": planes, "scalars": scalars, "mask": mask}
        for operation, inputs, output, attributes in self._steps:
            values[output] = operation([values[name] for name in inputs if name], attributes)
        return _GraphOutputs({name: values[name] for name in self._outputs})


_Operation = Callable[[list[Tensor], dict[str, Any]], Tensor]


def _convolution(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    bias = inputs[2] if len(inputs) > 2 else None
    before: list[int] = attributes.get("pads", [0, 0, 0, 0])[:2]
    strides: list[int] = attributes.get("strides", [1, 1])
    return F.conv2d(inputs[0], inputs[1], bias, strides, before, groups=int(attributes.get("group", 1)))


def _gemm(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    a = inputs[0].T if attributes.get("transA") else inputs[0]
    b = inputs[1].T if attributes.get("transB") else inputs[1]
    product: Tensor = float(attributes.get("alpha", 1.0)) * (a @ b)
    return product + float(attributes.get("beta", 1.0)) * inputs[2] if len(inputs) > 2 else product


def _axes(inputs: list[Tensor], attributes: dict[str, Any]) -> list[int]:
    """The axes of an operation: an input in newer versions of ONNX, an attribute in older ones."""
    return [int(axis) for axis in (inputs[1].tolist() if len(inputs) > 1 else attributes["axes"])]


def _reduction(reduce: Callable[..., Tensor]) -> _Operation:
    return lambda x, a: reduce(x[0], dim=_axes(x, a), keepdim=bool(a.get("keepdims", 1)))


def _unsqueeze(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    result = inputs[0]
    for axis in sorted(_axes(inputs, attributes)):
        result = result.unsqueeze(axis)
    return result


def _gather(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    before = (slice(None),) * attributes.get("axis", 0)
    return inputs[0][(*before, inputs[1])]


def _slice(inputs: list[Tensor], _: dict[str, Any]) -> Tensor:
    starts, ends, *rest = (part.tolist() for part in inputs[1:])
    axes = rest[0] if rest else list(range(len(starts)))
    steps = rest[1] if len(rest) > 1 else [1] * len(starts)
    where = [slice(None)] * inputs[0].dim()
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        where[axis] = slice(start, end, step)
    return inputs[0][tuple(where)]


def _cast(inputs: list[Tensor], attributes: dict[str, Any]) -> Tensor:
    kind = onnx.helper.tensor_dtype_to_np_dtype(attributes["to"])
    return inputs[0].to(getattr(torch, kind.name))


_OPERATIONS: dict[str, _Operation] = {
    "Add": lambda x, _: x[0] + x[1],
    "Cast": _cast,
    "Concat": lambda x, a: torch.cat(x, dim=a["axis"]),
    "Constant": lambda x, _: x[0],
    "Conv": _convolution,
    "Div": lambda x, _: x[0] / x[1],
    "Erf": lambda x, _: torch.erf(x[0]),
    "Flatten": lambda x, a: x[0].flatten(1),
    "Gather": _gather,
    "Gemm": _gemm,
    "Identity": lambda x, _: x[0],
    "MatMul": lambda x, _: x[0] @ x[1],
    "Mul": lambda x, _: x[0] * x[1],
    "ReduceMax": _reduction(torch.amax),
    "ReduceMean": _reduction(torch.mean),
    "ReduceSum": _reduction(torch.sum),
    "Neg": lambda x, _: -x[0],
    "Relu": lambda x, _: torch.relu(x[0]),
    "Sigmoid": lambda x, _: torch.sigmoid(x[0]),
    "Slice": _slice,
    "Softplus": lambda x, _: F.softplus(x[0]),
    "Sqrt": lambda x, _: torch.sqrt(x[0]),
    "Squeeze": lambda x, a: x[0].squeeze(tuple(_axes(x, a))),
    "Sub": lambda x, _: x[0] - x[1],
    "Tanh": lambda x, _: torch.tanh(x[0]),
    "Unsqueeze": _unsqueeze,
}


def _default_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
