"""One network file from two: the policy of one network and the value of another, as AlphaGo plays with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import onnx
from onnx import compose, helper, version_converter

import tengen
from tengen.disk import write_whole
from tengen.errors import NetworkError
from tengen.evaluators.export import refuse_inputs
from tengen.evaluators.file_evaluator import INPUTS, OUTPUTS
from tengen.evaluators.network_file import Card, load_onnx, read_card

_BEGINNINGS = {
    "alphago49": "alphago48",
    "darkforest21": "darkforest12",
    "deepgo8": "betago7",
    "elf18": "agz17",
    "golois31": "golois21",
}
"""Plane sets that are another one and further planes. Planes of one name need not be the same: the ages of
`bakago39-bug`, the areas of `katago-v4` and the ko of `darkforest12` differ from those of `bakago39`, `katago-v3` and
`betago7`."""

_PLAYOUTS = "playout_weight"


def join(policy: Path, value: Path, target: Path) -> Card:
    """Write a network file with the policy of one network and all other outputs of a second one; returns its card.

    Both read one plane set, or one of them a longer one that begins with that of the other, which the joined network
    reads (`alphago49`, that of AlphaGo's value network, is `alphago48` and one plane more). Raises NetworkError where
    the plane sets or board sizes do not fit, the second network has no value, or the target is one of the two.
    """
    refuse_inputs(target, policy, value)
    cards = [read_card(policy), read_card(value)]
    loaded = [load_onnx(policy), load_onnx(value)]
    opset = max(map(_opset, loaded))
    models = [
        _prefixed(_converted(model, opset, path), prefix, path)
        for model, prefix, path in zip(loaded, ("policy/", "value/"), (policy, value), strict=True)
    ]
    chosen = [
        [name for name in _outputs(models[0], "policy/") if name.startswith("policy")],
        [name for name in _outputs(models[1], "value/") if not name.startswith("policy")],
    ]
    if "value" not in chosen[1]:
        raise NetworkError(f"{value} has no value, it cannot be the second network: give the policy network first")
    sizes = [size for size in cards[0].board_sizes if size in cards[1].board_sizes]
    if not sizes:
        raise NetworkError(
            f"no board size suits both: {policy} takes {cards[0].board_sizes}, {value} {cards[1].board_sizes}"
        )
    wide = 0 if _begins_with(cards[0].plane_set, cards[1].plane_set) else 1
    if not _begins_with(cards[wide].plane_set, cards[1 - wide].plane_set):
        raise NetworkError(
            f"plane sets {cards[0].plane_set!r} of {policy} and {cards[1].plane_set!r} of {value} do not fit: they "
            f"must be the same, or {' or '.join(f'{long} and {short}' for long, short in _BEGINNINGS.items())}"
        )
    card = Card(
        name=target.stem,
        family="joined",
        config={"policy": cards[0].name, "value": cards[1].name},
        plane_set=cards[wide].plane_set,
        board_sizes=sizes,
        rules=cards[1].rules or cards[0].rules,
        data=" and ".join(dict.fromkeys(card.data for card in cards if card.data)),
        search=_advice(*cards),
        licence=" and ".join(dict.fromkeys(card.licence for card in cards if card.licence)),
        created=date.today().isoformat(),
        version=tengen.__version__,
    )
    try:
        model = _merged(models, chosen, wide)
        helper.set_model_props(model, card.metadata())
        onnx.checker.check_model(model)
    except Exception as error:  # of a damaged graph; the classes share no base of their own
        raise NetworkError(f"{policy} and {value} cannot be joined: {' '.join(str(error).split())[:200]}") from error
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(target, checksum=True) as temporary:
        onnx.save(model, temporary)
    return card


def _advice(policy: Card, value: Card) -> dict[str, Any]:
    """The search that suits both: that of the policy first, but the share of playouts that suits the value.

    A policy alone is advised playouts for all of a leaf's value.
    """
    found = {**value.search, **policy.search}
    found.pop(_PLAYOUTS, None)
    return found | {name: share for name, share in value.search.items() if name == _PLAYOUTS}


def _opset(model: onnx.ModelProto) -> int:
    """The version of ONNX's own operators that a network uses."""
    return max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def _converted(model: onnx.ModelProto, opset: int, path: Path) -> onnx.ModelProto:
    """The network with this version of the operators: KataGo's networks use another one than ours."""
    if _opset(model) == opset:
        return model
    try:
        return version_converter.convert_version(model, opset)
    except Exception as error:  # of an operator that has no equal; the classes share no base of their own
        raise NetworkError(
            f"{path} cannot be joined: its operators have version {_opset(model)}, those of the other network {opset}, "
            f"and ONNX cannot convert them: {' '.join(str(error).split())[:200]}"
        ) from error


def _prefixed(model: onnx.ModelProto, prefix: str, path: Path) -> onnx.ModelProto:
    try:
        return compose.add_prefix(model, prefix)
    except Exception as error:  # of a name that is no text
        raise NetworkError(f"{path} cannot be read as an ONNX network: {error}") from error


def _begins_with(name: str, other: str) -> bool:
    """Whether the planes and scalars of one plane set begin with those of another."""
    return other in (name, _BEGINNINGS.get(name))


def _outputs(model: onnx.ModelProto, prefix: str) -> list[str]:
    return [name for name in (port.name.removeprefix(prefix) for port in model.graph.output) if name in OUTPUTS]


def _merged(models: Sequence[onnx.ModelProto], chosen: Sequence[Sequence[str]], wide: int) -> onnx.ModelProto:
    """One graph of both, with the inputs of the network `wide` and the `chosen` outputs of each."""
    prefixes = ("policy/", "value/")
    ports = {port.name.removeprefix(prefixes[wide]): port for port in models[wide].graph.input}
    nodes, weights, outputs = [], [], []
    for model, prefix, names in zip(models, prefixes, chosen, strict=True):
        for port in model.graph.input:
            name = port.name.removeprefix(prefix)
            if name == "mask":
                nodes.append(helper.make_node("Identity", [name], [port.name]))
                continue
            # The first planes or scalars, as many as the network reads.
            width = port.type.tensor_type.shape.dim[1].dim_value
            bounds = [f"{port.name}/{end}" for end in ("start", "stop", "axis")]
            weights += [
                helper.make_tensor(bound, onnx.TensorProto.INT64, [1], [number])
                for bound, number in zip(bounds, (0, width, 1), strict=True)
            ]
            nodes.append(helper.make_node("Slice", [name, *bounds], [port.name]))
        nodes += model.graph.node
        weights += model.graph.initializer
        for port in model.graph.output:
            if (name := port.name.removeprefix(prefix)) in names:
                nodes.append(helper.make_node("Identity", [port.name], [name]))
                outputs.append(_renamed(port, name))
    inputs = [_renamed(ports[name], name) for name in INPUTS]
    others = {port.name.removeprefix(prefixes[1 - wide]): port for port in models[1 - wide].graph.input}
    for port in inputs:  # of one board size where either network has one size
        for mine, its in zip(_dimensions(port), _dimensions(others[port.name]), strict=True):
            if its.dim_value and not mine.dim_value:
                mine.dim_value = its.dim_value
    graph = helper.make_graph(nodes, "joined", inputs, outputs, weights)
    # Both have the same version of ONNX's own operators.
    versions = {entry.domain: max(entry.version, 0) for model in models for entry in model.opset_import}
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in versions.items()],
        ir_version=max(model.ir_version for model in models),
    )


def _dimensions(port: onnx.ValueInfoProto) -> Sequence[Any]:
    return port.type.tensor_type.shape.dim  # type: ignore[no-any-return]


def _renamed(port: onnx.ValueInfoProto, name: str) -> onnx.ValueInfoProto:
    result = onnx.ValueInfoProto()
    result.CopyFrom(port)
    result.name = name
    return result
