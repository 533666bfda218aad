"""Convolutions of an OpenVINO model by Winograd's algorithm, in f32, and in bf16 on processors without AMX.

OpenVINO 2026.4 has no such convolution: it computes the plain sum, at nearly the peak of the processor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from openvino import PartialShape
from openvino._offline_transformations import apply_moc_transformations

from tengen import _native
from tengen.evaluators.layout import FloatPrecision
from tengen.evaluators.operation import Operation, Operations, reader

MIN_CHANNELS = 16
"""Of fewer outputs the transforms cost more than they save."""
_Read = Literal["input", "residual", "input_bias", "input_mask"]


@dataclass(frozen=True)
class _Step:
    """A convolution; its operation reads `reads`, in this order."""

    kernel: _native.Winograd
    relu: bool
    input_relu: bool
    reads: tuple[_Read, ...]

    def native(self, values: Sequence[int]) -> _native.ConvolutionStep:
        """The same with the numbers of the values that it reads."""
        numbers: dict[str, int] = dict(zip(self.reads, values, strict=True))
        return _native.ConvolutionStep(self.kernel, relu=self.relu, input_relu=self.input_relu, **numbers)


class _Convolutions(Operation):
    """Convolutions with bias, with the residual sum and the ReLU behind each and the sum, ReLU and mask before it."""

    def __init__(
        self, inputs: list[Any], kept: Operations, chain: _native.ConvolutionChain, channels: list[int]
    ) -> None:
        self._channels = channels  # of the results
        super().__init__(inputs, kept, chain, channels)

    def validate_and_infer_types(self) -> None:
        batch, _, rows, columns = self.get_input_shape(0)
        self.set_output_size(len(self._channels))
        for i, channels in enumerate(self._channels):
            self.set_output_type(i, self.get_input_element_type(0), PartialShape([batch, channels, rows, columns]))

    def evaluate(self, outputs: list[Any], inputs: list[Any]) -> bool:
        self.native.run([tensor.data for tensor in inputs], [tensor.data for tensor in outputs])
        return True


def use_winograd(model: Any, kernels: dict[str, _native.Winograd], precision: FloatPrecision) -> Operations:
    """Replace the convolutions 3x3 and 5x5 of a model with static shapes; returns the new operations.

    They multiply in `precision`. `kernels` keeps the transformed weights by the name of the convolution, so that models
    of several shapes share them. Convolutions that follow each other become one operation: each call of Python costs 40
    microseconds, a tenth of the time of 8 blocks of 64 channels.
    """
    apply_moc_transformations(model, cf=False)  # folds batch norms
    steps: dict[str, _Step] = {}
    alone: dict[str, Any] = {}
    kept = Operations()
    for node in model.get_ordered_ops():
        if _fits(node):
            made, step = _replace(node, kernels, precision)
            steps[made.get_friendly_name()], alone[made.get_friendly_name()] = step, made
    for names in _chains(model, steps):
        kept.append(_join([alone[name] for name in names], [steps[name] for name in names], kept))
    return kept


def _chains(model: Any, steps: Mapping[str, _Step]) -> list[list[str]]:
    """The names of the operations that can become one: none needs the result of another node that needs the chain."""
    members: list[list[str]] = []
    chain_of: dict[str, int] = {}
    needs: list[set[int]] = []  # of each chain: other chains
    needed: dict[str, set[int]] = {}  # of each node: the chains that its inputs come from

    def all_needed(chains: set[int]) -> set[int]:
        found, new = set(chains), set(chains)
        while new:
            new = set().union(*(needs[chain] for chain in new)) - found
            found |= new
        return found

    for node in model.get_ordered_ops():
        name = node.get_friendly_name()
        sources = [value.get_node().get_friendly_name() for value in node.input_values()]
        needed[name] = set().union(*(needed[source] for source in sources))
        if name not in steps:
            continue
        chain = chain_of.get(sources[0])
        others = set().union(*(needed[source] for source in sources if chain_of.get(source) != chain))
        if chain is None or chain in all_needed(others):
            chain = len(members)
            members.append([])
            needs.append(set())
            others = needed[name]
        members[chain].append(name)
        needs[chain] |= others
        chain_of[name], needed[name] = chain, {chain}
    return members


def _join(made: Sequence[Any], steps: Sequence[_Step], kept: Operations) -> Any:
    """Put one operation in the place of those of a chain."""
    names = [node.get_friendly_name() for node in made]

    def place(value: Any) -> tuple[str, int]:
        return value.get_node().get_friendly_name(), value.get_index()

    values = [value for node in made for value in node.input_values() if place(value)[0] not in names]
    given = {place(value): value for value in values}
    numbers = {key: number for number, key in enumerate([*given, *((name, 0) for name in names)])}
    left = [
        i for i, node in enumerate(made)
        if any(end.get_node().get_friendly_name() not in names for end in node.output(0).get_target_inputs())
    ]  # fmt: skip
    native = [
        step.native([numbers[place(value)] for value in node.input_values()])
        for node, step in zip(made, steps, strict=True)
    ]
    chain = _native.ConvolutionChain(len(given), native, [len(given) + i for i in left])
    joined = _Convolutions(list(given.values()), kept, chain, [steps[i].kernel.outputs for i in left])
    for port, i in enumerate(left):
        tensor_names = made[i].output(0).get_names()
        made[i].output(0).replace(joined.output(port))
        joined.output(port).set_names(tensor_names)
    joined.set_friendly_name(names[-1])
    return joined


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
    return plain and rows == columns and rows in (3, 5) and outputs >= MIN_CHANNELS and inputs >= 8


def _replace(node: Any, kernels: dict[str, _native.Winograd], precision: FloatPrecision) -> tuple[Any, _Step]:
    """Put one operation in the place of a convolution and of what is computed before and behind it in each point."""
    name, weights = node.get_friendly_name(), node.input_value(1).get_node().get_data()
    given, input_relu, before = _input(node)
    inputs, reads = [given, *before.values()], ["input", *before]
    bias, relu, end = np.zeros(len(weights), np.float32), False, node
    if (sum_ := reader(end, "Add")) and (constant := _other(sum_, end)).get_node().get_type_name() == "Constant":
        values = constant.get_node().get_data()
        if list(values.shape) == [1, len(weights), 1, 1]:
            bias, end = values.astype(np.float32).reshape(-1), sum_
    if (sum_ := reader(end, "Add")) and _other(sum_, end).get_shape() == end.output(0).get_shape():
        inputs.append(_other(sum_, end))
        reads.append("residual")
        end = sum_
    if found := reader(end, "Relu"):
        relu, end = True, found
    if name not in kernels:
        kernels[name] = _native.Winograd(
            np.ascontiguousarray(weights, np.float32), np.ascontiguousarray(bias), precision
        )
    step = _Step(kernels[name], relu, input_relu, tuple(reads))
    chain = _native.ConvolutionChain(len(inputs), [step.native(range(len(inputs)))], [len(inputs)])
    made = _Convolutions(inputs, Operations(), chain, [len(weights)])  # joined before anything copies it
    names = end.output(0).get_names()
    end.output(0).replace(made.output(0))
    made.output(0).set_names(names)
    made.set_friendly_name(f"{name}/winograd")
    return made, step


def _input(node: Any) -> tuple[Any, bool, dict[_Read, Any]]:
    """What a convolution reads before a sum with a number a channel, a ReLU and a mask: (the value, whether there is a
    ReLU, the bias and the mask where they are)."""
    value, relu, found = node.input_value(0), False, dict[_Read, Any]()
    batch, channels, rows, columns = value.get_shape()
    if mask := _operands(value, "Multiply", ([batch, 1, rows, columns],)):
        value, found["input_mask"] = mask
    if value.get_node().get_type_name() == "Relu":
        value, relu = value.get_node().input_value(0), True
    if bias := _operands(value, "Add", ([1, channels, 1, 1], [batch, channels, 1, 1])):
        value, found["input_bias"] = bias
    return value, relu, found


def _operands(value: Any, kind: str, shapes: tuple[list[int], ...]) -> tuple[Any, Any] | None:
    """(the other operand, the one of one of these shapes) of the sum or product that makes a value; None for others."""
    node = value.get_node()
    if node.get_type_name() != kind:
        return None
    for small, other in ((1, 0), (0, 1)):
        whole = node.input_value(other)
        if list(node.input_value(small).get_shape()) in shapes and whole.get_shape() == value.get_shape():
            return whole, node.input_value(small)
    return None


def _other(sum_: Any, node: Any) -> Any:
    """The summand that is not the result of this node."""
    first, second = sum_.input_value(0), sum_.input_value(1)
    return second if first.get_node().get_friendly_name() == node.get_friendly_name() else first
