"""Attention layers of an OpenVINO model in bf16, on processors that multiply it (AMX, AVX512-BF16).

OpenVINO 2026.4 computes products, softmax and rotary embedding one after the other: its softmax takes most of the time
where the products take little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from openvino import PartialShape, Type
from openvino import opset13 as opset

from tengen import _native
from tengen.evaluators.operation import Operation, Operations, reader

_HEADS_AND_POINTS = [0, 2, 1, 3]
"""The order of dimensions that exchanges heads and points."""


@dataclass(frozen=True)
class _Layer:
    """An attention layer: values of the model, and the node that gives its result.

    flat: queries, keys and values [N, points, heads * channels]. bias: of each key [N, 1, 1, points]. angles: cosine
    and sine [1, 1 or heads, points, query_size] of the rotary embedding of queries, then of keys; empty without one.
    """

    heads: int
    key_heads: int
    query_size: int
    value_size: int
    flat: tuple[Any, ...]
    bias: Any
    angles: tuple[Any, ...]
    result: Any


class _Attention(Operation):
    """Reads queries, keys and values in bf16, bias and angles in f32."""

    native: _native.Attention

    def validate_and_infer_types(self) -> None:
        batch, points, _ = self.get_input_shape(0)
        shape = PartialShape([batch, points, self.native.heads * self.native.value_size])
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def evaluate(self, outputs: list[Any], inputs: list[Any]) -> bool:
        # NumPy does not know bf16: OpenVINO gives it as f16.
        query, key, value, out = (tensor.data.view(np.uint16) for tensor in (*inputs[:3], outputs[0]))
        bias = inputs[3].data.reshape(query.shape[:2])
        self.native.run(query, key, value, bias, out, *(tensor.data[0] for tensor in inputs[4:]))
        return True


def use_attention(model: Any) -> Operations:
    """Replace the attention layers of a model with static shapes; returns the new operations."""
    kept = Operations()
    for layer in _layers(model):
        kernel = _native.Attention(layer.heads, layer.key_heads, layer.query_size, layer.value_size)
        halves = [opset.convert(value, Type.bf16).output(0) for value in layer.flat]
        made = _Attention([*halves, layer.bias, *layer.angles], kept, kernel)
        kept.append(made)
        layer.result.output(0).replace(opset.convert(made.output(0), Type.f32).output(0))
    return kept


def count_attention(model: Any) -> int:
    """How many attention layers of a model with static shapes `use_attention` replaces."""
    return len(_layers(model))


def _layers(model: Any) -> list[_Layer]:
    nodes = [node for node in model.get_ordered_ops() if node.get_type_name() == "Softmax"]
    return [layer for node in nodes if (layer := _layer(node)) is not None]


def _layer(softmax: Any) -> _Layer | None:
    """The layer around a softmax; None for what is not in the form of `formats/katago_graph.py`."""
    products = _products(softmax)
    ungrouped = None if products is None else _ungrouped(products)
    if products is None or ungrouped is None:
        return None
    _, key, value, bias, _ = products
    query, means = ungrouped
    _, key_heads, _, query_size = key.get_shape()
    heads, value_size = query.get_shape()[1], value.get_shape()[3]
    query, *query_angles = _turned(query)
    key, *key_angles = _turned(key)
    flat, result = tuple(_flat(each) for each in (query, key, value)), _joined(means)
    if None in flat or result is None or len(query_angles) != len(key_angles):
        return None
    layer = _Layer(heads, key_heads, query_size, value_size, flat, bias, (*query_angles, *key_angles), result)
    return layer if _fits(layer, query, key, value) else None


def _products(softmax: Any) -> tuple[Any, Any, Any, Any, Any] | None:
    """(Queries, keys, values, bias, the node of the means) of softmax(queries x keys transposed + bias) x values."""
    sum_, means = _maker(softmax.input_value(0), "Add"), reader(softmax, "MatMul")
    product = _maker(sum_.input_value(0), "MatMul") if sum_ is not None else None
    if sum_ is None or means is None or product is None or softmax.get_attributes()["axis"] not in (3, -1):
        return None
    # OpenVINO reads the transposed keys as a product with transpose_b.
    if _transposed(product) != (False, True) or _transposed(means) != (False, False):
        return None
    if not _same(means.input_value(0), softmax.output(0)):  # the weights, not the values, come first
        return None
    query, key = product.input_values()
    value, bias = means.input_value(1), sum_.input_value(1)
    if any(len(each.get_shape()) != 4 for each in (query, key, value)):
        return None
    return query, key, value, bias, means


def _ungrouped(products: tuple[Any, Any, Any, Any, Any]) -> tuple[Any, Any] | None:
    """Queries and means with a head each; in the products query heads that share a key head lie behind each other."""
    query, key, _, _, means = products
    batch, key_heads, points, query_size = key.get_shape()
    if query.get_shape()[2] == points:
        return query, means
    shared, grouped = _maker(query, "Reshape"), list(query.get_shape())
    if shared is None or len(shared.get_input_shape(0)) != 4:
        return None
    query = shared.input_value(0)
    if grouped != [batch, key_heads, query.get_shape()[1] * points // key_heads, query_size]:
        return None
    return query, reader(means, "Reshape")


def _joined(means: Any) -> Any | None:
    """The node that joins the means of the heads to [N, points, heads * channels]."""
    moved = reader(means, "Transpose")
    return None if moved is None or not _is(moved.input_value(1), _HEADS_AND_POINTS) else reader(moved, "Reshape")


def _fits(layer: _Layer, query: Any, key: Any, value: Any) -> bool:
    """Whether all shapes are those that the kernel takes; queries, keys and values with a dimension for the heads."""
    batch, points, _ = layer.flat[1].get_shape()
    expected = [
        (query, [batch, layer.heads, points, layer.query_size]),
        (key, [batch, layer.key_heads, points, layer.query_size]),
        (value, [batch, layer.key_heads, points, layer.value_size]),
        (layer.bias, [batch, 1, 1, points]),
        (layer.result.output(0), [batch, points, layer.heads * layer.value_size]),
    ]
    if any(list(given.get_shape()) != shape for given, shape in expected) or layer.bias.get_element_type() != Type.f32:
        return False
    half = len(layer.angles) // 2
    for angles, own in ((layer.angles[:half], layer.heads), (layer.angles[half:], layer.key_heads)):
        shapes = [[1, heads, points, layer.query_size] for heads in (1, own)]
        if any(list(each.get_shape()) not in shapes for each in angles):
            return False
    return layer.query_size in (32, 64) and layer.value_size % 16 == 0 and layer.heads % layer.key_heads == 0


def _transposed(product: Any) -> tuple[bool, bool]:
    given = product.get_attributes()
    return given["transpose_a"], given["transpose_b"]


def _flat(value: Any) -> Any | None:
    """The value [N, points, heads * channels] that [N, heads, points, channels] comes from."""
    transposed = _maker(value, "Transpose")
    shaped = _maker(transposed.input_value(0), "Reshape") if transposed is not None else None
    if transposed is None or shaped is None or not _is(transposed.input_value(1), _HEADS_AND_POINTS):
        return None
    batch, heads, points, size = value.get_shape()
    found = shaped.input_value(0)
    return found if list(found.get_shape()) == [batch, points, heads * size] else None


def _turned(value: Any) -> tuple[Any, ...]:
    """(x, cosine, sine) of x * cosine + (-second half of x, first half) * sine; (the value,) of others."""
    x, size = value, value.get_shape()[3]
    try:
        plain, swapped = (_made(part, "Multiply") for part in _made(value, "Add"))
        x, cosine = plain
        halves, sine = swapped
        negative, first = _made(halves, "Concat")
        (second,) = _made(negative, "Negative")
        slices = [_made(half, "Slice") for half in (first, second)]
    except ValueError:
        return (value,)
    for (of, begin, end, _, axis), start in zip(slices, (0, size // 2), strict=True):
        if not (_same(of, x) and _is(begin, start) and _is(end, start + size // 2) and _is(axis, 3)):
            return (value,)
    return x, cosine, sine


def _made(value: Any, kind: str) -> list[Any]:
    """What the operation of this kind reads that makes a value. Raises ValueError for another."""
    node = _maker(value, kind)
    if node is None:
        raise ValueError(f"{value.get_node().get_type_name()} instead of {kind}")
    return list(node.input_values())


def _same(a: Any, b: Any) -> bool:
    names = (value.get_node().get_friendly_name() for value in (a, b))
    return len(set(names)) == 1 and a.get_index() == b.get_index()


def _maker(value: Any, kind: str) -> Any | None:
    """The node that a value comes from, None for one of another kind."""
    node = value.get_node()
    return node if node.get_type_name() == kind else None


def _is(value: Any, expected: int | list[int]) -> bool:
    """Whether a value is a constant of these numbers."""
    node = _maker(value, "Constant")
    return node is not None and np.array_equal(node.get_data().ravel(), np.ravel(expected))
