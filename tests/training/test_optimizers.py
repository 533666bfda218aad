"""Muon against the singular value decomposition, the others against their formulas, and that every one learns."""

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from torch import nn  # noqa: E402
from torch.optim import SGD, Optimizer  # noqa: E402

from tengen.errors import RecipeError  # noqa: E402
from tengen.networks import build, parse_config  # noqa: E402
from tengen.training.config import OptimizerConfig  # noqa: E402
from tengen.training.optimizers import (  # noqa: E402
    OPTIMIZERS,
    Muon,
    check_optimizer,
    make_optimizer,
    orthogonalize,
    split_parameters,
)

RATES = {"muon": 0.02, "adamw": 0.02, "sgd": 0.02, "adam": 0.02, "adagrad": 0.1, "adadelta": 5.0}


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.point, self.mix = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 1, 1), nn.Linear(4, 4)


@pytest.mark.parametrize("shape", [(12, 40), (40, 12), (16, 16)])
def test_orthogonalize_keeps_directions_and_evens_out_sizes(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    matrix = torch.randn(shape) @ torch.diag(torch.logspace(0, -1, shape[1]))
    u, _, vh = torch.linalg.svd(matrix, full_matrices=False)
    inside = u.T @ orthogonalize(matrix) @ vh.T
    assert inside.diagonal().min() > 0.3
    assert inside.diagonal().max() < 1.3
    assert (inside - torch.diag(inside.diagonal())).abs().max() < 0.05


def test_many_matrices_at_once_are_as_one_by_one() -> None:
    torch.manual_seed(0)
    for shape in ((5, 12, 40), (2, 3, 40, 12)):
        matrices = torch.randn(shape)
        together = orthogonalize(matrices).flatten(0, -3)
        alone = torch.stack([orthogonalize(matrix) for matrix in matrices.flatten(0, -3)])
        torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)


def test_muon_of_mixed_shapes_is_the_published_update() -> None:
    """Two steps by the formula, a parameter at a time, with one that has no gradient left alone."""
    torch.manual_seed(0)
    shapes = [(16, 4, 3, 3), (8, 16, 1, 1), (16, 4, 3, 3), (16, 8, 1, 1)]
    weights = [nn.Parameter(torch.randn(shape)) for shape in shapes]
    idle = nn.Parameter(torch.ones(16, 4, 3, 3))
    expected, momenta = [w.detach().clone() for w in weights], [torch.zeros(shape) for shape in shapes]
    muon = Muon([{"params": [*weights, idle], "lr": 0.1, "weight_decay": 0.2, "rule": "muon"}], momentum=0.9)
    for _ in range(2):
        for index, weight in enumerate(weights):
            weight.grad = torch.randn_like(weight)
            momenta[index] = 0.9 * momenta[index] + weight.grad
            matrix = orthogonalize((weight.grad + 0.9 * momenta[index]).flatten(1))
            scale = max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5
            expected[index] = expected[index] * (1 - 0.1 * 0.2) - 0.1 * scale * matrix.view(weight.shape)
        muon.step()
    for weight, wanted in zip(weights, expected, strict=True):
        torch.testing.assert_close(weight.detach(), wanted, rtol=1e-4, atol=1e-5)
    assert torch.equal(idle.detach(), torch.ones(16, 4, 3, 3))


def test_parameters_are_split_without_loss() -> None:
    module = Small()
    matrices, rest = split_parameters(module)
    assert [tuple(p.shape) for p in matrices] == [(8, 3, 3, 3)]
    assert {id(p) for p in [*matrices, *rest]} == {id(p) for p in module.parameters()}


