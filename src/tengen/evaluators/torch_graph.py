"""The graph of a network file as a PyTorch module, for GPUs and for teachers in training. Needs the extra [train]."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import Tensor, fx, nn

from tengen.errors import NetworkError
from tengen.evaluators.file_evaluator import INPUTS

Sizes: TypeAlias = list[Any]
"""Numbers that follow from the shapes of the inputs: not tensors, so that no operation waits for the device."""
Value: TypeAlias = "Tensor | Sizes | float"
HALF = torch.float16
"""The precision on a GPU. Its eleven bits count the 361 points of a board; bfloat16 has eight."""


def graph_module(model: onnx.ModelProto, path: Path, dtype: torch.dtype = torch.float32) -> fx.GraphModule:
    """The model of the network file `path` as a module of (planes, scalars, mask) that returns its outputs in float32
    by their names.

    Weights and most values are of `dtype`; sums of many values, what they are divided by, and numbers of a whole board
    are in float32. Attention, RMS norms and SiLU become the functions of PyTorch that compute them at once. Raises
    NetworkError for an operation that is not supported.
    """
    return _Builder(model, path, dtype).build()


class _Builder:
    """Translates nodes one by one, in the order of the file."""

    def __init__(self, model: onnx.ModelProto, path: Path, dtype: torch.dtype) -> None:
        self._onnx, self._path, self._dtype = model.graph, path, dtype
        self._root, self._graph = nn.Module(), fx.Graph()
        self._values: dict[str, Any] = {"": None}  # by their names in the file: fx nodes, or lists of numbers
        self._arrays = {one.name: numpy_helper.to_array(one) for one in self._onnx.initializer}
        self._made_by = {name: node for node in self._onnx.node for name in node.output}
        self._static: set[str] = set()  # tensors that follow from the shapes alone: float32

    def build(self) -> fx.GraphModule:
        inputs = {name: self._graph.placeholder(name) for name in INPUTS}
        self._values |= {name: self._call(Tensor.to, port, self._dtype) for name, port in inputs.items()}
        for node in self._onnx.node:
            self._translate(node)
        outputs = {port.name: self._call(Tensor.float, self._values[port.name]) for port in self._onnx.output}
        self._graph.output(outputs)
        self._graph.eliminate_dead_code()
        return fx.GraphModule(self._root, self._graph)

    def _call(self, function: Callable[..., Any], *inputs: Any, **options: Any) -> fx.Node:
        return self._graph.call_function(function, inputs, options)

    def _translate(self, node: onnx.NodeProto) -> None:
        options = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "Constant":
            (value,) = options.values()  # a tensor, a number or numbers
            is_tensor = isinstance(value, onnx.TensorProto)
            self._arrays[node.output[0]] = numpy_helper.to_array(value) if is_tensor else np.array(value)
            return
        for name, usual in _USUAL.items():
            if options.pop(name, usual) != usual:
                raise NetworkError(f"{self._path}: {name} of {node.op_type} is not supported by the device torch")
        fused = self._fused(node)
        if fused is not None:
            self._values[node.output[0]] = fused
            return
        function = _OPERATIONS.get(node.op_type)
        if function is None:
            raise NetworkError(f"{self._path}: the operation {node.op_type} is not supported by the device torch")
        static = node.op_type == "Range" or (
            any(name in self._static for name in node.input)
            and all(name in self._static or self._is_constant(name) for name in node.input)
        )
        if static:
            self._static.update(node.output)
            function = _matmul_f32 if node.op_type == "MatMul" else function
        if node.op_type == "Range":
            options["like"] = self._values["mask"]
        inputs = [self._input(name, static) for name in node.input]
        found = self._call(function, *inputs, **{name: _plain(value) for name, value in options.items()})
        for number, name in enumerate(node.output):
            self._values[name] = found if len(node.output) == 1 else self._call(operator.getitem, found, number)

    def _is_constant(self, name: str) -> bool:
        return name in self._arrays or name == "" or isinstance(self._values.get(name), list)

    def _input(self, name: str, static: bool) -> Any:
        """A value of the graph. Whole numbers that are constant become lists, other constants parts of the module."""
        array = self._arrays.get(name)
        if array is None:
            value = self._values[name]
            return self._call(Tensor.to, value, self._dtype) if name in self._static and not static else value
        if array.dtype.kind in "iub" or (static and not array.ndim):
            return array.tolist()
        if name in self._values and not static:
            return self._values[name]
        attribute = f"c{len(self._root._buffers)}"
        tensor = torch.from_numpy(np.array(array, np.float32))
        self._root.register_buffer(attribute, tensor if static else tensor.to(self._dtype))
        found = self._graph.get_attr(attribute)
        if not static:
            self._values[name] = found
        return found

    # What several nodes compute together

    def _fused(self, node: onnx.NodeProto) -> fx.Node | None:
        """The node as the last one of a pattern that PyTorch has a function for."""
        match node.op_type:
            case "Mul":
                return self._silu(*node.input) or self._rms_norm(*node.input)
            case "MatMul":
                return self._attention(*node.input)
        return None

    def _maker(self, name: str, kind: str, **attributes: Any) -> Sequence[str] | None:
        """The inputs of the node that makes a value, if it is of this kind and has these attributes."""
        node = self._made_by.get(name)
        if node is None or node.op_type != kind:
            return None
        found = {one.name: _plain(onnx.helper.get_attribute_value(one)) for one in node.attribute}
        return node.input if all(found.get(name) == value for name, value in attributes.items()) else None

    def _silu(self, x: str, gate: str) -> fx.Node | None:
        inner = self._maker(gate, "Sigmoid")
        return self._call(F.silu, self._values[x]) if inner and inner[0] == x else None

    def _rms_norm(self, scaled: str, weights: str) -> fx.Node | None:
        """x * (1 / sqrt(mean(x ** 2) + epsilon)) * weights, over the last axis."""
        product = self._maker(scaled, "Mul")
        inverse = self._maker(product[1], "Div") if product else None
        root = self._maker(inverse[1], "Sqrt") if inverse else None
        total = self._maker(root[0], "Add") if root else None
        mean = self._maker(total[0], "ReduceMean") if total else None
        square = self._maker(mean[0], "Pow") if mean else None
        if not (product and inverse and total and mean and square) or square[0] != product[0]:
            return None
        arrays: list[Any] = [self._arrays.get(name) for name in (weights, inverse[0], total[1], mean[1], square[1])]
        if any(array is None for array in arrays):
            return None
        scale, one, epsilon, axes, power = arrays
        if scale.ndim != 1 or one.item() != 1 or axes.tolist() != [-1] or power.item() != 2:
            return None
        return self._call(
            F.rms_norm, self._values[product[0]], [len(scale)], self._input(weights, False), float(epsilon)
        )

    def _attention(self, weights: str, value: str) -> fx.Node | None:
        """softmax(query @ transposed key + bias) @ value."""
        softmax = self._maker(weights, "Softmax", axis=-1)
        logits = self._maker(softmax[0], "Add") if softmax else None
        product = self._maker(logits[0], "MatMul") if logits else None
        key = self._maker(product[1], "Transpose", perm=[0, 1, 3, 2]) if product else None
        if not (product and key and logits):
            return None
        query, keys, values, bias = (self._values[name] for name in (product[0], key[0], value, logits[1]))
        return self._call(_attend, query, keys, values, bias)


def _plain(value: Any) -> Any:
    """An attribute of a node: numbers, lists of numbers, texts."""
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


# The operations of ONNX, as its documentation of operators has them. An axes input is a list or None.

_USUAL = {"auto_pad": b"NOTSET", "ceil_mode": 0, "storage_order": 0, "start": 0, "end": None}
"""Attributes that are supported with these values alone."""


def _attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(query, key.to(query.dtype), value.to(query.dtype), bias.to(query.dtype),
                                          scale=1.0)  # fmt: skip


def _same(x: Tensor, *others: Tensor | None) -> list[Tensor | None]:
    """The factors of a product in the shortest type among them, which is that of weights."""
    dtype = min((x.dtype, *(one.dtype for one in others if one is not None)), key=lambda kind: kind.itemsize)
    return [None if one is None else one.to(dtype) for one in (x, *others)]


def _matmul(x: Tensor, y: Tensor) -> Tensor:
    left, right = _same(x, y)
    found: Tensor = torch.matmul(left, right)  # type: ignore[arg-type]
    return found


def _matmul_f32(x: Tensor, y: Tensor) -> Tensor:
    """In full precision, however PyTorch multiplies matrices on this device."""
    return (x.float().unsqueeze(-1) * y.float().unsqueeze(-3)).sum(-2)


def _conv(x: Tensor, weights: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    x, weights, bias = _same(x, weights, bias)  # type: ignore[assignment]
    pads, edges = options.get("pads", [0, 0, 0, 0]), len(weights.shape) - 2
    if pads[:edges] != pads[edges:]:
        x, pads = F.pad(x, [pads[1], pads[3], pads[0], pads[2]]), [0, 0]
    return F.conv2d(
        x, weights, bias, options.get("strides", 1), pads[:edges], options.get("dilations", 1), options.get("group", 1)
    )


def _gemm(x: Tensor, y: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    left, right, summand = _same(x.T if options.get("transA") else x, y.T if options.get("transB") else y, bias)
    product: Tensor = torch.matmul(left, right) * options.get("alpha", 1.0)  # type: ignore[arg-type]
    return product if summand is None else product + summand * float(options.get("beta", 1.0))


def _max_pool(x: Tensor, *, kernel_shape: list[int], **options: Any) -> Tensor:
    found: Tensor = F.max_pool2d(x, kernel_shape, options.get("strides", 1), _symmetric(options))
    return found


def _average_pool(x: Tensor, *, kernel_shape: list[int], **options: Any) -> Tensor:
    counted = bool(options.get("count_include_pad", 0))
    return F.avg_pool2d(x, kernel_shape, options.get("strides", 1), _symmetric(options), count_include_pad=counted)


def _symmetric(options: dict[str, Any]) -> list[int]:
    """The padding of a pooling layer, the same on both sides."""
    pads: list[int] = options.get("pads", [0, 0, 0, 0])
    if pads[:2] != pads[2:]:
        raise NetworkError(f"pooling with pads {pads} is not supported by the device torch")
    return pads[:2]


def _reduce(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A sum or mean in float32, over all axes unless some are given."""

    def reduced(x: Tensor, axes: list[int] | None = None, *, keepdims: int = 1, **options: Any) -> Tensor:
        chosen = axes or options.get("axes") or list(range(x.ndim))
        found: Tensor = function(x.float(), chosen, keepdim=bool(keepdims))
        return found

    return reduced


