"""A module rebuilt from a network file computes what the file does, and can be trained on."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")
onnx = pytest.importorskip("onnx", reason="networks need the extra [train]")

from torch import nn  # noqa: E402

from tengen.errors import NetworkError  # noqa: E402
from tengen.evaluators.installed_networks import SHIPPED, find_network  # noqa: E402
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator  # noqa: E402
from tengen.networks import build, parse_config  # noqa: E402
from tengen.networks.blocks import ScaledConv2d  # noqa: E402
from tengen.networks.constant_inputs import fold_width  # noqa: E402
from tengen.networks.export import export  # noqa: E402
from tengen.networks.load import load_module  # noqa: E402

PLANES, SCALARS = 8, 3
OUTPUTS = ("policy", "value", "score", "ownership")
CONFIG = {"family": "residual", "size": "b2c16", "stem": 3, "activation": "gelu"}


def network(seed: int = 3) -> nn.Module:
    torch.manual_seed(seed)
    module = build(parse_config(CONFIG), PLANES, SCALARS)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        module.stem.gain[3] = 0.0  # type: ignore[union-attr, index, operator]
        module.stem.gain[4] = -0.5  # type: ignore[union-attr, index, operator]
    return module.eval()


def write(module: nn.Module, path: Path, config: dict[str, object] = CONFIG) -> Path:
    export(module, PLANES, SCALARS, path, {"tengen": json.dumps({"config": config})})
    return path


def inputs(planes: int, scalars: int, edge: int, sizes: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(edge)
    mask = torch.zeros(len(sizes), edge, edge)
    for row, size in enumerate(sizes):
        mask[row, :size, :size] = 1
    cells = (torch.rand(len(sizes), planes, edge, edge, generator=generator) < 0.3).float() * mask[:, None]
    return cells, torch.rand(len(sizes), scalars, generator=generator), mask


@pytest.mark.parametrize("folded", [False, True], ids=["as trained", "width forgotten"])
@pytest.mark.parametrize(("edge", "sizes"), [(9, (9, 5, 7)), (13, (13, 13))])
def test_all_outputs_are_those_of_the_module_that_was_exported(
    folded: bool, edge: int, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    module = network()
    if folded:
        fold_width(module, 9)
    loaded = load_module(write(module, tmp_path / "net.onnx"))
    given = inputs(PLANES, SCALARS, edge, sizes)
    with torch.no_grad():
        for was, now in zip(module(*given), loaded(*given), strict=True):
            torch.testing.assert_close(now, was, atol=2e-5, rtol=2e-5)


def test_a_fresh_network_with_many_equal_numbers_is_whole(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = build(parse_config(CONFIG), PLANES, SCALARS)  # whose biases are all 0, which a file holds once
    loaded = load_module(write(module, tmp_path / "net.onnx"))
    given = inputs(PLANES, SCALARS, 7, (7,))
    with torch.no_grad():
        for was, now in zip(module(*given), loaded(*given), strict=True):
            torch.testing.assert_close(now, was, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("name", [path.stem for path in sorted(SHIPPED.glob("*.onnx")) if "int8" not in path.name])
def test_shipped_networks_compute_what_their_files_do(name: str) -> None:
    path = find_network(name)
    loaded, session = load_module(path), OnnxRuntimeEvaluator(path)._session
    given = inputs(27, 9, 9, (9, 9, 9))
    with torch.no_grad():
        found = loaded(*given)
    fed = {name: part.numpy() for name, part in zip(("planes", "scalars", "mask"), given, strict=True)}
    for output, expected in zip(OUTPUTS, session.run(OUTPUTS, fed), strict=True):
        torch.testing.assert_close(getattr(found, output), torch.from_numpy(expected), atol=1e-3, rtol=1e-4)


def test_to_write_a_loaded_module_gives_the_same_filters(tmp_path: Path) -> None:
    first = write(network(), tmp_path / "first.onnx")
    second = write(load_module(first), tmp_path / "second.onnx")
    one, two = ({item.name: item for item in onnx.load(path).graph.initializer} for path in (first, second))
    assert one.keys() == two.keys()
    for name, item in one.items():
        found, expected = onnx.numpy_helper.to_array(two[name]), onnx.numpy_helper.to_array(item)
        np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-5)


def test_a_loaded_module_is_standardised_and_trains(tmp_path: Path) -> None:
    loaded = load_module(write(network(), tmp_path / "net.onnx"))
    assert sum(isinstance(part, ScaledConv2d) for part in loaded.modules()) > 5
    output = loaded.train()(*inputs(PLANES, SCALARS, 7, (7, 7)))
    torch.stack([part.sum() for part in output[:4]]).sum().backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in loaded.parameters())


def test_files_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    path = write(network(), tmp_path / "net.onnx", {**CONFIG, "size": "b2c24"})
    with pytest.raises(NetworkError, match=r"of shape \[16.*asks for \[24"):
        load_module(path)
    with pytest.raises(NetworkError, match=r"does not hold blocks\.2\.first\.weight"):
        load_module(write(network(), path, {**CONFIG, "size": "b3c16"}))
    with pytest.raises(NetworkError, match="no card"):
        load_module(write(network(), path, {"family": "residual", "size": "huge"}))
    with pytest.raises(NetworkError, match="cannot be read"):
        load_module(tmp_path / "missing.onnx")
    (tmp_path / "text.onnx").write_text("no network at all")
    with pytest.raises(NetworkError, match="cannot be read as"):
        load_module(tmp_path / "text.onnx")
    model = onnx.load(find_network("default"))
    del model.metadata_props[:]
    onnx.save(model, tmp_path / "bare.onnx")
    with pytest.raises(NetworkError, match="no card"):
        load_module(tmp_path / "bare.onnx")


def test_what_only_training_knows_starts_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(network(), tmp_path / "net.onnx")

    def with_one_more(*given: object) -> nn.Module:
        module = build(*given)  # type: ignore[arg-type]
        module.reply = nn.Linear(4, 4)
        return module

    monkeypatch.setattr("tengen.networks.load.build", with_one_more)
    assert load_module(path).reply.weight.any()  # type: ignore[union-attr, operator]
