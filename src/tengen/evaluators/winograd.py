"""Convolutions of an OpenVINO model by Winograd's algorithm, for processors that compute in float32.

OpenVINO 2026.4 has no such convolution for AVX2: it computes the plain sum, at nearly the peak of the processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import Op, PartialShape
from openvino._offline_transformations import apply_moc_transformations

from tengen import _native

LEAST_CHANNELS = 32
"""Of fewer outputs the transforms cost more than they save."""


class _Convolution(Op):  # type: ignore[misc]
    """A convolution with bias, and with the residual sum and the ReLU behind it: one call of native code."""

    def __init__(self, inputs: list[Any], kernel: _native.Winograd, relu: bool) -> None:
        super().__init__(self)
        self._kernel, self._relu = kernel, relu
        self.set_arguments(inputs)
        self.constructor_validate_and_infer_types()

    def validate_and_infer_types(self) -> None:
        batch, _, rows, columns = self.get_input_shape(0)
        shape = PartialShape([batch, self._kernel.outputs, rows, columns])
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def clone_with_new_inputs(self, inputs: list[Any]) -> _Convolution:
        return _Convolution(inputs, self._kernel, self._relu)

    def visit_attributes(self, visitor: Any) -> bool:
        # Operations of equal inputs and attributes would be merged.
        visitor.on_attributes({"kernel": id(self._kernel), "relu": self._relu})
        return True

    def has_evaluate(self) -> bool:
        return True

    def evaluate(self, outputs: list[Any], inputs: list[Any]) -> bool:
        residual = inputs[1].data if len(inputs) > 1 else None
        self._kernel.run(inputs[0].data, outputs[0].data, residual, self._relu)
        return True


def use_winograd(model: Any, kernels: dict[str, _native.Winograd]) -> list[Any]:
    """Replace the convolutions 3x3 and 5x5 of a model with static shapes; returns the new operations.

    They must live as long as the model. `kernels` keeps the transformed weights by the name of the convolution, so that
    models of several shapes share them.
    """
    apply_moc_transformations(model, cf=False)  # folds batch norms
    return [_replace(node, kernels) for node in model.get_ordered_ops() if _fits(node)]


def count_fitting(model: Any) -> int:
    """How many convolutions of a model `use_winograd` replaces."""
    return sum(_fits(node) for node in model.get_ops())


def _fits(node: Any) -> bool:
    if node.get_type_name() != "Convolution" or node.input_value(1).get_node().get_type_name() != "Constant":
        return False
    outputs, inputs, rows, columns = node.input_value(1).get_node().get_output_shape(0)
    given = node.get_attributes()
    padded = all(list(given[side]) == [rows // 2, rows // 2] for side in ("pads_begin", "pads_end"))
    plain = list(given["strides"]) == list(given["dilations"]) == [1, 1] and padded
    return plain and rows == columns and rows in (3, 5) and outputs >= LEAST_CHANNELS and inputs >= 8


def _replace(node: Any, kernels: dict[str, _native.Winograd]) -> Any:
    """Put one operation in the place of a convolution, its bias, a residual sum and a ReLU."""
    name, weights = node.get_friendly_name(), node.input_value(1).get_node().get_data()
    bias, inputs, relu, end = np.zeros(len(weights), np.float32), [node.input_value(0)], False, node
    if (sum_ := _reader(end, "Add")) and (constant := _other(sum_, end)).get_node().get_type_name() == "Constant":
        values = constant.get_node().get_data()
        if values.size == len(weights):
            bias, end = values.astype(np.float32).reshape(-1), sum_
    if (sum_ := _reader(end, "Add")) and _other(sum_, end).get_shape() == end.output(0).get_shape():
        inputs.append(_other(sum_, end))
        end = sum_
    if found := _reader(end, "Relu"):
        relu, end = True, found
    if name not in kernels:
        kernels[name] = _native.Winograd(np.ascontiguousarray(weights, np.float32), np.ascontiguousarray(bias))
    made = _Convolution(inputs, kernels[name], relu)
    names = end.output(0).get_names()
    end.output(0).replace(made.output(0))
    made.output(0).set_names(names)
    made.set_friendly_name(f"{name}/winograd")
    return made


def _reader(node: Any, kind: str) -> Any | None:
    """The operation of this kind that alone reads the result of a node; None where there is another or none."""
    readers = list(node.output(0).get_target_inputs())
    found = readers[0].get_node() if len(readers) == 1 else None
    return found if found is not None and found.get_type_name() == kind else None


def _other(sum_: Any, node: Any) -> Any:
    """The summand that is not the result of this node."""
    first, second = sum_.input_value(0), sum_.input_value(1)
    return second if first.get_node().get_friendly_name() == node.get_friendly_name() else first
