"""Network files run by PyTorch, against the libraries that run them otherwise."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from small_network import write_network

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import Card, load_onnx, read_card
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
from tengen.evaluators.torch import TorchFileEvaluator
from tengen.evaluators.torch_graph import graph_module
from tengen.game import Game
from tengen.networks import NetOutput, build, parse_config
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
        pytest.param("b10c384h6nbttflrs.bin.gz", marks=pytest.mark.slow),
        "b7c96h3tfrs-test5-cnorm.bin.gz",
        "b7c96h6kv3qk32v16tflrs-fson-bnh.bin.gz",
        "g170-b6c96-s175395328-d26788732.bin.gz",
    ],
)
def test_networks_of_katago(shared: Path, name: str) -> None:
    """Attention, rotary embedding, norms of points and of boards, shared keys, nested bottlenecks, pooling."""
    path = find_network(shared / "nets" / name)
    agree(path, played(read_card(path).plane_set, SIZES, 19), 2e-4)


SMALL = (
    "betago-2",
    "bakago-v2",
    "bakago-v3-32",
    "mobile.small",
    "deepgo-small",
    "bakago-rollout-1-96",
    "alphago-value",
)


@pytest.mark.parametrize(
    "network",
    [
        *({"preset": name} for name in SMALL),
        {"family": "cody7x7"},
        {"family": "a0", "board_size": 9, "blocks": 1, "filters": 8, "activation": "prelu"},
        {"family": "plain", "convs": ["5x5x8", "3x3x8"], "activation": "mish", "value": {"kind": "pool"}},
        {"family": "residual", "size": "b2c16", "activation": "gelu"},
        {"family": "residual", "size": "b2c16", "head": "katago", "activation": "silu"},
    ],
    ids=lambda network: network.get("preset") or f"{network['family']} {network.get('activation', '')}",
)
def test_every_family(tmp_path: Path, network: dict[str, object]) -> None:
    config = parse_config(network)
    edge = (config.board_sizes or (9,))[0]
    batch = played(config.plane_set, (edge, edge) if config.board_sizes else (9, 7), edge)
    module = build(config, batch.planes.shape[1], batch.scalars.shape[1])
    agree(exported(module, tmp_path, config.plane_set, batch), batch)


def exported(module: torch.nn.Module, folder: Path, plane_set: str, batch: InputBatch) -> Path:
    card = Card(name="any", family="any", config={}, plane_set=plane_set, board_sizes=[batch.edge])
    path = folder / "any.onnx"
    export(module, batch.planes.shape[1], batch.scalars.shape[1], path, card.metadata())
    return path


class Attending(torch.nn.Module):
    """Attention over the points of a board, whose keys are turned in one of two ways."""

    def __init__(self, planes: int, at_once: bool) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.at_once = at_once
        self.inputs = torch.nn.Linear(planes, 48)
        self.out = torch.nn.Linear(16, 1)

    def forward(self, planes: torch.Tensor, scalars: torch.Tensor, mask: torch.Tensor) -> NetOutput:
        rows = planes.shape[0]
        x = self.inputs(planes.reshape(rows, planes.shape[1], -1).transpose(1, 2))
        query, key, value = (part.reshape(rows, -1, 4, 4) for part in x.split(16, 2))
        query, value = query.permute(0, 2, 1, 3), value.permute(0, 2, 1, 3)
        turned = key.permute(0, 2, 3, 1) if self.at_once else key.permute(0, 2, 1, 3).transpose(2, 3)
        bias = (mask.reshape(rows, 1, 1, -1) - 1) * 1e4
        found = torch.softmax(query @ turned + bias, -1) @ value
        points = self.out(found.permute(0, 2, 1, 3).reshape(rows, -1, 16)).squeeze(2)
        return NetOutput(torch.cat([points, scalars[:, :1]], 1))


@pytest.mark.parametrize("at_once", [False, True])
def test_attention_of_other_graphs(tmp_path: Path, at_once: bool) -> None:
    """Keys that are turned in one step are no pattern for the function of PyTorch."""
    batch = played("tengen", (9, 7), 9)
    agree(exported(Attending(batch.planes.shape[1], at_once), tmp_path, "tengen", batch), batch)


@pytest.mark.parametrize("name", ["b7c96h3tfrs-test5-cnorm.bin.gz", "g170-b6c96-s175395328-d26788732.bin.gz"])
def test_half_precision_is_close(shared: Path, name: str) -> None:
    """As on a GPU: within two hundredths of a probability, also where one side owns the whole board."""
    path = find_network(shared / "nets" / name)
    batch = played(read_card(path).plane_set, (19, *SIZES), 19)
    won = Game(19)
    for point in range(100):
        won.play(3 * point)
        won.play(won.size**2)
    batch.encode(0, won)
    inputs = [torch.from_numpy(part) for part in batch.arrays]
    model = load_onnx(path)
    half, full = (graph_module(model, path, dtype)(*inputs) for dtype in (torch.float16, torch.float32))
    assert name.startswith("g170") or full["score"][0].abs() > 256, "its square is more than float16 holds"
    for name, output in half.items():
        assert output.dtype == torch.float32 and output.isfinite().all()
        if name.startswith("policy") or name == "value":
            assert (torch.softmax(output, 1) - torch.softmax(full[name], 1)).abs().max() < 0.02, name
        else:
            assert torch.allclose(output, full[name], rtol=0.03, atol=0.3), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b10c384h6nbttflrs.bin.gz", "b7c96h6kv3qk32v16tflrs-fson-bnh.bin.gz"])
def test_a_compiled_network_is_one_graph(shared: Path, name: str) -> None:
    """No number of it is read from a tensor: on a GPU that waits for all that was asked before."""
    path = find_network(shared / "nets" / name)
    inputs = [torch.from_numpy(part) for part in played(read_card(path).plane_set, (9,), 9).arrays]
    found = torch._dynamo.explain(graph_module(load_onnx(path), path))(*inputs)
    assert found.graph_break_count == 0, found.break_reasons


def changed(folder: Path, **changes: str) -> Path:
    """A network file whose first convolution has another operation or another attribute."""
    path = write_network(folder / "net.onnx")
    model = onnx.load(path)
    node = next(node for node in model.graph.node if node.op_type == "Conv")
    for name, value in changes.items():
        if name == "operation":
            node.op_type = value
        else:
            node.attribute.append(onnx.helper.make_attribute(name, value))
    onnx.helper.set_model_props(model, read_card(path).metadata())  # without the checksum
    onnx.save(model, path)
    return path


def test_what_is_not_supported_is_named(tmp_path: Path) -> None:
    for changes, said in (({"operation": "Loop"}, "operation Loop"), ({"auto_pad": "SAME_UPPER"}, "auto_pad of Conv")):
        path = changed(tmp_path, **changes)
        with pytest.raises(NetworkError, match=rf"net\.onnx: (the )?{said} is not supported by the device torch"):
            graph_module(load_onnx(path), path)


def test_a_board_that_the_network_does_not_take(tmp_path: Path) -> None:
    config = parse_config({"family": "a0", "board_size": 9, "blocks": 1, "filters": 8, "value": {"kind": "dense"}})
    batch = played(config.plane_set, (9,), 9)
    path = exported(build(config, batch.planes.shape[1], batch.scalars.shape[1]), tmp_path, config.plane_set, batch)
    with pytest.raises(NetworkError, match="does not run on 7x7"):
        TorchFileEvaluator(path, device="cpu").infer(played(config.plane_set, (7,), 7))