def _maximum(x: Tensor, axes: list[int] | None = None, *, keepdims: int = 1, **options: Any) -> Tensor:
    return x.amax(axes or options.get("axes") or list(range(x.ndim)), keepdim=bool(keepdims))


def _reshape(x: Tensor, shape: Sizes, allowzero: int = 0) -> Tensor:
    sizes = _listed(shape)
    return x.reshape([x.shape[i] if size == 0 and not allowzero else size for i, size in enumerate(sizes)])


def _listed(shape: Value) -> Sizes:
    return shape if isinstance(shape, list) else [int(size) for size in torch.as_tensor(shape).tolist()]


def _slice(
    x: Value, starts: list[int], ends: list[int], axes: list[int] | None = None, steps: list[int] | None = None
) -> Value:
    if isinstance(x, list):
        return x[starts[0] : ends[0] : (steps or [1])[0]]
    assert isinstance(x, Tensor)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis = axes[i] if axes else i
        x = x[(slice(None),) * (axis % x.ndim) + (slice(start, end, steps[i] if steps else 1),)]
    return x


def _gather(x: Value, index: Any, axis: int = 0) -> Value:
    if isinstance(x, list):
        found: Value = [x[i] for i in index] if isinstance(index, list) else x[index]
        return found
    assert isinstance(x, Tensor)
    if isinstance(index, list):
        return x.index_select(axis, torch.tensor(index, device=x.device))
    column = x.select(axis, index)
    # A number a board: the square of a score of 300 points is more than float16 holds.
    return column.float() if column.ndim == 1 and column.is_floating_point() else column


