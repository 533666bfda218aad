"""Which precision is taken, and the quantisation of a network."""

import hashlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from small_network import SmallNet, random_inputs, write_network

from tengen import _native
from tengen.disk import write_whole
from tengen.errors import NetworkError
from tengen.evaluators import BatchEvaluator, openvino
from tengen.evaluators import quantize as quantization
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.installed_networks import SHIPPED, find_network
from tengen.evaluators.network_file import INT8_OF, int8_path, read_card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.evaluators.quantize import Cost, drawn_positions, quantize
from tengen.game import Game


def int8_file(network: Path, folder: Path, fine: bool) -> Path:
    """A copy of a network with another one of a twice as steep policy as its int8 file; returns the copy."""
    copy = folder / "copy.onnx"
    shutil.copy(network, copy)
    model = onnx.load(network)
    for node in model.graph.node:
        for i, name in enumerate(node.output):
            node.output[i] = "half" if name == "policy" else name
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(2, np.float32), "two"))
    model.graph.node.append(onnx.helper.make_node("Mul", ["half", "two"], ["policy"], "steeper"))
    made = {"metrics": {"int8": {"fine": fine}}, "provenance": {INT8_OF: hashlib.sha256(copy.read_bytes()).hexdigest()}}
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, read_card(network).model_copy(update=made).metadata())
    with write_whole(int8_path(copy), checksum=True) as temporary:
        onnx.save(model, temporary)
    return copy


@pytest.mark.parametrize("fine, instructions", [(True, True), (True, False), (False, True)])
def test_auto_takes_int8_where_it_gains_and_costs_little(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fine: bool, instructions: bool
) -> None:
    monkeypatch.setattr(openvino, "multiplies_int8", lambda: instructions)
    copy = int8_file(network, tmp_path, fine)
    auto, asked = OpenVinoEvaluator(copy, remember=False), OpenVinoEvaluator(copy, precision="int8", remember=False)
    assert (auto.precision == "int8") == (fine and instructions) and asked.precision == "int8"
    inputs = random_inputs([9] * 2, 9)
    plain = OpenVinoEvaluator(copy, precision="f32", remember=False).infer(inputs).policy
    squares = plain**2 / (plain**2).sum(1, keepdims=True)
    assert np.allclose(asked.infer(inputs).policy, squares, atol=0.02)
    assert not np.allclose(plain, squares, atol=1e-4)


def replaced(copy: Path) -> None:
    """Another network in the place of the one that was quantised."""
    write_network(copy, SmallNet(seed=2))


def flipped(copy: Path) -> None:
    data = bytearray(int8_path(copy).read_bytes())
    place = data.find(b"steeper")  # in a name, so that the file is still ONNX
    data[place] ^= 1
    int8_path(copy).write_bytes(data)


@pytest.mark.parametrize("change, message", [(replaced, "was not made of"), (flipped, "is altered")])
def test_an_int8_file_that_is_not_the_networks_is_not_used(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], message: str
) -> None:
    monkeypatch.setattr(openvino, "multiplies_int8", lambda: True)
    copy = int8_file(network, tmp_path, fine=True)
    change(copy)
    assert OpenVinoEvaluator(copy, remember=False).precision != "int8"
    with pytest.raises(NetworkError, match=message):
        OpenVinoEvaluator(copy, precision="int8", remember=False)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.int8.onnx")), ids=lambda path: path.name)
def test_a_shipped_int8_file_is_of_its_network(path: Path) -> None:
    network = path.with_name(path.name.replace(".int8", ""))
    assert read_card(path).provenance[INT8_OF] == hashlib.sha256(network.read_bytes()).hexdigest()


def test_int8_needs_its_file(network: Path) -> None:
    with pytest.raises(NetworkError, match="tengen nets quantize"):
        OpenVinoEvaluator(network, precision="int8")


@pytest.mark.parametrize("flags, expected", [("avx2 fma", False), ("avx2 avx_vnni", True), ("amx_int8 avx2", True)])
def test_instructions_of_the_processor(monkeypatch: pytest.MonkeyPatch, flags: str, expected: bool) -> None:
    monkeypatch.setattr(_native, "processor_flags", flags.split)
    assert openvino.multiplies_int8() == expected


@pytest.mark.slow
def test_a_quantised_network_keeps_its_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "copy.onnx"
    shutil.copy(find_network("zero-7x7"), copy)
    sizes: set[int] = set()

    def drawn(evaluator: BatchEvaluator, size: int, count: int) -> list[Game]:
        sizes.add(size)
        return drawn_positions(evaluator, size, count)

    monkeypatch.setattr(quantization, "drawn_positions", drawn)
    path, cost = quantize(copy, count=64)
    assert sizes == {7}
    assert sys.modules["openvino_telemetry"] is None  # which sends statistics of use
    card = read_card(path)
    assert path == int8_path(copy) and card.metrics["int8"]["top1_loss"] == cost.top1_loss
    quantised = [node for node in onnx.load(path).graph.node if node.op_type == "QuantizeLinear"]
    convolutions = [node for node in onnx.load(copy).graph.node if node.op_type == "Conv"]
    assert len(convolutions) / 2 <= len(quantised) <= 2 * len(convolutions)
    assert cost.positions == 32 and 0 < cost.policy_kl < 0.02
    assert cost.fine or not openvino.multiplies_int8()  # else sums of products overflow
    assert OpenVinoEvaluator(copy, precision="int8", remember=False).precision == "int8"


@pytest.mark.slow
def test_an_interruption_leaves_the_int8_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "copy.onnx"
    shutil.copy(find_network("zero-7x7"), copy)
    int8_path(copy).write_bytes(b"an earlier one")

    def interrupt(*_: object) -> Cost:
        raise KeyboardInterrupt

    monkeypatch.setattr(quantization, "_cost", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quantize(copy, count=16)
    assert int8_path(copy).read_bytes() == b"an earlier one" and len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_a_network_for_many_boards_is_judged_on_each_of_the_usual_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the small ones the same network may lose more."""
    copy, cost_on = tmp_path / "copy.onnx", quantization._cost_on
    costs: dict[int, Cost] = {}
    shutil.copy(find_network("tygem-b8c64"), copy)
    card = read_card(copy).model_copy(update={"board_sizes": [5, 9, 13]})
    monkeypatch.setattr(quantization, "read_card", lambda path: card)

    def judged(plain: OpenVinoEvaluator, int8: OpenVinoEvaluator, rows: InputBatch) -> Cost:
        cost = costs[rows.planes.shape[-1]] = cost_on(plain, int8, rows)
        return cost

    monkeypatch.setattr(quantization, "_cost_on", judged)
    _, cost = quantize(copy, count=48)
    assert list(costs) == [9, 13] and cost.positions == 24
    assert cost.winrate_error == max(each.winrate_error for each in costs.values())
    assert cost.speed == costs[13].speed


def test_a_network_without_convolutions_is_refused(network: Path, tmp_path: Path) -> None:
    model = onnx.load(network)
    for node in model.graph.node:
        node.op_type = "Identity" if node.op_type == "Conv" else node.op_type
    onnx.helper.set_model_props(model, read_card(network).metadata())  # without the checksum
    plain = tmp_path / "plain.onnx"
    onnx.save(model, plain)
    with pytest.raises(NetworkError, match="no convolutions"):
        quantize(plain)
