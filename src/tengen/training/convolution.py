"""Convolutions of a training step by Winograd's algorithm, in f32, and in bf16 on processors without AMX.

PyTorch computes the plain sum there, at nearly the peak of the processor. Winograd's algorithm has a quarter of its
multiplications (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015), both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tengen import _native
from tengen.evaluators.layout import native_layers

MIN_CHANNELS = {"f32": (16, 16), "bf16": (16, 64)}
"""The fewest channels of the smaller and of the larger side, inputs or outputs. Of fewer the transforms cost more than
they save: in bf16 on 19x19 a network of 32 channels trains at 1.0 times the speed of PyTorch's, one of 64 at 1.2, one
of 96 at 1.4 times."""
MIN_FILLED = {"f32": 0.5, "bf16": 0.7}
"""The smallest share of the results of the tiles that lies on the board."""
_LAST = torch.channels_last
_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def accelerate(network: nn.Module, precision: Literal["f32", "bf16"] = "f32") -> int:
    """Let the convolutions of a network that fit train by Winograd's algorithm; returns their number.

    They are those of 3x3 and 5x5 that keep the size of the board. They multiply in `precision` and give results in it,
    as PyTorch's do under autocast: a step waits for its memory, and bf16 has half of the bytes. Without gradients, as
    in a validation or an export, they stay PyTorch's.
    """
    fitting = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d) and _fits(layer, precision)]
    for layer in fitting:
        layer._conv_forward = partial(_forward, layer._conv_forward, precision)  # type: ignore[method-assign]
    return len(fitting)


def pays(precision: Literal["f32", "bf16"]) -> bool:
    """Whether the processor trains faster so: not without vectors of AVX2, and not in bf16 with matrix units (AMX)."""
    return "convolutions" in native_layers(precision) and _native.Winograd.available(precision) != ["plain"]


def _fits(layer: nn.Conv2d, precision: Literal["f32", "bf16"]) -> bool:
    rows, columns = layer.kernel_size
    plain = layer.stride == layer.dilation == (1, 1) and layer.groups == 1 and layer.padding_mode == "zeros"
    keeps = rows == columns and rows in (3, 5) and layer.padding == (rows // 2, rows // 2)
    smaller, larger = sorted((layer.in_channels, layer.out_channels))
    min_smaller, min_larger = MIN_CHANNELS[precision]
    return plain and keeps and smaller >= min_smaller and larger >= min_larger


def _forward(
    plain: Callable[..., Tensor], precision: Literal["f32", "bf16"], x: Tensor, weight: Tensor, bias: Tensor | None
) -> Tensor:
    if (
        not torch.is_grad_enabled()
        or torch.onnx.is_in_onnx_export()
        or (_filled(weight.shape[2], *x.shape[2:]) < MIN_FILLED[precision])
    ):
        return plain(x, weight, bias)
    x = x.to(_TYPES[precision])
    floats = (None if each is None else each.float() for each in (weight, bias))  # under autocast they may be bf16
    found: Tensor = _Convolution.apply(x, *floats)  # type: ignore[no-untyped-call]
    return found


def _filled(kernel: int, rows: int, columns: int) -> float:
    """The share of the results of the tiles, 4x4 of a kernel of 3 and 2x2 of one of 5, that lie on the board."""
    edge = 7 - kernel
    return rows * columns / (-(-rows // edge) * -(-columns // edge) * edge**2)


class _Convolution(torch.autograd.Function):
    """The convolution of images in float32 or bf16, which is also the precision of the products."""

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
            whole = partial(_native.winograd_weight_gradient, channels_last=True)
            of_part = _native.winograd_weight_gradient_bf16 if _is_bf16(x) else whole
            _side_by_side([partial(of_part, *pair, into) for pair, into in zip(parts, sums, strict=True)])
            of_weight = torch.from_numpy(sums.sum(0))
        if ctx.needs_input_grad[2]:
            of_bias = gradient.sum((0, 2, 3), dtype=torch.float32)
        return of_input, of_weight, of_bias


def _convolved(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    added = np.zeros(len(weight), np.float32) if bias is None else bias.detach().numpy()
    kernel = _native.Winograd(weight.detach().contiguous().numpy(), added, "bf16" if _is_bf16(x) else "f32")
    out = torch.empty((len(x), len(weight), *x.shape[2:]), dtype=x.dtype, memory_format=_LAST)
    whole = partial(kernel.run, residual=None, relu=False, channels_last=True)
    of_part = kernel.run_bf16 if _is_bf16(x) else whole
    _side_by_side([partial(of_part, *pair) for pair in zip(_parts(x), _parts(out), strict=True)])
    return out


def _is_bf16(images: Tensor) -> bool:
    return images.dtype == torch.bfloat16


def _parts(images: Tensor) -> list[NDArray[Any]]:
    """The rows of images [N, C, H, W] with channels last, as [rows, H, W, C], divided between the threads.

    Numbers of bf16 are uint16 there: NumPy does not have them.
    """
    rows = images.detach().permute(0, 2, 3, 1)
    array = (rows.view(torch.uint16) if _is_bf16(images) else rows).numpy()
    return np.array_split(array, min(len(array), torch.get_num_threads()))


def _side_by_side(calls: list[Callable[[], None]]) -> None:
    if len(calls) == 1:
        calls[0]()
    else:
        list(_threads(len(calls)).map(lambda call: call(), calls))


@cache
def _threads(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, "convolution")
