"""The network of the AlphaGo-Zero-like 7x7 system: its size, its outputs, its file, and the one board that it takes."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

from tengen.data.planes import encode_game, plane_set  # noqa: E402
from tengen.engine import load_engine  # noqa: E402
from tengen.errors import NetworkError, RecipeError, TengenError  # noqa: E402
from tengen.evaluators import InputBatch, load_evaluator  # noqa: E402
from tengen.evaluators.network_file import Card  # noqa: E402
from tengen.evaluators.torch import TorchEvaluator  # noqa: E402
from tengen.game import Game  # noqa: E402
from tengen.match.batch import BatchMatch  # noqa: E402
from tengen.match.conditions import Conditions  # noqa: E402
from tengen.match.settings import MatchSettings  # noqa: E402
from tengen.networks import build  # noqa: E402
from tengen.networks.cody import CodyConfig  # noqa: E402
from tengen.networks.export import export  # noqa: E402
from tengen.networks.registry import mac_count, parameter_count  # noqa: E402
from tengen.selfplay.check import check  # noqa: E402
from tengen.selfplay.config import SelfPlayConfig  # noqa: E402

PLANES, SCALARS = len(plane_set("cody3").planes), len(plane_set("cody3").scalars)


def network(channels: int = 16) -> nn.Module:
    torch.manual_seed(1)
    return build(CodyConfig(channels=channels), PLANES, SCALARS)


def inputs(rows: int = 5, edge: int = 7) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(2)
    return (
        torch.randint(-1, 2, (rows, PLANES, edge, edge)).float(),
        torch.rand(rows, SCALARS),
        torch.ones(rows, edge, edge),
    )


def trained(channels: int = 16) -> nn.Module:
    """With running statistics that differ from a fresh layer's."""
    module = network(channels)
    for layer in module.layers:
        layer.norm.running_mean.normal_(std=0.3)
        layer.norm.running_var.uniform_(0.2, 2.0)
        nn.init.normal_(layer.shift, std=0.3)
    return module


def test_it_has_the_published_size() -> None:
    module = network(128)
    assert parameter_count(module) == 2_206_898
    assert mac_count(module, PLANES, SCALARS, 7) / 1e6 == pytest.approx(30.7, abs=0.05)
    assert sum(p.numel() for p in module.layers.parameters()) == 594_560


def test_it_computes_what_is_published() -> None:
    """The same from the stored numbers, step by step."""
    module = trained().eval()
    x, scalars, mask = inputs()
    out = module(x, scalars, mask)
    kept: list[torch.Tensor] = []
    for i, layer in enumerate(module.layers):
        y = F.conv2d(x, layer.conv.weight, layer.conv.bias, padding=1)
        mean, variance = (part.view(1, -1, 1, 1) for part in (layer.norm.running_mean, layer.norm.running_var))
        y = (y - mean) / torch.sqrt(variance + 1e-3) + layer.shift
        x = F.relu(y + kept[i - 2]) if i in (2, 4) else F.relu(y)
        kept.append(x)
    flat = x.reshape(5, -1)
    hidden = F.relu(flat @ module.policy[0].weight.T + module.policy[0].bias)
    policy = F.relu(hidden @ module.policy[2].weight.T + module.policy[2].bias)
    torch.testing.assert_close(out.policy, policy)
    unbent = flat @ module.value[0].weight.T + module.value[0].bias
    value = torch.tanh(unbent @ module.value[1].weight.T + module.value[1].bias).squeeze(1)
    torch.testing.assert_close(out.value, value)
    assert out.score is None and out.ownership is None


def test_in_training_the_batch_decides_and_in_play_a_row_stands_alone() -> None:
    module = trained()
    given = inputs()
    one = tuple(part[:1] for part in given)
    assert not torch.allclose(module.train()(*given).policy[:1], module(*one).policy)
    torch.testing.assert_close(module.eval()(*given).policy[:1], module(*one).policy)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "small.onnx"
    card = Card(
        name="small", family="cody7x7", config=CodyConfig(channels=16).model_dump(), plane_set="cody3", board_sizes=[7]
    )
    export(trained(), PLANES, SCALARS, path, card.metadata())
    return path


@pytest.mark.parametrize("device", ["cpu", "onnxruntime"])
def test_its_file_plays_as_the_module_does(path: Path, device: str) -> None:
    file_side = load_evaluator(path, device, precision="f32")  # type: ignore[arg-type]
    given = InputBatch("cody3", *(part.numpy() for part in inputs()))
    expected, found = TorchEvaluator(trained(), name="module", device="cpu").infer(given), file_side.infer(given)
    for name in ("policy", "value"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=2e-4)


def test_a_game_on_another_board_is_refused_before_it_begins(path: Path) -> None:
    engine = load_engine(str(path), visits=4)
    with pytest.raises(NetworkError, match="small takes 7x7 boards alone, not 9x9"):
        engine.set_position(Game(9))
    engine.set_position(Game(7))
    assert 0 <= engine.think().move < 49
    for player in (f"raw:{path}", str(path)):
        with pytest.raises(TengenError, match=r"cody: .*7x7 boards alone, not 9x9"):
            BatchMatch(MatchSettings.of(f"cody={player}", "random", conditions=Conditions(size=9))).start(["cody"])
    planes, _, _ = encode_game("cody3", Game(9))
    with pytest.raises(NetworkError, match="takes 7x7 alone, not 9x9"):
        network()(torch.from_numpy(planes)[None], torch.zeros(1, SCALARS), torch.ones(1, 9, 9))


def test_a_recipe_for_another_board_is_refused() -> None:
    recipe = SelfPlayConfig(
        name="x", cycles=1, games_per_cycle=1, network={"family": "cody7x7"}, game={"sizes": {9: 1}}
    )
    with pytest.raises(RecipeError, match="asks for 9x9"):
        check(recipe)
