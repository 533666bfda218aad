"""A network file of Tengen as the formats of other programs need it: its weights, and what they can express."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from tengen.errors import NetworkError


def stored_weights(network: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    """The weights of a network by name. Equal ones are stored once; the others are copies within the graph."""
    stored = {item.name: numpy_helper.to_array(item) for item in network.graph.initializer}
    for node in network.graph.node:
        if node.op_type == "Identity" and node.input[0] in stored:
            stored[node.output[0]] = stored[node.input[0]]
    return stored


def require(program: str, wanted: Sequence[tuple[str, object, Sequence[object]]]) -> None:
    """Raise NetworkError unless each setting (its name, what the network has) is one of those that a format expresses.

    The error names the `program` of the format.
    """
    for key, found, possible in wanted:
        if found not in possible:
            words = " or ".join(map(str, possible))
            raise NetworkError(f"{program}'s format cannot express this network: {key} is {found}, not {words}")
