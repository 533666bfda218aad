"""Networks with every choice of heads: file, evaluation, reload and losses follow from what they declare."""

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")
onnx = pytest.importorskip("onnx", reason="networks need the extra [train]")

from torch import Tensor, nn  # noqa: E402

from tengen.data.planes import plane_set  # noqa: E402
from tengen.engine import load_engine  # noqa: E402
from tengen.errors import RecipeError  # noqa: E402
from tengen.evaluators import InputBatch, load_evaluator  # noqa: E402
from tengen.evaluators.network_file import Card  # noqa: E402
from tengen.evaluators.torch import TorchEvaluator  # noqa: E402
from tengen.game import Game  # noqa: E402
from tengen.networks import FAMILIES, Family, Heads, NetConfig, NetOutput, build, expected_result  # noqa: E402
from tengen.networks.export import export  # noqa: E402
from tengen.networks.load import load_module  # noqa: E402
from tengen.training.batches import TensorBatch  # noqa: E402
from tengen.training.config import LossWeights  # noqa: E402
from tengen.training.losses import WeightedLosses, check_losses, policy_loss, value_loss  # noqa: E402

PLANES, SCALARS = len(plane_set("tengen").planes), len(plane_set("tengen").scalars)


class ChosenConfig(NetConfig):
    family: Literal["chosen"] = "chosen"
    passing: bool = True
    value: Literal["win-draw-loss", "win-loss", "scalar"] | None = "win-draw-loss"
    rest: bool = True
    maps: tuple[str, ...] = ()

    @property
    def heads(self) -> Heads:
        return Heads(self.passing, self.value, self.rest, self.rest, self.maps)


class ChosenNet(nn.Module):
    """One convolution and the heads that the configuration asks for."""

    def __init__(self, config: ChosenConfig, planes: int, scalars: int) -> None:
        super().__init__()
        self.config = config
        self.trunk = nn.Conv2d(planes, 8, 3, padding=1)
        names = ("policy", *config.maps, *(["ownership"] if config.rest else []))
        self.points = nn.ModuleDict({name: nn.Conv2d(8, 1, 1) for name in names})
        widths = {
            "pass": config.passing,
            "value": {"win-draw-loss": 3, "win-loss": 1, "scalar": 1, None: 0}[config.value],
        }
        widths["score"] = config.rest
        self.means = nn.ModuleDict({name: nn.Linear(8 + scalars, int(n)) for name, n in widths.items() if n})

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> NetOutput:
        x = torch.relu(self.trunk(planes)) * mask[:, None]
        mean = torch.cat([x.sum((2, 3)) / mask.sum((1, 2))[:, None], scalars], dim=1)

        def moves(name: str) -> Tensor:
            logits = (self.points[name](x) - 1e4 * (1 - mask[:, None])).flatten(1)
            return torch.cat([logits, self.means["pass"](mean)], dim=1) if self.config.passing else logits

        value = self.means["value"](mean) if self.config.value else None
        if value is not None and self.config.value == "scalar":
            value = torch.tanh(value).squeeze(1)
        return NetOutput(
            moves("policy"),
            value,
            self.means["score"](mean).squeeze(1) if self.config.rest else None,
            torch.tanh(self.points["ownership"](x)).squeeze(1) if self.config.rest else None,
            {name: moves(name) for name in self.config.maps},
        )


CHOICES = [
    {"passing": passing, "value": value, "rest": rest, "maps": maps}
    for passing, value, rest in product((True, False), ("win-draw-loss", "win-loss", "scalar", None), (True, False))
    for maps in ((), ("reply", "counter"))
]


@pytest.fixture(autouse=True)
def _family(registered: Callable[..., None]) -> None:
    registered(FAMILIES, "chosen", Family(ChosenConfig, ChosenNet))


def network(choice: dict[str, Any]) -> tuple[ChosenConfig, nn.Module]:
    torch.manual_seed(0)
    config = ChosenConfig(**choice)
    return config, build(config, PLANES, SCALARS)


def write(config: ChosenConfig, module: nn.Module, path: Path) -> Path:
    card = Card(name="chosen", family="chosen", config=config.model_dump(), plane_set="tengen", board_sizes=[5, 7])
    export(module, PLANES, SCALARS, path, card.metadata())
    return path


def inputs(edge: int, *sizes: int) -> InputBatch:
    random = np.random.default_rng(edge)
    batch = InputBatch.zeros("tengen", len(sizes), edge)
    for row, size in enumerate(sizes):
        batch.mask[row, :size, :size] = 1
    batch.planes[:] = (random.random(batch.planes.shape) < 0.3) * batch.mask[:, None]
    batch.scalars[:] = random.random(batch.scalars.shape)
    return batch


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_the_file_has_what_the_network_declares(choice: dict[str, Any], tmp_path: Path) -> None:
    config, module = network(choice)
    path = write(config, module, tmp_path / "net.onnx")
    assert tuple(port.name for port in onnx.load(path).graph.output) == config.heads.outputs
    file_side = load_evaluator(path, precision="f32", remember=False).on(7)
    batch = inputs(7, 7, 5)
    expected = TorchEvaluator(module, name="module", device="cpu").infer(batch)
    found = file_side.infer(batch)
    for name in ("policy", "value", "score", "ownership"):
        here, there = getattr(expected, name), getattr(found, name)
        assert (here is None) == (there is None)
        if here is not None:
            np.testing.assert_allclose(there, here, atol=1e-4)
    assert file_side.has_pass == config.passing and (config.passing or not found.policy[:, -1].any())
    assert (found.score is None) == (found.ownership is None) == (not config.rest)
    loaded = load_module(path)
    again = TorchEvaluator(loaded, name="again", device="cpu").infer(batch)
    np.testing.assert_allclose(again.policy, expected.policy, atol=1e-5)