def _concat(*parts: Value, axis: int) -> Value:
    if all(isinstance(part, list) for part in parts):
        return [size for part in parts for size in part]  # type: ignore[union-attr]
    return torch.cat(list(parts), dim=axis)  # type: ignore[arg-type]


def _unsqueeze(x: Value, axes: list[int] | None = None, **options: Any) -> Value:
    if not isinstance(x, Tensor):
        return [x] if not isinstance(x, list) else x
    axes = axes or options["axes"]
    for axis in sorted(axis % (x.ndim + len(axes)) for axis in axes):
        x = x.unsqueeze(axis)
    return x


def _squeeze(x: Value, axes: list[int] | None = None, **options: Any) -> Value:
    if isinstance(x, list):
        found: Value = x[0]
        return found
    assert isinstance(x, Tensor)
    axes = axes or options.get("axes")
    return x.squeeze(axes) if axes else x.squeeze()


def _cast(x: Value, to: int) -> Value:
    """Numbers stay numbers. Types of the file are those of its export in float32; ours follow the module."""
    if not isinstance(x, Tensor):
        return x
    kind = _TYPES[to]
    return x if kind.is_floating_point and x.is_floating_point() else x.to(kind)


_TYPES: dict[int, torch.dtype] = {
    int(onnx.TensorProto.FLOAT): torch.float32,
    int(onnx.TensorProto.FLOAT16): torch.float32,
    int(onnx.TensorProto.BOOL): torch.bool,
    int(onnx.TensorProto.INT64): torch.int64,
    int(onnx.TensorProto.INT32): torch.int32,
}


