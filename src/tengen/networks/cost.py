"""What a network costs: parameters, and multiplications for one position."""

import torch
from torch import nn


def parameter_count(module: nn.Module) -> int:
    """Number of trained numbers."""
    return sum(parameter.numel() for parameter in module.parameters())


def mac_count(module: nn.Module, planes: int, scalars: int, edge: int = 19) -> int:
    """Multiply-accumulates of a forward pass of one position on a board of `edge`: convolutions and linear layers."""
    total = 0

    def count(layer: nn.Module, _inputs: object, output: torch.Tensor) -> None:
        nonlocal total
        if isinstance(layer, nn.Conv2d):
            total += layer.weight.numel() * output.shape[-2] * output.shape[-1]
        elif isinstance(layer, nn.Linear):
            total += layer.weight.numel()

    hooks = [
        layer.register_forward_hook(count) for layer in module.modules() if isinstance(layer, nn.Conv2d | nn.Linear)
    ]
    try:
        with torch.no_grad():
            module(torch.zeros(1, planes, edge, edge), torch.zeros(1, scalars), torch.ones(1, edge, edge))
    finally:
        for hook in hooks:
            hook.remove()
    return total