def test_the_rest_follows_adam() -> None:
    torch.manual_seed(0)
    ours, theirs = nn.Parameter(torch.randn(5)), nn.Parameter(torch.zeros(5))
    theirs.data.copy_(ours.data)
    muon = Muon([{"params": [ours], "lr": 0.05, "weight_decay": 0.1, "rule": "adam"}])
    adam = torch.optim.AdamW([theirs], lr=0.05, weight_decay=0.1, betas=(0.9, 0.99))
    for step in range(30):
        for parameter in (ours, theirs):
            parameter.grad = torch.sin(parameter.detach() * 3 + step)
        muon.step()
        adam.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_step_of_muon_has_the_length_of_the_rate() -> None:
    weight = nn.Parameter(torch.zeros(16, 4, 3, 3))
    muon = Muon([{"params": [weight], "lr": 0.1, "weight_decay": 0.0, "rule": "muon"}])
    weight.grad = 1000 * torch.randn_like(weight)
    muon.step()
    singular = torch.linalg.svdvals(weight.detach().flatten(1))
    assert 0.04 < singular.min() < singular.max() < 0.13


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_every_optimizer_lowers_a_loss(name: str) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
    x = torch.randn(16, 3, 5, 5)
    y = x.sum(1, keepdim=True).abs()
    optimizer = make_optimizer(module, OptimizerConfig(name=name, lr=RATES[name], lr_rest=0.02, momentum=0.9))
    first = None
    for _ in range(60):
        loss = (module(x) - y).square().mean()
        first = loss.item() if first is None else first
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert first is not None and loss.item() < 0.4 * first


def rule(name: str, w: float, gradients: list[float]) -> float:
    """One weight after these gradients, by the formula of each paper, with an L2 penalty of 0.1 / 2 * w^2."""
    m = v = u = 0.0
    for t, gradient in enumerate(gradients, 1):
        g = gradient + 0.1 * w
        if name == "sgd":
            w -= 0.5 * g
        elif name == "momentum":
            m = 0.9 * m + g
            w -= 0.5 * m
        elif name == "nesterov":
            m = 0.9 * m + g
            w -= 0.5 * (g + 0.9 * m)
        elif name == "adagrad":
            v += g * g
            w -= 0.5 * g / (math.sqrt(v) + 1e-10)
        elif name == "adadelta":
            v = 0.95 * v + 0.05 * g * g
            step = math.sqrt(u + 1e-6) / math.sqrt(v + 1e-6) * g
            u = 0.95 * u + 0.05 * step * step
            w -= 0.5 * step
        else:
            g = g if name == "adam" else gradient
            first, second = (0.9, 0.999) if name == "adam" else (0.9, 0.99)
            w *= 1 if name == "adam" else 1 - 0.5 * 0.1
            m, v = first * m + (1 - first) * g, second * v + (1 - second) * g * g
            w -= 0.5 * (m / (1 - first**t)) / (math.sqrt(v / (1 - second**t)) + 1e-8)
    return w


