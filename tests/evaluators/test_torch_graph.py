"""Network files run by PyTorch, against the libraries that run them otherwise."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from small_network import write_network

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.network_file import Card, find_network, read_card
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
from tengen.evaluators.torch import TorchFileEvaluator
from tengen.evaluators.torch_graph import read_module
from tengen.game import Game
from tengen.networks import build, parse_config
from tengen.networks.export import export

SIZES = (19, 13, 9)


def played(plane_set: str, sizes: tuple[int, ...], edge: int) -> InputBatch:
    """Positions after some moves in the corner, boards of several sizes in one tensor."""
    batch = InputBatch.zeros(plane_set, len(sizes), edge)
    for row, size in enumerate(sizes):
        game = Game(size)
        for move in range(8 + row):
            game.play((move * 5 + 2) % (size * size - 1))
        batch.encode(row, game, row % 8)
    return batch


def agree(path: Path, batch: InputBatch, tolerance: float = 1e-4) -> None:
    """All outputs of the file are those of ONNX Runtime, in units of their own size."""
    reference = OnnxRuntimeEvaluator(path)
    found, expected = TorchFileEvaluator(path, device="cpu").infer(batch), reference.infer(batch)
    assert found.further == expected.further
    for name in ("policy", "value", "score", "ownership", *expected.further):
        here, there = getattr(found, name), getattr(expected, name)
        assert (here is None) == (there is None)
        if there is not None:
            assert np.allclose(here, there, atol=tolerance * max(1.0, float(np.abs(there).max()))), name


@pytest.mark.parametrize("name", ["distilled-b8c64", "zero-9x9"])
def test_shipped_networks(name: str) -> None:
    path = find_network(name)
    sizes = SIZES if name == "distilled-b8c64" else (9, 9)
    agree(path, played(read_card(path).plane_set, sizes, max(sizes)))


@pytest.mark.parametrize(
    "name",
    [
        "b10c384h6nbttflrs.bin.gz",
        "b7c96h3tfrs-test5-cnorm.bin.gz",
        "b7c96h6kv3qk32v16tflrs-fson-bnh.bin.gz",
        "g170-b6c96-s175395328-d26788732.bin.gz",
    ],
)
def test_networks_of_katago(shared: Path, name: str) -> None:
    """Attention, rotary embedding, norms of points and of boards, shared keys, nested bottlenecks, pooling."""
    path = find_network(shared / "nets" / name)
    agree(path, played(read_card(path).plane_set, SIZES, 19), 2e-4)


@pytest.mark.parametrize(
    "network",
    [
        {"preset": "bakago-v3-32"},
        {"preset": "mobile.small"},
        {"preset": "deepgo-small"},
        {"family": "a0", "board_size": 9, "blocks": 1, "filters": 8, "activation": "prelu"},
        {"family": "plain", "convs": ["5x5x8", "3x3x8"], "activation": "mish", "value": {"kind": "pool"}},
        {"family": "residual", "size": "b2c16", "activation": "gelu"},
        {"family": "residual", "size": "b2c16", "head": "katago", "activation": "silu"},
    ],
    ids=lambda network: network.get("preset") or f"{network['family']} {network['activation']}",
)
def test_every_family(tmp_path: Path, network: dict[str, object]) -> None:
    config = parse_config(network)
    edge = (config.board_sizes or (9,))[0]
    batch = played(config.plane_set, (edge, edge) if config.board_sizes else (9, 7), edge)
    module = build(config, batch.planes.shape[1], batch.scalars.shape[1])
    card = Card(name="any", family=config.family, config={}, plane_set=config.plane_set, board_sizes=[edge])
    path = tmp_path / "any.onnx"
    export(module, batch.planes.shape[1], batch.scalars.shape[1], path, card.metadata())
    agree(path, batch)


def test_half_precision_is_close(shared: Path) -> None:
    """As on a GPU: within a hundredth of a probability and a third of a point."""
    path = find_network(shared / "nets" / "b7c96h3tfrs-test5-cnorm.bin.gz")
    batch = played(read_card(path).plane_set, (9, 9), 9)
    inputs = [torch.from_numpy(part) for part in batch.arrays]
    half, full = (read_module(path, dtype)(*inputs) for dtype in (torch.float16, torch.float32))
    assert all(output.dtype == torch.float32 for output in half.values())
    for name, tolerance in {"policy": 0.01, "value": 0.01}.items():
        here, there = (torch.softmax(outputs[name], 1) for outputs in (half, full))
        assert (here - there).abs().max() < tolerance
    assert (half["score"] - full["score"]).abs().max() < 0.35


def test_an_operation_that_is_not_known_is_named(tmp_path: Path) -> None:
    path = write_network(tmp_path / "net.onnx")
    model = onnx.load(path)
    model.graph.node[0].op_type = "Loop"
    other = tmp_path / "other.onnx"
    onnx.save(model, other)
    with pytest.raises(NetworkError, match=r"other\.onnx uses the ONNX operation Loop"):
        read_module(other)
    (tmp_path / "no.onnx").write_bytes(b"no network")
    with pytest.raises(NetworkError, match="cannot be read as an ONNX network"):
        read_module(tmp_path / "no.onnx")
