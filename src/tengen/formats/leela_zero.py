"""Leela Zero's text weights: their reader, the ONNX graph of such a network, and the writer.

The file is lines of decimal numbers, plain or compressed with gzip. The first line is the version: 1, or 2 for networks
such as ELF OpenGo's whose value is Black's. Every convolution has four lines (weights, biases, means and variances of
its batch norm), every dense layer two. The first row of Leela Zero's board is the lowest, ours the highest, so that all
weights are turned over.

Weights have the names that the family `a0` gives them, so that a network of version 1 can be trained further.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tengen.errors import NetworkError, os_reason
from tengen.formats import open_network
from tengen.formats.network_weights import require, stored_weights

Floats: TypeAlias = NDArray[np.float32]

SIZE, HISTORY, HIDDEN = 19, 8, 256
POLICY_CHANNELS = 2
POINTS = SIZE * SIZE
PLANES = 2 * HISTORY + 2
EPSILON = 1e-5
"""Epsilon of batch norm."""
PLANE_SETS = {
    "leela18": range(PLANES),
    "elf18": [*range(0, 2 * HISTORY, 2), *range(1, 2 * HISTORY, 2), 16, 17],
    "agz17": [*range(0, 2 * HISTORY, 2), *range(1, 2 * HISTORY, 2), 16],
}
"""The plane sets with Leela Zero's information; for each the places of Leela Zero's planes."""

_MAX_LINE, _MAX_BLOCKS = 1 << 25, 256
_MAX_WEIGHTS = 200_000_000
"""Four times those of 40 blocks of 256 filters."""
_HEAD_LINES, _BLOCK_LINES = 18, 8  # 4 at the start of the tower and 14 for the heads
_OPSET = 17


@dataclass(frozen=True, eq=False)
class LeelaZeroModel:
    """A network of Leela Zero for 19x19: weights by the names of the family `a0`, rows from the top.

    Convolutions have `.0.weight`, `.0.bias` and, of their batch norm, `.1.running_mean` and `.1.running_var`.
    """

    version: int
    blocks: int
    filters: int
    weights: Mapping[str, Floats]

    def config(self) -> dict[str, Any]:
        """The network as a configuration of the family `a0`, which has no networks of version 2."""
        return {
            "family": "a0" if self.version == 1 else "leela-zero",
            **({} if self.version == 1 else {"version": self.version}),
            "board_size": SIZE,
            "blocks": self.blocks,
            "filters": self.filters,
            "policy": {"kind": "dense", "channels": POLICY_CHANNELS, "pass_move": True},
            "value": {"kind": "dense", "channels": 1, "hidden": HIDDEN},
        }


def read_leela_zero(path: str | Path) -> LeelaZeroModel:
    """Read the text weights of Leela Zero.

    Networks with 17 planes, without White's turn, get one of zeros. Raises NetworkError for a file that cannot be read,
    is cut short or damaged, and for another version; the message names the line.
    """
    path = Path(path)
    try:
        with open_network(path) as file:
            return _read(_lines(file), path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise NetworkError(f"{path} is damaged or cut short: {error}") from None
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {os_reason(error)}") from error


def write_leela_zero(model: LeelaZeroModel, file: IO[bytes]) -> None:
    """Write the network as text."""
    file.write(f"{model.version}\n".encode())
    for name in _order(model.blocks):
        file.write((" ".join(f"{x:.9g}" for x in _turned(name, model.weights[name]).ravel().tolist()) + "\n").encode())


def leela_zero_of(network: onnx.ModelProto, config: Mapping[str, Any], plane_set: str) -> LeelaZeroModel:
    """The network of a file of Tengen, from the `config` and `plane_set` of its card.

    Its heads for score and ownership are left out. Raises NetworkError for a network that the format cannot express.
    """
    _check(config, plane_set)
    stored = stored_weights(network)
    blocks, epsilon = int(config.get("blocks", 20)), float(config.get("norm_epsilon", EPSILON))
    weights: dict[str, Floats] = {}
    try:
        for layer in _convolutions(blocks):
            weights.update(_folded(stored, layer, epsilon))
        for name in _DENSE:
            weights[name] = stored[name]
    except KeyError as error:
        raise NetworkError(f"the network file does not hold {error.args[0]}") from None
    stem = weights["stem.0.weight"][:, list(PLANE_SETS[plane_set])]
    weights["stem.0.weight"] = np.pad(stem, ((0, 0), (0, PLANES - stem.shape[1]), (0, 0), (0, 0)))
    if config["value"].get("output", "scalar") == "win-loss":  # one logit: tanh(x / 2) = 2 sigmoid(x) - 1
        weights["value.output.weight"], weights["value.output.bias"] = (
            weights[f"value.output.{part}"] * np.float32(0.5) for part in ("weight", "bias")
        )
    version = int(config.get("version", 1))
    return LeelaZeroModel(version, blocks, len(weights["stem.0.weight"]), weights)


def leela_zero_graph(model: LeelaZeroModel) -> onnx.ModelProto:
    """The network as an ONNX model with the inputs and outputs of a network file, without properties."""
    nodes: list[onnx.NodeProto] = []
    constants: dict[str, NDArray[Any]] = dict(model.weights)

    def add(op: str, *inputs: str, **attributes: Any) -> str:
        result = str(attributes.pop("result", f"{op.lower()}_{len(nodes)}"))
        nodes.append(helper.make_node(op, inputs, [result], result, **attributes))
        return result

    def convolve(x: str, layer: str) -> str:
        weights = model.weights[f"{layer}.0.weight"]
        ones, edge = len(weights), weights.shape[2]
        constants[f"{layer}.1.weight"] = np.ones(ones, np.float32)
        constants[f"{layer}.1.bias"] = np.zeros(ones, np.float32)
        x = add("Conv", x, f"{layer}.0.weight", f"{layer}.0.bias", kernel_shape=[edge] * 2, pads=[edge // 2] * 4)
        norm = (f"{layer}.1.{part}" for part in ("weight", "bias", "running_mean", "running_var"))
        return add("BatchNormalization", x, *norm, epsilon=EPSILON)

    def dense(x: str, layer: str, **result: str) -> str:
        return add("Gemm", x, f"{layer}.weight", f"{layer}.bias", transB=1, **result)

    x = add("Relu", convolve("planes", "stem"))
    for block in range(model.blocks):
        inner = add("Relu", convolve(x, f"blocks.{block}.first"))
        x = add("Relu", add("Add", x, convolve(inner, f"blocks.{block}.second")))
    dense(add("Flatten", add("Relu", convolve(x, "policy.flat.conv"))), "policy.logits", result="policy")
    hidden = add("Relu", dense(add("Flatten", add("Relu", convolve(x, "value.flat.conv"))), "value.hidden"))
    constants["last_axis"] = np.array([1], np.int64)
    last = add("Squeeze", dense(hidden, "value.output"), "last_axis")
    if model.version == 1:
        add("Tanh", last, result="value")
    else:  # Black's; the plane of his turn makes it that of the side to move
        constants["two"], constants["one"] = np.array([2], np.float32), np.array([1], np.float32)
        constants["plane"] = np.array([2 * HISTORY], np.int64)
        turn = add("ReduceMax", add("Gather", "planes", "plane", axis=1), axes=[1, 2, 3], keepdims=0)
        add("Mul", add("Tanh", last), add("Sub", add("Mul", turn, "two"), "one"), result="value")
    shapes: dict[str, Sequence[str | int]] = {
        "planes": ["batch", PLANES, SIZE, SIZE],
        "scalars": ["batch", 1],
        "mask": ["batch", SIZE, SIZE],
        "policy": ["batch", POINTS + 1],
        "value": ["batch"],
    }
    ports = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    used = {name for node in nodes for name in node.input}
    initializers = [numpy_helper.from_array(np.asarray(a), name) for name, a in constants.items() if name in used]
    inputs, outputs = list(ports.values())[:3], list(ports.values())[3:]
    graph = helper.make_graph(nodes, "leela-zero", inputs, outputs, initializers)
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="tengen")
    result.ir_version = 8
    onnx.checker.check_model(result)
    return result


_DENSE = tuple(
    f"{layer}.{part}" for layer in ("policy.logits", "value.hidden", "value.output") for part in ("weight", "bias")
)
_PARTS = ("0.weight", "0.bias", "1.running_mean", "1.running_var")


def _convolutions(blocks: int) -> Iterator[str]:
    yield "stem"
    for block in range(blocks):
        yield from (f"blocks.{block}.first", f"blocks.{block}.second")
    yield from ("policy.flat.conv", "value.flat.conv")


def _order(blocks: int) -> Iterator[str]:
    """The names of the weights in the order of the file."""
    for layer in _convolutions(blocks):
        yield from (f"{layer}.{part}" for part in _PARTS)
        if layer.endswith("flat.conv"):
            yield from (name for name in _DENSE if name.startswith(layer.split(".")[0]))


def _turned(name: str, weights: Floats) -> Floats:
    """The weights with the rows of the board turned over, which is its own inverse."""
    board = (SIZE, SIZE)
    if name.endswith(".0.weight"):
        return weights[:, :, ::-1]
    if name == "policy.logits.weight":
        inputs = weights.reshape(POINTS + 1, POLICY_CHANNELS, *board)[:, :, ::-1].reshape(POINTS + 1, -1)
        return np.concatenate([inputs[:POINTS].reshape(*board, -1)[::-1].reshape(POINTS, -1), inputs[POINTS:]])
    if name == "policy.logits.bias":
        return np.concatenate([weights[:POINTS].reshape(board)[::-1].ravel(), weights[POINTS:]])
    if name == "value.hidden.weight":
        return weights.reshape(HIDDEN, *board)[:, ::-1].reshape(HIDDEN, POINTS)
    return weights


def _lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while line := file.readline(_MAX_LINE):
        if line.strip():
            yield line


def _read(lines: Iterator[bytes], path: Path) -> LeelaZeroModel:
    first = next(lines, b"").strip()
    if first not in (b"1", b"2"):
        raise NetworkError(f"{path} has no weights of Leela Zero: its first line is {first[:20]!r}, not 1 or 2")
    rows: list[Floats] = []
    weights_read = 0
    for number, line in enumerate(lines, 2):
        try:
            row = np.array(line.split(), np.float32)
        except ValueError:
            raise NetworkError(f"{path}, line {number}: expected decimal numbers, found {line[:40]!r}") from None
        if not np.isfinite(row).all():
            raise NetworkError(f"{path}, line {number}: a weight is infinite or no number")
        rows.append(row)
        weights_read += row.size
        if len(rows) > _HEAD_LINES + _BLOCK_LINES * _MAX_BLOCKS or weights_read > _MAX_WEIGHTS:
            raise NetworkError(
                f"{path}, line {number}: more than {_MAX_BLOCKS} blocks or {_MAX_WEIGHTS:,} weights, which no network "
                "of Leela Zero has"
            )
    blocks, rest = divmod(len(rows) - _HEAD_LINES, _BLOCK_LINES)
    if rest or blocks < 0:
        raise NetworkError(f"{path} has {len(rows) + 1} lines, expected 19 and 8 for each block; it may be cut short")
    filters, planes = len(rows[1]), len(rows[0]) // (9 * max(len(rows[1]), 1))
    if planes not in (PLANES - 1, PLANES):
        raise NetworkError(f"{path}, line 2: weights for {planes} planes; Leela Zero has 17 or 18")
    weights: dict[str, Floats] = {}
    for number, (name, row) in enumerate(zip(_order(blocks), rows, strict=True), 2):
        shape = _shape(name, filters, planes)
        if row.size != np.prod(shape):
            raise NetworkError(f"{path}, line {number}: {row.size} numbers for {name}, expected {int(np.prod(shape))}")
        if name.endswith("running_var") and not (row >= 0).all():
            raise NetworkError(f"{path}, line {number}: a variance of {name} is {row.min():g}, below 0")
        weights[name] = np.ascontiguousarray(_turned(name, row.reshape(shape)))
    if planes < PLANES:
        weights["stem.0.weight"] = np.pad(weights["stem.0.weight"], ((0, 0), (0, 1), (0, 0), (0, 0)))
    return LeelaZeroModel(int(first), blocks, filters, weights)


def _shape(name: str, filters: int, planes: int) -> tuple[int, ...]:
    dense = {
        "policy.logits.weight": (POINTS + 1, POLICY_CHANNELS * POINTS),
        "policy.logits.bias": (POINTS + 1,),
        "value.hidden.weight": (HIDDEN, POINTS),
        "value.hidden.bias": (HIDDEN,),
        "value.output.weight": (1, HIDDEN),
        "value.output.bias": (1,),
    }
    if name in dense:
        return dense[name]
    outputs = {"policy": POLICY_CHANNELS, "value": 1}.get(name.split(".")[0], filters)
    if not name.endswith(".0.weight"):
        return (outputs,)
    edge = 1 if name.startswith(("policy", "value")) else 3
    return (outputs, planes if name.startswith("stem") else filters, edge, edge)


def _folded(stored: Mapping[str, Any], layer: str, epsilon: float) -> dict[str, Floats]:
    """The convolution with its batch norm, whose scale goes into the filters: Leela Zero's has none."""
    weights, bias = (stored[f"{layer}.0.{part}"].astype(np.float64) for part in ("weight", "bias"))
    scale, shift, mean, variance = (
        stored[f"{layer}.1.{part}"].astype(np.float64) for part in ("weight", "bias", "running_mean", "running_var")
    )
    if epsilon == EPSILON and (scale == 1).all() and (shift == 0).all():
        parts = (weights, bias, mean, variance)
    else:
        factor = scale / np.sqrt(variance + epsilon)
        parts = (
            weights * factor[:, None, None, None],
            (bias - mean) * factor + shift,
            np.zeros_like(mean),
            np.full_like(mean, 1 - EPSILON),
        )
    return {f"{layer}.{part}": values.astype(np.float32) for part, values in zip(_PARTS, parts, strict=True)}


