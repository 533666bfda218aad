"""The mean of networks, weight by weight."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")
onnx = pytest.importorskip("onnx", reason="networks need the extra [train]")

from torch import nn  # noqa: E402

from tengen.networks import build, parse_config  # noqa: E402
from tengen.networks.export import export  # noqa: E402
from tengen.networks.load import average  # noqa: E402

PLANES, SCALARS = 8, 3
CONFIG = {"family": "residual", "size": "b1c8", "stem": 3, "activation": "gelu", "soft": True}


def write(seed: int, path: Path) -> Path:
    torch.manual_seed(seed)
    module: nn.Module = build(parse_config(CONFIG), PLANES, SCALARS)
    with torch.no_grad():
        for parameter in module.parameters():  # gains too, so that filters of the same direction differ in length
            parameter.add_(0.3 * torch.randn_like(parameter))
    export(module, PLANES, SCALARS, path, {"tengen": json.dumps({"config": CONFIG, "seed": seed})})
    return path


def weights(path: Path) -> dict[str, torch.Tensor]:
    """What the file computes with, read without our own loader."""
    stored = onnx.load(path).graph.initializer
    return {item.name: torch.from_numpy(onnx.numpy_helper.to_array(item).copy()) for item in stored}


def test_each_weight_is_the_mean_of_those_in_the_files(tmp_path: Path) -> None:
    files = [write(seed, tmp_path / f"{seed}.onnx") for seed in range(3)]
    average(files, PLANES, SCALARS, tmp_path / "mean.onnx", {"tengen": json.dumps({"config": CONFIG})})
    found, parts = weights(tmp_path / "mean.onnx"), [weights(file) for file in files]
    assert set(found) == set(parts[0])
    for name, value in found.items():
        expected = sum(part[name] for part in parts) / 3
        torch.testing.assert_close(value, expected, rtol=0, atol=1e-6, msg=name)


def test_a_target_may_be_one_of_the_files(tmp_path: Path) -> None:
    first, second = write(1, tmp_path / "1.onnx"), write(2, tmp_path / "2.onnx")
    average([first, second], PLANES, SCALARS, tmp_path / "mean.onnx", {"tengen": json.dumps({"config": CONFIG})})
    average([first, second], PLANES, SCALARS, second, {"tengen": json.dumps({"config": CONFIG})})
    for name, value in weights(tmp_path / "mean.onnx").items():
        torch.testing.assert_close(weights(second)[name], value, rtol=0, atol=0)
