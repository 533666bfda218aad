"""The network file computes what the module does, at every size, and carries its text."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")
onnx = pytest.importorskip("onnx", reason="networks need the extra [train]")

import openvino  # noqa: E402

from tengen.evaluators.evaluation import InputBatch  # noqa: E402
from tengen.evaluators.network_file import Card  # noqa: E402
from tengen.evaluators.openvino import OpenVinoEvaluator  # noqa: E402
from tengen.networks import build, parse_config  # noqa: E402
from tengen.networks.export import INPUTS, export, plain  # noqa: E402

PLANES, SCALARS = 8, 3
OUTPUTS = ("policy", "value", "score", "ownership")


@pytest.fixture(scope="module", params=[{}, {"reply": True, "soft": True, "pooling": False}], ids=["plain", "more"])
def module(request: pytest.FixtureRequest) -> torch.nn.Module:
    torch.manual_seed(3)
    network = build(parse_config({"family": "residual", "size": "b2c16", **request.param}), PLANES, SCALARS)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return network


@pytest.fixture(scope="module")
def file(module: torch.nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "deep" / "net.onnx"
    export(module, PLANES, SCALARS, path, {"tengen": '{"name": "net"}'})
    return path


@pytest.mark.parametrize(("edge", "sizes"), [(5, (5,)), (9, (9, 5, 7)), (13, (13, 9)), (19, (19, 13))])
def test_file_and_module_agree(module: torch.nn.Module, file: Path, edge: int, sizes: tuple[int, ...]) -> None:
    model = openvino.Core().compile_model(str(file), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    mask = torch.zeros(len(sizes), edge, edge)
    for row, size in enumerate(sizes):
        mask[row, :size, :size] = 1
    planes = (torch.rand(len(sizes), PLANES, edge, edge) < 0.3).float() * mask[:, None]
    scalars = torch.rand(len(sizes), SCALARS)
    with torch.no_grad():
        expected = module(planes, scalars, mask)
    found = model({"planes": planes.numpy(), "scalars": scalars.numpy(), "mask": mask.numpy()})
    assert len(model.outputs) == len(OUTPUTS)
    for name in OUTPUTS:
        np.testing.assert_allclose(found[name], getattr(expected, name).numpy(), rtol=1e-3, atol=1e-3)


def test_the_file_is_whole_and_alone(file: Path) -> None:
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    assert {entry.key: entry.value for entry in model.metadata_props if entry.key != "tengen-sha256"} == {
        "tengen": '{"name": "net"}'
    }
    assert [port.name for port in model.graph.input] == list(INPUTS)
    assert [port.name for port in model.graph.output] == list(OUTPUTS)
    assert [path.name for path in file.parent.iterdir()] == ["net.onnx"]


def test_no_standardising_is_left_in_the_file(module: torch.nn.Module, file: Path) -> None:
    """The filters are worked out once, at export; the module keeps its own."""
    layers = list(plain(module.train()).modules())
    assert not any(type(layer).__name__ == "ScaledConv2d" or layer.training for layer in layers)
    assert any(type(layer).__name__ == "ScaledConv2d" for layer in module.modules())
    assert not any("maps" in name for name, _ in plain(module).named_parameters())
    assert "Sqrt" not in {node.op_type for node in onnx.load(file).graph.node if "stem" in node.name}


def test_a_failed_export_leaves_the_old_file(module: torch.nn.Module, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"old")
    with pytest.raises(Exception, match=r".+"):
        export(module, PLANES + 1, SCALARS, path, {})
    assert path.read_bytes() == b"old"


def test_mish_between_dense_layers_plays_in_batches_of_any_length(tmp_path: Path) -> None:
    """OpenVINO 2026.4 has no code for it in batches of 3 to 15, and the check of a finished run takes batches of 2."""
    fields = {"family": "plain", "convs": ["3x3x4"], "activation": "mish", "value": {"kind": "pool", "hidden": 6}}
    config = parse_config(fields)
    network = build(config, PLANES, SCALARS).eval()
    card = Card(name="mish", family="plain", config=config.model_dump(), plane_set="none", board_sizes=[9])
    export(network, PLANES, SCALARS, tmp_path / "mish.onnx", card.metadata())
    evaluator = OpenVinoEvaluator(tmp_path / "mish.onnx", precision="f32", remember=False)
    for count in (1, 3, 8, 17):
        planes, scalars, mask = torch.rand(count, PLANES, 5, 5), torch.zeros(count, SCALARS), torch.ones(count, 5, 5)
        found = evaluator.infer(InputBatch("tengen", planes.numpy(), scalars.numpy(), mask.numpy()))
        with torch.no_grad():
            expected = network(planes, scalars, mask)
        np.testing.assert_allclose(found.value, expected.value.numpy(), atol=1e-5)
        np.testing.assert_allclose(found.policy[:, :25], expected.policy.softmax(1).numpy(), atol=1e-5)
