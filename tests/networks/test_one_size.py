"""A network of one board size, made fit for the others."""

import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

from torch import nn  # noqa: E402

from tengen.networks import build, parse_config  # noqa: E402
from tengen.networks.constant_inputs import fold_width  # noqa: E402
from tengen.networks.interface import NetOutput  # noqa: E402

EDGE = 13
PLANES, SCALARS = 6, 3


def network() -> nn.Module:
    torch.manual_seed(4)
    return build(
        parse_config({"family": "residual", "size": "b3c16", "reply": True, "soft": True}), PLANES, SCALARS
    ).eval()


def answer(module: nn.Module, edge: int) -> NetOutput:
    generator = torch.Generator().manual_seed(edge)
    planes = torch.rand(4, PLANES, edge, edge, generator=generator)
    scalars = torch.rand(4, SCALARS, generator=generator)
    with torch.no_grad():
        result: NetOutput = module(planes, scalars, torch.ones(4, edge, edge))
    return result


def test_nothing_changes_on_the_size_it_was_trained_on() -> None:
    module = network()
    before = answer(module, EDGE)
    fold_width(module, EDGE)
    for was, now in zip(before, answer(module, EDGE), strict=True):
        torch.testing.assert_close(now, was, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("edge", [5, 19])
def test_on_other_sizes_it_no_longer_reads_the_width(edge: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module = network()
    before = answer(module, edge)
    fold_width(module, EDGE)
    found = answer(module, edge)
    assert not torch.allclose(before.policy, found.policy, atol=1e-3)
    monkeypatch.setattr("tengen.networks.blocks.width_factor", torch.zeros_like)
    for value, without in zip(found, answer(module, edge), strict=True):
        torch.testing.assert_close(value, without)