def _each(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation of two values, which are tensors or lists of as many numbers."""

    def of(x: Any, y: Any) -> Any:
        if isinstance(x, list) and isinstance(y, list):
            return [function(a, b) for a, b in zip(x, y, strict=True)]
        return function(x, y)

    return of


def _range(start: Any, limit: Any, step: Any, like: Tensor) -> Tensor:
    """In float32, on the device of `like`."""
    count = max(0, math.ceil((limit - start) / step))
    found: Tensor = torch.arange(count, device=like.device, dtype=torch.float32) * float(step) + float(start)
    return found


def _softmax(x: Tensor, axis: int = -1) -> Tensor:
    return torch.softmax(x.float(), axis).to(x.dtype)


def _prelu(x: Tensor, slope: Tensor) -> Tensor:
    return x.clamp(min=0) + slope * x.clamp(max=0)


def _batch_norm(x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, **options: Any) -> Tensor:
    factor = scale.float() / (variance.float() + float(options.get("epsilon", 1e-5))).sqrt()
    shift = bias.float() - mean.float() * factor
    wide = [1, -1] + [1] * (x.ndim - 2)
    return x * factor.reshape(wide).to(x.dtype) + shift.reshape(wide).to(x.dtype)


def _clip(x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    return x.clamp(low, high)  # type: ignore[arg-type, unused-ignore]


def _leaky(x: Tensor, alpha: float = 0.01) -> Tensor:
    return F.leaky_relu(x, alpha)


def _gelu(x: Tensor, approximate: str = "none") -> Tensor:
    return F.gelu(x, approximate=approximate)


def _flatten(x: Tensor, axis: int = 1) -> Tensor:
    return x.reshape(reduce(operator.mul, x.shape[:axis], 1), -1)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "Add": _each(operator.add),
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Conv": _conv,
    "Cos": torch.cos,
    "Div": _each(operator.truediv),
    "Erf": torch.erf,
    "Exp": torch.exp,
    "Expand": lambda x, shape: x.expand(np.broadcast_shapes(x.shape, tuple(_listed(shape)))),
    "Flatten": _flatten,
    "Gather": _gather,
    "Gelu": _gelu,
    "Gemm": _gemm,
    "GlobalAveragePool": lambda x: x.float().mean((2, 3), keepdim=True),
    "GlobalMaxPool": lambda x: x.amax((2, 3), keepdim=True),
    "Identity": lambda x: x,
    "LeakyRelu": _leaky,
    "Log": torch.log,
    "MatMul": _matmul,
    "MaxPool": _max_pool,
    "Mish": F.mish,
    "Mul": _each(operator.mul),
    "Neg": operator.neg,
    "PRelu": _prelu,
    "Pow": lambda x, power: x.float() ** power,
    "Range": _range,
    "ReduceMax": _maximum,
    "ReduceMean": _reduce(torch.mean),
    "ReduceSum": _reduce(torch.sum),
    "Relu": F.relu,
    "Reshape": _reshape,
    "Shape": lambda x: list(x.shape),
    "Sigmoid": torch.sigmoid,
    "Sin": torch.sin,
    "Slice": _slice,
    "Softmax": _softmax,
    "Softplus": F.softplus,
    "Split": lambda x, sizes, axis=0: torch.split(x, sizes, axis),
    "Sqrt": lambda x: x.float().sqrt(),
    "Squeeze": _squeeze,
    "Sub": _each(operator.sub),
    "Tanh": torch.tanh,
    "Transpose": lambda x, perm=None: x.permute(perm or list(range(x.ndim))[::-1]),
    "Unsqueeze": _unsqueeze,
}