@pytest.mark.parametrize("name", ["sgd", "momentum", "nesterov", "adagrad", "adadelta", "adam", "adamw"])
def test_optimizers_follow_their_papers(name: str) -> None:
    """Every weight of a filter starts at 1 and gets the same gradients; parameters that do not decay are left out."""
    settings: dict[str, Any] = {"name": name, "lr": 0.5, "weight_decay": 0.1}
    if name in ("sgd", "momentum", "nesterov"):
        settings |= {"name": "sgd", "momentum": 0 if name == "sgd" else 0.9, "nesterov": name == "nesterov"}
    module = nn.Conv2d(3, 4, 3, bias=False)
    nn.init.ones_(module.weight)
    optimizer = make_optimizer(module, OptimizerConfig(**settings))
    gradients = [0.3, -1.2, 0.7, 0.1, -0.4]
    for gradient in gradients:
        module.weight.grad = torch.full_like(module.weight, gradient)
        optimizer.step()
    expected = torch.full_like(module.weight, rule(name, 1.0, gradients))
    torch.testing.assert_close(module.weight.detach(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("decayed", "names"),
    [
        ("filters", {"conv.weight", "point.weight"}),
        ("kernels", {"conv.weight", "point.weight", "mix.weight"}),
        ("all", {"conv.weight", "point.weight", "mix.weight", "conv.bias", "point.bias", "mix.bias"}),
    ],
)
@pytest.mark.parametrize("name", ["sgd", "muon"])
def test_weight_decay_takes_the_parameters_that_it_is_for(name: str, decayed: str, names: set[str]) -> None:
    """With gradients of 0 a step changes what decays, and nothing else."""
    module = Small()
    before = {key: value.detach().clone() for key, value in module.named_parameters()}
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    config = OptimizerConfig(name=name, lr=0.1, lr_rest=0.1, momentum=0, weight_decay=0.5, decayed=decayed)
    make_optimizer(module, config).step()
    after = dict(module.named_parameters())
    assert {key for key in before if not torch.equal(before[key], after[key])} == names
    for key in names:
        torch.testing.assert_close(after[key].detach(), before[key] * 0.95)


@pytest.mark.parametrize(
    "fields",
    [
        {"family": "plain", "convs": ["3x3x4"], "activation": "prelu", "board_size": 5,
         "policy": {"kind": "conv", "bias": "point"}, "value": {"kind": "dense", "hidden": 3}},
        {"family": "residual", "size": "b2c32"},
        {"family": "cody7x7", "channels": 4, "hidden": 4},
    ],
)  # fmt: skip
def test_slopes_gains_shifts_and_biases_are_no_kernels(fields: dict[str, Any]) -> None:
    network = build(parse_config(fields), 3, 2)
    for parameter in network.parameters():
        parameter.data.add_(0.1)  # some begin at 0, which cannot decay
        parameter.grad = torch.zeros_like(parameter)
    before = {key: value.detach().clone() for key, value in network.named_parameters()}
    make_optimizer(network, OptimizerConfig(name="sgd", lr=0.1, weight_decay=0.5, decayed="kernels")).step()
    moved = {key for key, value in network.named_parameters() if not torch.equal(before[key], value)}
    layers = dict(network.named_modules())
    kernels = {key for key in before if key.endswith(".weight") and not isinstance(layers[key[:-7]], nn.BatchNorm2d)}
    assert moved == kernels


def test_options_reach_the_optimizer_or_are_refused() -> None:
    config = OptimizerConfig(name="adam", options={"betas": [0.5, 0.6], "eps": 0.1})
    assert make_optimizer(Small(), config).defaults["eps"] == 0.1
    wrongs = (
        *(({"rho": 0.9}, "rho"), ({"betas": [2, 0.9]}, "beta"), ({"betas": 1}, ""), ({"betas": ["a", 0]}, "")),
        *(({"betas": betas}, "two numbers") for betas in ([0.9], [0.9, 0.9, 0.9], [0.9, 1.0], [-0.1, 0.9])),
        *(({"eps": eps}, "") for eps in (-1, "small")),
    )
    for name in ("adam", "muon"):
        for wrong, message in wrongs:
            with pytest.raises(RecipeError, match=f"optimizer {name}: .*{message}"):
                make_optimizer(Small(), OptimizerConfig(name=name, options=wrong))


def test_an_optimizer_of_your_own_may_look_at_the_network(registered: Callable[..., None]) -> None:
    """So it is made of the network alone; what makes no optimizer is named."""

    def of_blocks(network: nn.Module, config: OptimizerConfig) -> Optimizer:
        return SGD(network.blocks.parameters(), lr=config.lr)  # type: ignore[operator, union-attr]

    registered(OPTIMIZERS, "of-blocks", of_blocks)
    registered(OPTIMIZERS, "nothing", lambda network, config: "sgd")
    for name in ("of-blocks", "nothing"):
        check_optimizer(OptimizerConfig(name=name))
    network = build(parse_config({"family": "residual", "size": "b1c8"}), 27, 9)
    assert len(make_optimizer(network, OptimizerConfig(name="of-blocks")).param_groups[0]["params"]) > 0
    with pytest.raises(RecipeError, match=r"optimizer nothing makes .*, no torch\.optim\.Optimizer"):
        make_optimizer(network, OptimizerConfig(name="nothing"))
    with pytest.raises(RecipeError, match=r"of-block.*did you mean of-blocks"):
        check_optimizer(OptimizerConfig(name="of-block"))


def test_state_survives_saving() -> None:
    module = Small()
    optimizer = make_optimizer(module, OptimizerConfig())
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    other = make_optimizer(module, OptimizerConfig())
    other.load_state_dict(optimizer.state_dict())
    assert [g["rule"] for g in other.param_groups] == ["muon", "adam", "adam"]
    states = zip(optimizer.state.values(), other.state.values(), strict=True)
    assert all(str(a) == str(b) for a, b in states)


@pytest.mark.parametrize("name", list(OPTIMIZERS))
@pytest.mark.parametrize("option", ["lr", "weight_decay"])
def test_rate_and_decay_are_no_options(name: str, option: str) -> None:
    """They were taken, and those of the groups of parameters went before them."""
    with pytest.raises(RecipeError, match=f"{option} has no effect in the options: give optimizer.{option}"):
        make_optimizer(Small(), OptimizerConfig(name=name, options={option: 0.1}))
