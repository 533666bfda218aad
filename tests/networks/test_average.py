"""The mean of networks, weight by weight."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")
onnx = pytest.importorskip("onnx", reason="networks need the extra [train]")

from torch import nn  # noqa: E402

from tengen.networks import build, parse_config  # noqa: E402
from tengen.networks.export import export  # noqa: E402
from tengen.networks.load import average  # noqa: E402
from tengen.training.config import OptimizerConfig, TrainerConfig  # noqa: E402
from tengen.training.schedules import Position  # noqa: E402
from tengen.training.trainer import Trainer  # noqa: E402

PLANES, SCALARS = 8, 3
CONFIG = {"family": "residual", "size": "b1c8", "stem": 3, "activation": "gelu", "soft": True}
NORMED = {
    "family": "a0", "board_size": 7, "filters": 4, "blocks": 1, "activation": "prelu",
    "value": {"kind": "dense", "hidden": 8, "output": "win-loss"},
}  # fmt: skip


def write(seed: int, path: Path, config: dict[str, Any] = CONFIG) -> Path:
    torch.manual_seed(seed)
    module: nn.Module = build(parse_config(config), PLANES, SCALARS)
    with torch.no_grad():
        for part in (*module.parameters(), *module.buffers()):  # gains too, so that filters of one direction differ
            if part.is_floating_point():
                part.add_(0.3 * torch.rand_like(part))
    export(module, PLANES, SCALARS, path, {"tengen": json.dumps({"config": config, "seed": seed})})
    return path


def weights(path: Path) -> dict[str, torch.Tensor]:
    """What the file computes with, read without our own loader."""
    stored = onnx.load(path).graph.initializer
    return {item.name: torch.from_numpy(onnx.numpy_helper.to_array(item).copy()) for item in stored}


@pytest.mark.parametrize("config", [CONFIG, NORMED], ids=["standardised", "batch norm"])
def test_each_weight_is_the_mean_of_those_in_the_files(tmp_path: Path, config: dict[str, Any]) -> None:
    """Running statistics of batch norm too."""
    files = [write(seed, tmp_path / f"{seed}.onnx", config) for seed in range(3)]
    average(files, PLANES, SCALARS, tmp_path / "mean.onnx", {"tengen": json.dumps({"config": config})})
    found, parts = weights(tmp_path / "mean.onnx"), [weights(file) for file in files]
    assert any("running_var" in name for name in found) == (config is NORMED)
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


def test_the_moving_average_has_the_running_statistics_of_its_weights() -> None:
    """In training every weight and every statistic move towards the newest by the same share."""
    torch.manual_seed(0)
    module = build(parse_config({"family": "mobile", "filters": 4, "inner": 6, "blocks": 1}), PLANES, SCALARS)
    config = TrainerConfig(device="cpu", precision="f32", optimizer=OptimizerConfig(name="sgd", lr=0.1))
    loss = lambda output, _batch: (output.policy.square().mean(), {})  # noqa: E731
    trainer: Trainer[Any] = Trainer(
        module, config, loss, scalars=SCALARS, position=lambda step, _: Position(step, 0.0, step, 0.0), ema=0.7
    )
    before = {name: value.clone() for name, value in trainer.average.state_dict().items()}
    batch = SimpleNamespace(
        planes=torch.rand(4, PLANES, 7, 7), scalars=torch.rand(4, SCALARS), mask=torch.ones(4, 7, 7)
    )
    trainer.fit([batch])
    newest, keep = trainer.network.state_dict(), 2 / 11  # of the first step
    for name, value in trainer.average.state_dict().items():
        expected = before[name] * keep + newest[name] * (1 - keep) if value.is_floating_point() else newest[name]
        torch.testing.assert_close(value, expected, atol=1e-6, rtol=1e-5, msg=name)
    assert not torch.equal(before["stem.1.running_mean"], newest["stem.1.running_mean"])
