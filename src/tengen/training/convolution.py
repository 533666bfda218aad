"""Convolutions of a training step by Winograd's algorithm, for processors that multiply in float32 alone.

PyTorch computes the plain sum there, at nearly the peak of the processor. Winograd's algorithm has a quarter of its
multiplications (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015), both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tengen import _native

LEAST_CHANNELS = 16
"""Of fewer inputs or outputs the transforms cost more than they save."""
_LAST = torch.channels_last


def accelerate(network: nn.Module) -> int:
    """Let the convolutions of a network that fit train by Winograd's algorithm; returns their number.

    They are those of 3x3 and 5x5 that keep the size of the board. Without gradients, as in a validation or an export,
    they stay PyTorch's.
    """
    fitting = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d) and _fits(layer)]
    for layer in fitting:
        layer._conv_forward = partial(_forward, layer._conv_forward)  # type: ignore[method-assign]
    return len(fitting)


def pays() -> bool:
    """Whether this processor has the vectors that the algorithm needs, and no wider ones that serve PyTorch better."""
    return torch.backends.cpu.get_cpu_capability() == "AVX2"


def _fits(layer: nn.Conv2d) -> bool:
    rows, columns = layer.kernel_size
    plain = layer.stride == layer.dilation == (1, 1) and layer.groups == 1 and layer.padding_mode == "zeros"
    keeps = rows == columns and rows in (3, 5) and layer.padding == (rows // 2, rows // 2)
    return plain and keeps and min(layer.in_channels, layer.out_channels) >= LEAST_CHANNELS


def _forward(plain: Callable[..., Tensor], x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if not torch.is_grad_enabled() or torch.onnx.is_in_onnx_export() or _filled(weight.shape[2], *x.shape[2:]) < 0.5:
        return plain(x, weight, bias)
    found: Tensor = _Convolution.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return found


def _filled(kernel: int, rows: int, columns: int) -> float:
    """The share of the results of the tiles, 4x4 of a kernel of 3 and 2x2 of one of 5, that lie on the board."""
    edge = 7 - kernel
    return rows * columns / (-(-rows // edge) * -(-columns // edge) * edge**2)


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        x = x.contiguous(memory_format=_LAST)
        ctx.save_for_backward(x, weight)
        return _convolved(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        gradient = gradient.contiguous(memory_format=_LAST)
        of_input = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:  # a convolution with the kernel turned by half
            of_input = _convolved(gradient, weight.flip(2, 3).transpose(0, 1))
        if ctx.needs_input_grad[1]:
            parts = list(zip(_parts(x), _parts(gradient), strict=True))
            sums = np.empty((len(parts), *weight.shape), np.float32)
            _side_by_side(
                [
                    partial(_native.winograd_weight_gradient, *pair, into, channels_last=True)
                    for pair, into in zip(parts, sums, strict=True)
                ]
            )
            of_weight = torch.from_numpy(sums.sum(0))
        if ctx.needs_input_grad[2]:
            of_bias = gradient.sum((0, 2, 3))
        return of_input, of_weight, of_bias


def _convolved(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    added = np.zeros(len(weight), np.float32) if bias is None else bias.detach().numpy()
    kernel = _native.Winograd(weight.detach().contiguous().numpy(), added)
    out = torch.empty((len(x), len(weight), *x.shape[2:]), memory_format=_LAST)
    pairs = zip(_parts(x), _parts(out), strict=True)
    _side_by_side([partial(kernel.run, *pair, None, False, channels_last=True) for pair in pairs])
    return out


def _parts(images: Tensor) -> list[NDArray[np.float32]]:
    """The rows of images [N, C, H, W] with channels last, as [rows, H, W, C], divided between the threads."""
    rows = images.detach().permute(0, 2, 3, 1).numpy()
    return np.array_split(rows, min(len(rows), torch.get_num_threads()))


def _side_by_side(calls: list[Callable[[], None]]) -> None:
    if len(calls) == 1:
        calls[0]()
    else:
        list(_threads(len(calls)).map(lambda call: call(), calls))


@cache
def _threads(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, "convolution")
