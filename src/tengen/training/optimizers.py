"""Optimisers by name, and Muon: momentum whose every matrix is made nearly orthogonal before it is applied."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, AdamW, Optimizer

from tengen.training.config import OptimizerConfig

_QUINTIC = (3.4445, -4.7750, 2.0315)


def make_optimizer(module: nn.Module, config: OptimizerConfig) -> Optimizer:
    """An optimiser for all parameters of a network; each group's `initial_lr` is its full learning rate."""
    matrices, rest = split_parameters(module)
    groups: list[dict[str, Any]] = [
        {"params": matrices, "lr": config.lr, "weight_decay": config.weight_decay},
        {"params": rest, "lr": config.lr_rest if config.name == "muon" else config.lr, "weight_decay": 0.0},
    ]
    for group in groups:
        group["initial_lr"] = group["lr"]
    if config.name == "muon":
        groups[0]["rule"], groups[1]["rule"] = "muon", "adam"
        return Muon(groups, momentum=config.momentum)
    if config.name == "adamw":
        return AdamW(groups, betas=(0.9, 0.99))
    return SGD(groups, lr=config.lr, momentum=config.momentum, nesterov=True)


def split_parameters(module: nn.Module) -> tuple[list[Tensor], list[Tensor]]:
    """(the filters of convolutions, all other parameters).

    Left out are linear layers, whose inputs are pooled features of very different sizes, and a filter of a single
    output, which is a direction and no matrix.
    """
    trained = [p for p in module.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.ndim == 4 and p.shape[0] > 1 and p[0].numel() > 1]
    inside = {id(p) for p in matrices}
    return list(matrices), [p for p in trained if id(p) not in inside]


class Muon(Optimizer):
    """Muon for groups whose `rule` is muon, AdamW for groups whose `rule` is adam.

    A convolution [out, in, h, w] counts as a matrix [out, in * h * w]. The update of a matrix is its Nesterov momentum
    with all singular values pushed towards 1, times sqrt(max(1, rows / columns)) (K. Jordan and others, 2024).
    """

    def __init__(self, groups: Iterable[dict[str, Any]], momentum: float = 0.95) -> None:
        defaults = {"lr": 0.02, "weight_decay": 0.0, "momentum": momentum, "betas": (0.9, 0.99), "eps": 1e-8}
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update; a closure is called first, with gradients on, and its result returned."""
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        for group in self.param_groups:
            update = self._muon if group["rule"] == "muon" else self._adam
            for parameter in group["params"]:
                if parameter.grad is not None:
                    update(parameter, group)
        return result

    def _muon(self, parameter: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        momentum = state["momentum"].mul_(group["momentum"]).add_(parameter.grad)
        direction = parameter.grad.add(momentum, alpha=group["momentum"])  # type: ignore[union-attr]
        matrix = orthogonalize(direction.flatten(1))
        scale = math.sqrt(max(1.0, matrix.shape[0] / matrix.shape[1]))
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        parameter.add_(matrix.view(parameter.shape), alpha=-group["lr"] * scale)

    def _adam(self, parameter: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = 0
            state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        state["step"] += 1
        first, second = group["betas"]
        mean = state["mean"].lerp_(parameter.grad, 1 - first)
        square = state["square"].lerp_(parameter.grad.square(), 1 - second)  # type: ignore[union-attr]
        bias = math.sqrt(1 - second ** state["step"]) / (1 - first ** state["step"])
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        parameter.addcdiv_(mean, square.sqrt().add_(group["eps"]), value=-group["lr"] * bias)


def orthogonalize(matrix: Tensor, iterations: int = 5) -> Tensor:
    """A matrix [rows, columns] with the same singular vectors and singular values near 1 (Newton-Schulz iteration).

    The coefficients are Jordan's: fastest growth of small singular values, at the price of an end between 0.7 and 1.2.
    """
    a, b, c = _QUINTIC
    tall = matrix.shape[0] > matrix.shape[1]
    x: Tensor = (matrix.T if tall else matrix).float()
    x = x / (x.norm() + 1e-7)
    for _ in range(iterations):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x
