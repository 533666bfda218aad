"""Muon against the singular value decomposition, its Adam against PyTorch's, and that every optimiser learns."""

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from torch import nn  # noqa: E402

from tengen.training.config import OptimizerConfig  # noqa: E402
from tengen.training.optimizers import Muon, make_optimizer, orthogonalize, split_parameters  # noqa: E402


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


@pytest.mark.parametrize("name", ["muon", "adamw", "sgd"])
def test_every_optimizer_lowers_a_loss(name: str) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
    x = torch.randn(16, 3, 5, 5)
    y = x.sum(1, keepdim=True).abs()
    optimizer = make_optimizer(module, OptimizerConfig(name=name, lr=0.02, lr_rest=0.02, momentum=0.9))
    first = None
    for _ in range(60):
        loss = (module(x) - y).square().mean()
        first = loss.item() if first is None else first
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert first is not None and loss.item() < 0.4 * first


def test_state_survives_saving() -> None:
    module = Small()
    optimizer = make_optimizer(module, OptimizerConfig())
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    other = make_optimizer(module, OptimizerConfig())
    other.load_state_dict(optimizer.state_dict())
    assert [g["rule"] for g in other.param_groups] == ["muon", "adam"]
    states = zip(optimizer.state.values(), other.state.values(), strict=True)
    assert all(str(a) == str(b) for a, b in states)
