"""Convolutions by Winograd's algorithm against those of PyTorch, values and gradients."""

from __future__ import annotations

import io
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from tengen import _native
from tengen.networks.blocks import ScaledConv2d
from tengen.training import convolution
from tengen.training.convolution import accelerate

Precision = Literal["f32", "bf16"]


def both(layer: nn.Conv2d, images: Tensor, precision: Precision = "f32") -> list[list[Tensor]]:
    """[output, gradients of the input, of the weights ...] of a layer, plain and accelerated."""
    found = []
    for _ in range(2):
        x = images.clone().requires_grad_()
        out = layer(x)
        out.square().sum().backward()
        found.append(
            [out.detach(), x.grad, *(each.grad.clone() for each in layer.parameters() if each.grad is not None)]
        )
        layer.zero_grad()
        assert accelerate(layer, precision) == 1
    return found


@pytest.mark.parametrize(
    "inputs, outputs, kernel, size, batch, threads",
    [(16, 16, 3, 19, 3, 1), (19, 37, 3, 9, 5, 2), (40, 16, 5, 13, 2, 1), (17, 33, 5, 7, 3, 2), (24, 20, 3, 7, 1, 2)],
)
@pytest.mark.parametrize("kind", [nn.Conv2d, ScaledConv2d])
def test_values_and_gradients_are_those_of_pytorch(
    kind: type[nn.Conv2d], inputs: int, outputs: int, kernel: int, size: int, batch: int, threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    torch.manual_seed(1)
    layer = (
        ScaledConv2d(inputs, outputs, kernel)
        if kind is ScaledConv2d
        else kind(inputs, outputs, kernel, padding=kernel // 2)
    )
    plain, fast = both(layer, torch.randn(batch, inputs, size, size))
    assert len(plain) == len(fast) == 2 + len(list(layer.parameters()))
    for ours, expected in zip(fast, plain, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max()))


@pytest.mark.skipif(not _native.Winograd.available("bf16"), reason="this processor has no products of bf16")
@pytest.mark.parametrize(
    "inputs, outputs, kernel, size, batch", [(64, 64, 3, 19, 2), (67, 85, 3, 8, 1), (70, 64, 5, 9, 1)]
)
def test_products_of_bf16_are_within_the_rounding(
    inputs: int, outputs: int, kernel: int, size: int, batch: int
) -> None:
    torch.manual_seed(1)
    layer = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2)
    plain, fast = both(layer, torch.randn(batch, inputs, size, size), "bf16")
    for ours, expected in zip(fast, plain, strict=True):
        assert 1e-4 < (ours - expected).std() / expected.std() < 0.02


@pytest.mark.parametrize("precision, result", [("f32", torch.float32), ("bf16", torch.bfloat16)])
def test_under_autocast_results_have_the_precision_and_small_boards_are_pytorchs(
    precision: Precision, result: torch.dtype
) -> None:
    if not _native.Winograd.available(precision):
        pytest.skip("this processor has no products of bf16")
    layer = nn.Conv2d(64, 64, 3, padding=1)
    accelerate(layer, precision)
    with torch.autocast("cpu", torch.bfloat16):
        images = torch.randn(2, 64, 19, 19, requires_grad=True).bfloat16()
        out = layer(images)
        small = layer(torch.randn(2, 64, 5, 5))
    out.float().sum().backward()
    assert (out.dtype, small.dtype) == (result, torch.bfloat16)
    assert layer.weight.grad is not None and layer.weight.grad.dtype == torch.float32


def test_only_convolutions_that_fit() -> None:
    fitting = nn.Conv2d(16, 16, 3, padding=1)
    others = [
        nn.Conv2d(16, 16, 3),
        nn.Conv2d(16, 16, 1),
        nn.Conv2d(16, 16, 3, padding=1, groups=16),
        nn.Conv2d(16, 16, 3, padding=1, stride=2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.Conv2d(16, 16, 7, padding=3),
    ]
    assert accelerate(nn.Sequential(fitting, *others)) == 1 and "_conv_forward" in vars(fitting)


def test_without_gradients_and_in_an_export_it_is_pytorchs(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = nn.Conv2d(16, 16, 3, padding=1)
    accelerate(layer)
    monkeypatch.setattr(convolution, "_convolved", lambda *_: pytest.fail("by Winograd's algorithm"))
    with torch.no_grad():
        layer(torch.randn(1, 16, 7, 7))
    layer(torch.randn(1, 16, 5, 5, requires_grad=True))  # 25 of the 64 points of its tiles
    torch.onnx.export(layer, (torch.randn(1, 16, 7, 7),), io.BytesIO(), dynamo=False)