@pytest.mark.parametrize("passing", [True, False])
def test_an_engine_plays_with_what_is_there(passing: bool, tmp_path: Path) -> None:
    config, module = network({"passing": passing, "value": "scalar", "rest": False})
    engine = load_engine(str(write(config, module, tmp_path / "net.onnx")), visits=8)
    engine.set_position(Game(5))
    assert 0 <= engine.think().move < 25


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_losses_are_those_of_the_heads(choice: dict[str, Any]) -> None:
    config, module = network(choice)
    batch = inputs(5, 5, 5)
    targets = TensorBatch(
        *(torch.from_numpy(part) for part in batch.arrays),
        policy=torch.tensor([3, 25]),
        value=torch.tensor([1.0, -1.0]),
        score=torch.tensor([2.0, -3.0]),
        ownership=torch.ones(2, 5, 5),
        weight=torch.ones(2),
        reply=torch.full((2, 26), 1 / 26),
    )
    weights = LossWeights(**({"reply": 0.5} if config.maps else {}))
    check_losses(config, weights)
    loss, parts = WeightedLosses(weights)(module(*targets[:3]), targets)
    assert set(parts) == {name for name in config.heads.outputs} | ({"reply"} if config.maps else set())
    loss.backward()
    # A map without a loss learns nothing; all else does.
    idle = {name for name, p in module.named_parameters() if p.grad is None}
    assert idle == ({"points.counter.weight", "points.counter.bias"} if config.maps else set())


def test_a_loss_that_the_recipe_names_needs_its_head() -> None:
    config, _ = network({"value": None, "rest": False})
    check_losses(config, LossWeights())
    with pytest.raises(RecipeError, match=r"losses\.value = 0\.5, but the network has no head 'value': give losses"):
        check_losses(config, LossWeights(value=0.5))
    with pytest.raises(RecipeError, match=r"losses\.score = 0\.1, but the network has no head 'score'"):
        check_losses(config, LossWeights(score=0.1))


def test_without_pass_a_row_that_passes_does_not_count() -> None:
    logits = torch.randn(3, 4)
    unknown = torch.full((3,), float("nan"))
    batch = TensorBatch(
        planes=torch.zeros(3, 1, 2, 2), scalars=torch.zeros(3, 1), mask=torch.ones(3, 2, 2),
        policy=torch.tensor([2, 4, -1]), value=unknown, score=unknown, ownership=torch.zeros(3, 2, 2),
        weight=torch.ones(3),
    )  # fmt: skip
    expected = -torch.log_softmax(logits[0], 0)[2]
    torch.testing.assert_close(policy_loss(logits, batch), expected)
    shares = torch.tensor([[0.0, 0, 0.5, 0, 0.5], [0, 0, 0, 0, 1], [0.0] * 5])
    torch.testing.assert_close(policy_loss(logits, batch._replace(target=shares)), expected)


def test_a_scalar_value_has_a_squared_error() -> None:
    batch = TensorBatch(
        planes=torch.zeros(3, 1, 2, 2), scalars=torch.zeros(3, 1), mask=torch.ones(3, 2, 2),
        policy=torch.tensor([0, 0, 0]), value=torch.tensor([1.0, -0.5, float("nan")]), score=torch.zeros(3),
        ownership=torch.zeros(3, 2, 2), weight=torch.tensor([1.0, 3.0, 5.0]),
    )  # fmt: skip
    assert value_loss(torch.tensor([0.5, 0.5, 0.9]), batch).item() == pytest.approx((0.25 + 3 * 1.0) / 4)


def test_one_logit_has_the_cross_entropy_of_a_win() -> None:
    batch = TensorBatch(
        planes=torch.zeros(4, 1, 2, 2), scalars=torch.zeros(4, 1), mask=torch.ones(4, 2, 2),
        policy=torch.zeros(4, dtype=torch.long), value=torch.tensor([1.0, -1.0, 0.0, float("nan")]),
        score=torch.zeros(4), ownership=torch.zeros(4, 2, 2), weight=torch.ones(4),
    )  # fmt: skip
    logits = torch.tensor([[2.0], [2.0], [-1.0], [9.0]])
    win, draw = 1 / (1 + math.exp(-2)), 1 / (1 + math.exp(1))
    expected = -(math.log(win) + math.log(1 - win) + 0.5 * math.log(draw) + 0.5 * math.log(1 - draw)) / 3
    assert value_loss(logits, batch).item() == pytest.approx(expected, rel=1e-5)
    found = expected_result(logits)
    torch.testing.assert_close(found[:3], torch.tensor([2 * win - 1, 2 * win - 1, 2 * draw - 1]))
