"""From the layers of a KataGo network to an ONNX graph with the inputs and outputs of a network file of Tengen.

The graph takes any batch and board size. Its inputs are planes [B, C, H, W], scalars [B, S] and mask [B, H, W]. All
outputs are for the side to move and complete: multipliers, softplus and the share of games without result are applied.

    policy, policy_optimistic [B, H * W + 1]   logits; the second from format 12, without metadata
    value [B, 3]                               logits of win, no result, loss
    no_result [B]                              probability of no result
    score, score_stdev [B]                     mean and standard deviation of the final score, in points
    lead [B]                                   points that would make the game even; from format 8
    time_left [B]                              "variance time", how long the result stays open; from format 9
    value_error, score_error [B]               expected error of value and score in the short term; from format 9
    ownership [B, H, W]                        -1 to 1

Choices that serve speed: a batch norm behind a convolution is part of its weights. The mask is applied only before
convolutions larger than 1x1, pooling and softmax, as a product or a sum that vanishes where the mask is a constant of
ones. Blocks of transformers work on [B, points, channels] and 1x1 convolutions there are matrix products, so that a
network of these alone is transposed once. Pairs of rotary channels are stored as halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tengen.formats.katago_model import (
    Activation,
    AttentionBlock,
    BatchNorm,
    Block,
    Convolution,
    FeedForwardBlock,
    KataGoModel,
    Linear,
    MetadataEncoder,
    NestedBlock,
    OrdinaryBlock,
    PolicyHead,
    PoolingBlock,
    RmsNorm,
    TipNorm,
    ValueHead,
)

GRAPH_VERSION = 4
"""To be raised with every change of the graph or the card, so that networks are converted again."""
OPSET = 18
FAR = 1e4
"""A logit that far below the others has probability 0, in every precision."""
AREA_INPUT = 86
"""The metadata input that depends on the board."""
SUPERKO_INPUT, TERRITORY_INPUT = 6, 9
"""Scalars of all plane sets of KataGo."""
TensorLayout = Literal["image", "points"]


@dataclass(frozen=True)
class _Tensor:
    """Values of all points: [B, C, H, W] as an `image`, [B, H * W, C] as `points`; `clean` is 0 off the board."""

    name: str
    layout: TensorLayout
    clean: bool = False


def katago_graph(model: KataGoModel, metadata: NDArray[np.float32] | None = None) -> onnx.ModelProto:
    """The network as an ONNX model without properties.

    `metadata` [192] describes the players and the game for networks with a metadata encoder, without the board's area,
    which the graph adds. Raises ValueError where it is missing.
    """
    return _Graph(model, metadata).build()


class _Graph:
    """Collects the nodes of a graph. Methods append nodes and return the name of the result."""

    def __init__(self, model: KataGoModel, metadata: NDArray[np.float32] | None) -> None:
        self._model, self._metadata = model, metadata
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[tuple[Any, ...], str] = {}
        self._initializers: list[onnx.TensorProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._ropes: dict[Any, tuple[str, str]] = {}

    def build(self) -> onnx.ModelProto:
        """The whole model."""
        model = self._model
        inputs = [
            helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", model.planes, "height", "width"]),
            helper.make_tensor_value_info("scalars", TensorProto.FLOAT, ["batch", model.scalars]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", "height", "width"]),
        ]
        self._prepare()
        trunk = self._trunk()
        self._policy_head(model.policy, trunk)
        self._value_head(model.value, trunk)
        graph = helper.make_graph(self._nodes, model.name, inputs, self._outputs, self._initializers)
        result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="tengen")
        result.ir_version = 8
        onnx.checker.check_model(result)
        return result

    # Nodes and constants

    def _add(self, op: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        result = name or f"{op.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [result], result, **attributes))
        return result

    def _constant(self, value: Any, name: str = "", dtype: Any = np.float32) -> str:
        """An initializer; small ones of equal values are one."""
        array = np.asarray(value, dtype, order="C")
        key = (array.shape, array.dtype.str, array.tobytes() if array.size < 1000 else len(self._constants))
        if key not in self._constants:
            # Names of layers are free and may repeat, or be those of inputs and outputs.
            self._constants[key] = f"{name or 'constant'}_{len(self._constants)}"
            self._initializers.append(numpy_helper.from_array(array, self._constants[key]))
        return self._constants[key]

    def _shape(self, *sizes: int) -> str:
        return self._constant(sizes, dtype=np.int64)

    def _output(self, name: str, shape: Sequence[str | int]) -> None:
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def _times(self, x: str, factor: Any) -> str:
        return self._add("Mul", x, self._constant(factor))

    def _plus(self, x: str, summand: Any) -> str:
        return self._add("Add", x, self._constant(summand))

    # What depends on the mask alone

    def _prepare(self) -> None:
        shape = self._add("Shape", "mask")
        self._height = self._add("Gather", shape, self._constant([1], dtype=np.int64))
        self._width = self._add("Gather", shape, self._constant([2], dtype=np.int64))
        self._masks = {
            "image": self._add("Unsqueeze", "mask", self._shape(1)),
            "points": self._add("Reshape", "mask", self._shape(0, -1, 1)),
        }
        self._off = {layout: self._plus(mask, -1) for layout, mask in self._masks.items()}
        """0 on the board, -1 off it."""
        self._area = self._add("ReduceSum", "mask", self._shape(1, 2), keepdims=0)
        area = self._add("Unsqueeze", self._area, self._shape(1))
        self._areas = area
        self._inverse_area = self._add("Div", self._constant([1.0]), area)
        self._edge = self._plus(self._add("Sqrt", area), [-14.0])  # [B, 1]
        """The square root of the area, less 14."""
        self._key_bias = ""
        self._coordinates = ""

    def _bias_of_keys(self) -> str:
        """[B, 1, 1, points]: 0 on the board, far below off it."""
        if not self._key_bias:
            flat = self._add("Reshape", "mask", self._shape(0, 1, 1, -1))
            self._key_bias = self._times(self._plus(flat, -1), FAR)
        return self._key_bias

    def _to(self, x: _Tensor, layout: TensorLayout) -> _Tensor:
        """The values in this layout."""
        if x.layout == layout:
            return x
        if layout == "points":
            flat = self._add("Reshape", x.name, self._shape(0, 0, -1))
            return _Tensor(self._add("Transpose", flat, perm=[0, 2, 1]), layout, x.clean)
        flat = self._add("Transpose", x.name, perm=[0, 2, 1])
        shape = self._add("Concat", self._shape(0), self._shape(0), self._height, self._width, axis=0)
        return _Tensor(self._add("Reshape", flat, shape), layout, x.clean)

    def _cleaned(self, x: _Tensor) -> _Tensor:
        return x if x.clean else _Tensor(self._add("Mul", x.name, self._masks[x.layout]), x.layout, True)

    # Layers

    def _convolve(
        self, x: _Tensor, layer: Convolution, norm: BatchNorm | None = None, outputs: int | None = None
    ) -> _Tensor:
        """The convolution, with the batch norm that follows it, of the first `outputs` channels."""
        weights, bias = layer.weights.astype(np.float64), None
        if norm is not None:
            factor, bias = norm.affine()
            weights = weights * factor
        weights = weights[..., :outputs]
        rows, columns = weights.shape[:2]
        if rows == columns == 1 and x.layout == "points":
            result = self._add("MatMul", x.name, self._constant(weights[0, 0], layer.name))
            return replace(x, name=result if bias is None else self._plus(result, bias), clean=False)
        if rows > 1 or columns > 1:
            x = self._cleaned(self._to(x, "image"))
        inputs = [x.name, self._constant(weights.transpose(3, 2, 0, 1), layer.name)]
        if bias is not None:
            inputs.append(self._constant(bias))
        pads = [rows // 2, columns // 2] * 2
        return _Tensor(self._add("Conv", *inputs, kernel_shape=[rows, columns], pads=pads), x.layout)

    def _linear(self, x: str, layer: Linear, bias: Any = None, factor: Any = 1.0) -> str:
        weights = layer.weights.astype(np.float64) * factor
        result = self._add("MatMul", x, self._constant(weights, layer.name))
        return result if bias is None else self._plus(result, bias)

    def _normalise(self, x: _Tensor, norm: BatchNorm) -> _Tensor:
        """A batch norm that no convolution can take up."""
        factor, bias = norm.affine()
        if x.layout == "image":
            factor, bias = factor[:, None, None], bias[:, None, None]
        return replace(x, name=self._plus(self._times(x.name, factor), bias), clean=False)

    def _activate(self, x: _Tensor, activation: Activation) -> _Tensor:
        return replace(x, name=self._function(x.name, activation))

    def _function(self, x: str, activation: Activation) -> str:
        match activation.kind:
            case "relu":
                return self._add("Relu", x)
            case "mish":
                return self._add("Mish", x)
            case "silu":
                return self._silu(x)
            case "identity":
                return x

    def _silu(self, x: str) -> str:
        return self._add("Mul", x, self._add("Sigmoid", x))

    def _rms(self, x: str, norm: RmsNorm) -> str:
        """The norm of each point of [B, points, C]."""
        square = self._add("Pow", x, self._constant(2.0))
        mean = self._plus(self._add("ReduceMean", square, self._shape(-1), keepdims=1), norm.epsilon)
        scaled = self._add("Mul", x, self._add("Div", self._constant(1.0), self._add("Sqrt", mean)))
        return self._times(scaled, norm.weights)

    def _pool(self, x: _Tensor, activation: Activation | None = None) -> str:
        """The pooled channels [B, 3 C]: means, means times functions of the board's area, and maxima if the activation
        that they have is given."""
        x = self._cleaned(x)
        axes = self._shape(2, 3) if x.layout == "image" else self._shape(1)
        mean = self._add("Mul", self._add("ReduceSum", x.name, axes, keepdims=0), self._inverse_area)
        parts = [mean, self._add("Mul", mean, self._times(self._edge, [0.1]))]
        if activation is not None:
            below = self._add("Add", x.name, self._off[x.layout])
            maximum = self._add("ReduceMax", below, axes, keepdims=0)
            if activation.kind == "identity":  # KataGo's maximum begins at -1, which no other activation is below
                maximum = self._add("Max", maximum, self._constant(-1.0))
            parts.append(maximum)
        else:
            square = self._times(self._add("Mul", self._edge, self._edge), [0.01])
            parts.append(self._add("Mul", mean, self._plus(square, [-0.1])))
        return self._add("Concat", *parts, axis=1)

    def _add_to_points(self, x: _Tensor, bias: str) -> _Tensor:
        """Add [B, C] to all points."""
        axes = self._shape(2, 3) if x.layout == "image" else self._shape(1)
        return replace(x, name=self._add("Add", x.name, self._add("Unsqueeze", bias, axes)), clean=False)

    def _with_pooled_bias(
        self, x: _Tensor, part: PoolingBlock | PolicyHead, convolution: Convolution, norm: BatchNorm
    ) -> tuple[_Tensor, str]:
        """The convolution of this part with a bias from its pooled channels, and these channels [B, 3 C]."""
        pooled = self._convolve(x, part.pooled_convolution, part.pooled_norm)
        pool = self._pool(self._activate(pooled, part.pooled_activation), part.pooled_activation)
        # The batch norm that follows the sum is part of both summands.
        bias = self._linear(pool, part.pooled_to_bias, factor=norm.affine()[0])
        return self._add_to_points(self._convolve(x, convolution, norm), bias), pool

    def _sum(self, x: _Tensor, y: _Tensor) -> _Tensor:
        """The residual sum."""
        y = self._to(y, x.layout)
        return replace(x, name=self._add("Add", x.name, y.name), clean=x.clean and y.clean)

    # Trunk

    def _trunk(self) -> _Tensor:
        trunk = self._model.trunk
        x = self._convolve(_Tensor("planes", "image", True), trunk.convolution)
        bias = self._linear("scalars", trunk.linear)
        if trunk.metadata is not None:
            bias = self._add("Add", bias, self._metadata_bias(trunk.metadata))
        x = self._blocks(self._add_to_points(x, bias), trunk.blocks)
        x = self._tip(x, trunk.norm) if isinstance(trunk.norm, TipNorm) else self._normalise(x, trunk.norm)
        return self._activate(x, trunk.activation)

    def _metadata_bias(self, encoder: MetadataEncoder) -> str:
        """[1 or B, C] from the metadata and the area, input 86 of it: log(area / 361) / 2."""
        if self._metadata is None:
            raise ValueError(f"network {self._model.name} needs metadata about the players")
        inputs = self._metadata.astype(np.float64).copy()
        inputs[AREA_INPUT] = 0
        weights = encoder.linear1.weights.astype(np.float64)
        area = self._times(self._add("Log", self._times(self._areas, [1 / 361])), [0.5])
        hidden = self._plus(
            self._times(area, weights[AREA_INPUT : AREA_INPUT + 1]), inputs @ weights + encoder.bias1.weights
        )
        hidden = self._function(hidden, encoder.activation1)
        hidden = self._function(self._linear(hidden, encoder.linear2, encoder.bias2.weights), encoder.activation2)
        return self._linear(hidden, encoder.linear3)

    def _blocks(self, x: _Tensor, blocks: Sequence[Block]) -> _Tensor:
        for block in blocks:
            match block:
                case OrdinaryBlock():
                    x = self._ordinary(x, block)
                case PoolingBlock():
                    x = self._pooling(x, block)
                case NestedBlock():
                    x = self._nested(x, block)
                case AttentionBlock():
                    x = self._attention(self._to(x, "points"), block)
                case FeedForwardBlock():
                    x = self._feed_forward(self._to(x, "points"), block)
        return x

    def _ordinary(self, x: _Tensor, block: OrdinaryBlock) -> _Tensor:
        inner = self._activate(self._normalise(x, block.norm1), block.activation1)
        inner = self._activate(self._convolve(inner, block.convolution1, block.norm2), block.activation2)
        return self._sum(x, self._convolve(inner, block.convolution2))

    def _pooling(self, x: _Tensor, block: PoolingBlock) -> _Tensor:
        inner = self._activate(self._normalise(x, block.norm1), block.activation1)
        if max(block.convolution1.weights.shape[:2] + block.pooled_convolution.weights.shape[:2]) > 1:
            inner = self._cleaned(self._to(inner, "image"))  # once for both convolutions
        inner, _ = self._with_pooled_bias(inner, block, block.convolution1, block.norm2)
        inner = self._activate(inner, block.activation2)
        return self._sum(x, self._convolve(inner, block.convolution2))

    def _nested(self, x: _Tensor, block: NestedBlock) -> _Tensor:
        if _all_points(block):
            x = self._to(x, "points")
        inner = self._activate(self._normalise(x, block.norm1), block.activation1)
        inner = self._blocks(self._convolve(inner, block.convolution1), block.blocks)
        inner = self._activate(self._normalise(inner, block.norm2), block.activation2)
        return self._sum(x, self._convolve(inner, block.convolution2))

    def _attention(self, x: _Tensor, block: AttentionBlock) -> _Tensor:
        """Query heads that share keys lie behind each other: [B, key heads, group * points, channels]."""
        groups, size = block.heads // block.key_heads, block.query_size
        inner = self._rms(x.name, block.norm)
        # The scale of the logits is part of the weights.
        query = self._heads(inner, block.query, block.heads, size, block.is_rotary, size**-0.5)
        key = self._heads(inner, block.key, block.key_heads, size, block.is_rotary)
        value = self._heads(inner, block.value, block.key_heads, block.value_size)
        if block.is_rotary:
            cosine, sine = self._rope(block)
            key = self._rotate(key, cosine, sine, size)
            if groups > 1 and block.frequencies is not None:  # of the key head that a query head belongs to
                index = self._constant(np.arange(block.heads) // groups, dtype=np.int64)
                cosine, sine = (self._add("Gather", part, index, axis=1) for part in (cosine, sine))
            query = self._rotate(query, cosine, sine, size)
        if groups > 1:
            query = self._add("Reshape", query, self._shape(0, block.key_heads, -1, size))
        logits = self._add("MatMul", query, self._add("Transpose", key, perm=[0, 1, 3, 2]))
        weights = self._add("Softmax", self._add("Add", logits, self._bias_of_keys()), axis=-1)
        found = self._add("MatMul", weights, value)
        if groups > 1:
            points = self._add("Mul", self._height, self._width)
            shape = self._add("Concat", self._shape(0, block.heads), points, self._shape(block.value_size), axis=0)
            found = self._add("Reshape", found, shape)
        found = self._add("Transpose", found, perm=[0, 2, 1, 3])
        found = self._add("Reshape", found, self._shape(0, 0, block.heads * block.value_size))
        return self._sum(x, replace(x, name=self._linear(found, block.output)))

    def _heads(self, x: str, layer: Linear, heads: int, size: int, rotary: bool = False, factor: float = 1.0) -> str:
        """[B, heads, points, size]; for rotary embedding the even channels of a head come before the odd ones."""
        weights = layer.weights.astype(np.float64) * factor
        if rotary:
            weights = weights.reshape(-1, heads, size // 2, 2).swapaxes(2, 3).reshape(weights.shape)
        product = self._add("MatMul", x, self._constant(weights, layer.name))
        return self._add("Transpose", self._add("Reshape", product, self._shape(0, 0, heads, size)), perm=[0, 2, 1, 3])

    def _rotate(self, x: str, cosine: str, sine: str, size: int) -> str:
        """Rotate the pairs (c, c + size / 2) of [B, heads, points, size]."""
        first = self._add("Slice", x, self._shape(0), self._shape(size // 2), self._shape(3))
        second = self._add("Slice", x, self._shape(size // 2), self._shape(size), self._shape(3))
        turned = self._add("Concat", self._add("Neg", second), first, axis=3)
        return self._add("Add", self._add("Mul", x, cosine), self._add("Mul", turned, sine))

    def _rope(self, block: AttentionBlock) -> tuple[str, str]:
        """Cosine and sine [1, key heads or 1, points, size] of the angles of each point."""
        pairs = block.query_size // 2
        if block.frequencies is not None:
            columns, rows = np.moveaxis(block.frequencies.astype(np.float64), 2, 0)  # [key heads, pairs]
        else:
            assert block.theta is not None
            # The first half of the pairs turns by the row, the second by the column.
            half = pairs // 2
            powers = float(block.theta) ** (-2 * np.arange(pairs - half) / (block.query_size / 2))
            rows = np.concatenate([powers[:half], np.zeros(pairs - half)])[None]
            columns = np.concatenate([np.zeros(half), powers])[None]
        frequencies = np.stack([rows, columns])  # [2, heads, pairs]
        key = frequencies.tobytes()
        if key not in self._ropes:
            frequencies = np.concatenate([frequencies, frequencies], axis=2)
            angles = self._add("MatMul", self._places(), self._constant(frequencies.transpose(1, 0, 2)[None]))
            self._ropes[key] = self._add("Cos", angles), self._add("Sin", angles)
        return self._ropes[key]

    def _places(self) -> str:
        """Row and column of each point [1, 1, points, 2]."""
        if not self._coordinates:
            zero, one = self._constant(0.0), self._constant(1.0)
            edges = [self._add("Cast", edge, to=TensorProto.FLOAT) for edge in (self._height, self._width)]
            ranges = [self._add("Range", zero, self._add("Squeeze", edge, self._shape(0)), one) for edge in edges]
            shape = self._add("Concat", self._height, self._width, axis=0)
            rows = self._add("Expand", self._add("Unsqueeze", ranges[0], self._shape(1)), shape)
            columns = self._add("Expand", self._add("Unsqueeze", ranges[1], self._shape(0)), shape)
            parts = [self._add("Reshape", part, self._shape(1, 1, -1, 1)) for part in (rows, columns)]
            self._coordinates = self._add("Concat", *parts, axis=3)
        return self._coordinates

    def _feed_forward(self, x: _Tensor, block: FeedForwardBlock) -> _Tensor:
        inner = self._rms(x.name, block.norm)
        first = self._silu(self._linear(inner, block.linear1))
        if block.gate is not None:
            first = self._add("Mul", first, self._linear(inner, block.gate))
        return self._sum(x, replace(x, name=self._linear(first, block.linear2)))

    def _tip(self, x: _Tensor, norm: TipNorm) -> _Tensor:
        """The last norm of a trunk of transformers."""
        x = self._to(x, "points")
        if not norm.spatial:
            scaled = self._rms(x.name, RmsNorm(norm.name, norm.epsilon, norm.scale))
            return replace(x, name=self._plus(scaled, norm.bias), clean=False)
        clean = self._cleaned(x)
        square = self._add("Pow", clean.name, self._constant(2.0))
        total = self._add("ReduceSum", square, self._shape(1, 2), keepdims=0)
        mean = self._times(self._add("Mul", self._add("Unsqueeze", total, self._shape(1)), self._inverse_area),
                           [1 / len(norm.scale)])  # fmt: skip
        inverse = self._add("Div", self._constant(1.0), self._add("Sqrt", self._plus(mean, norm.epsilon)))
        scaled = self._add("Mul", x.name, self._add("Unsqueeze", inverse, self._shape(2)))
        return replace(x, name=self._plus(self._times(scaled, norm.scale), norm.bias), clean=False)

    # Heads

    def _policy_head(self, head: PolicyHead, trunk: _Tensor) -> None:
        # A network that imitates people is asked for its normal policy alone, as KataGo does.
        outputs = min(head.outputs, 1 if self._model.trunk.metadata else 2)
        inner, pool = self._with_pooled_bias(trunk, head, head.convolution, head.norm)
        inner = self._activate(inner, head.activation)
        points = self._convolve(inner, head.last_convolution, outputs=outputs)
        if points.layout == "image":
            flat = self._add("Reshape", points.name, self._shape(0, 0, -1))
        else:
            flat = self._add("Transpose", points.name, perm=[0, 2, 1])
        if head.pass_linear2 is None or head.pass_bias is None or head.pass_activation is None:
            passing = self._linear(pool, Linear(head.pass_linear.name, head.pass_linear.weights[:, :outputs]))
        else:
            passing = self._function(self._linear(pool, head.pass_linear, head.pass_bias.weights), head.pass_activation)
            last = head.pass_linear2
            passing = self._linear(passing, Linear(last.name, last.weights[:, :outputs]))
        logits = self._add("Concat", flat, self._add("Unsqueeze", passing, self._shape(2)), axis=2)
        for number, name in enumerate(("policy", "policy_optimistic")[:outputs]):
            self._add("Gather", logits, self._constant(number, dtype=np.int64), axis=1, name=name)
            self._output(name, ["batch", "moves"])

    def _value_head(self, head: ValueHead, trunk: _Tensor) -> None:
        version, multipliers = self._model.version, self._model.multipliers
        inner = self._activate(self._convolve(trunk, head.convolution, head.norm), head.activation)
        if max(head.ownership.weights.shape[:2]) > 1:
            inner = self._cleaned(inner)
        hidden = self._function(self._linear(self._pool(inner), head.linear1, head.bias1.weights), head.activation1)
        order = [0, 2, 1]  # win, loss, no result -> win, no result, loss
        value = self._linear(
            hidden, Linear(head.value.name, head.value.weights[:, order]), head.value_bias.weights[order]
        )
        numbers = self._linear(hidden, head.numbers, head.numbers_bias.weights)
        if version >= 4:
            value = self._without_no_result(value)
        self._add("Identity", value, name="value")
        self._output("value", ["batch", 3])
        no_result = self._column(self._add("Softmax", value, axis=1), 1)
        self._result("no_result", no_result)
        columns = [self._column(numbers, number) for number in range(head.numbers.weights.shape[1])]
        if version == 3:
            # The network predicts a score in units of twice the edge of the board.
            edge = self._add("Sqrt", self._area)
            self._result("score", self._add("Mul", columns[0], self._times(edge, 2.0)))
        else:
            there = self._add("Sub", self._constant(1.0), no_result)
            mean = self._times(columns[0], multipliers.score_mean)
            deviation = self._times(self._add("Softplus", columns[1]), multipliers.score_stdev)
            self._result("score", self._add("Mul", mean, there))
            # Games without result count as score 0, so that they spread the distribution too.
            squares = [self._add("Mul", part, part) for part in (mean, deviation)]
            spread = self._add("Add", squares[1], self._add("Mul", squares[0], no_result))
            self._result("score_stdev", self._add("Sqrt", self._add("Mul", spread, there)))
            if version >= 8:
                self._result("lead", self._add("Mul", self._times(columns[2], multipliers.lead), there))
            if version >= 9:
                time = self._times(self._add("Softplus", columns[3]), multipliers.variance_time)
                self._result("time_left", time)
                self._result("value_error", self._error(columns[4], multipliers.value_error, 1.0))
                self._result("score_error", self._error(columns[5], multipliers.score_error, 10.0))
        owners = self._convolve(inner, head.ownership)
        owners = self._to(owners, "image")
        self._add("Tanh", self._add("Squeeze", owners.name, self._shape(1)), name="ownership")
        self._output("ownership", ["batch", "height", "width"])

    def _without_no_result(self, value: str) -> str:
        """The logits, with no result impossible under area scoring with superko, as the scalars tell."""
        superko, territory = (
            self._add("Slice", "scalars", self._shape(at), self._shape(at + 1), self._shape(1))
            for at in (SUPERKO_INPUT, TERRITORY_INPUT)
        )
        both = self._add("Mul", superko, self._add("Sub", self._constant([1.0]), territory))
        return self._add("Add", value, self._times(both, [[0.0, -FAR, 0.0]]))

    def _error(self, x: str, multiplier: float, factor: float) -> str:
        """An expected error; formats differ in the function. `factor` is that of format 9."""
        version = self._model.version
        if version >= 14:
            return self._times(self._add("Softplus", self._times(x, 0.5)), multiplier**0.5)
        if version >= 10:
            return self._add("Sqrt", self._times(self._add("Softplus", x), multiplier))
        return self._times(self._add("Softplus", x), factor)

    def _column(self, x: str, number: int) -> str:
        return self._add("Gather", x, self._constant(number, dtype=np.int64), axis=1)

    def _result(self, name: str, value: str) -> None:
        self._add("Identity", value, name=name)
        self._output(name, ["batch"])


def _all_points(block: NestedBlock) -> bool:
    """Whether a bottleneck works on single points: 1x1 convolutions around transformers."""
    kernels = [*block.convolution1.weights.shape[:2], *block.convolution2.weights.shape[:2]]
    return max(kernels) == 1 and all(isinstance(inner, AttentionBlock | FeedForwardBlock) for inner in block.blocks)