def _check(config: Mapping[str, Any], plane_set: str) -> None:
    """Raise NetworkError unless Leela Zero's format can express the network."""
    # Other families have texts or nothing there.
    policy, value = (head if isinstance(head := config.get(name), Mapping) else {} for name in ("policy", "value"))
    wanted: list[tuple[str, object, Sequence[object]]] = [
        ("family", config.get("family"), ("a0", "leela-zero")),
        ("plane_set", plane_set, tuple(PLANE_SETS)),
        ("board_size", config.get("board_size"), (SIZE,)),
        ("stem", config.get("stem", 3), (3,)),
        ("activation", config.get("activation", "relu"), ("relu",)),
        ("batch_norm", config.get("batch_norm", "each"), ("each",)),
        ("policy.kind", policy.get("kind"), ("dense",)),
        ("policy.channels", policy.get("channels", 2), (POLICY_CHANNELS,)),
        ("policy.hidden", policy.get("hidden", 0), (0,)),
        ("policy.relu", policy.get("relu", False), (False,)),
        ("policy.pass_move", policy.get("pass_move", False), (True,)),
        ("value.kind", value.get("kind"), ("dense",)),
        ("value.channels", value.get("channels", 1), (1,)),
        ("value.hidden", value.get("hidden", HIDDEN), (HIDDEN,)),
        ("value.output", value.get("output", "scalar"), ("scalar", "win-loss")),
    ]
    require("Leela Zero", wanted)
