"""The optimizers by name, and Muon: momentum whose matrices are made nearly orthogonal before they are applied."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adadelta, Adagrad, Adam, AdamW, Optimizer

from tengen.errors import RecipeError
from tengen.plugins import Registry, described
from tengen.training.config import OptimizerConfig

_QUINTIC = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5  # of Newton-Schulz
_NO_OPTIONS = ("lr", "weight_decay")  # of an optimizer of Tengen: all groups of parameters have their own


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

    def __init__(
        self,
        groups: Iterable[dict[str, Any]],
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.99),
        eps: float = 1e-8,
    ) -> None:
        _check_betas(betas)
        if not (isinstance(eps, int | float) and eps >= 0):
            raise ValueError(f"eps is a number of 0 or more, not {eps!r}")
        defaults = {"lr": 0.02, "weight_decay": 0.0, "momentum": momentum, "betas": betas, "eps": eps}
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update; a closure is called first, with gradients on, and its result returned."""
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if parameters:
                update = self._muon if group["rule"] == "muon" else self._adam
                update(parameters, [parameter.grad for parameter in parameters], group)
        return result

    def _muon(self, parameters: list[Tensor], gradients: list[Tensor], group: dict[str, Any]) -> None:
        for parameter in parameters:
            if not self.state[parameter]:
                self.state[parameter]["momentum"] = torch.zeros_like(parameter)
        momenta = [self.state[parameter]["momentum"] for parameter in parameters]
        torch._foreach_mul_(momenta, group["momentum"])
        torch._foreach_add_(momenta, gradients)
        directions = torch._foreach_add(gradients, momenta, alpha=group["momentum"])
        if group["weight_decay"]:
            torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        # Matrices of one shape at once: on small networks the calls take longer than the arithmetic.
        shapes: dict[torch.Size, list[int]] = {}
        for index, direction in enumerate(directions):
            shapes.setdefault(direction.flatten(1).shape, []).append(index)
        for (rows, columns), chosen in shapes.items():
            updates = orthogonalize(torch.stack([directions[index].flatten(1) for index in chosen]))
            length = group["lr"] * math.sqrt(max(1.0, rows / columns))
            for index, update in zip(chosen, updates, strict=True):
                parameters[index].add_(update.view(parameters[index].shape), alpha=-length)

    def _adam(self, parameters: list[Tensor], gradients: list[Tensor], group: dict[str, Any]) -> None:
        first, second = group["betas"]
        lengths = []
        for parameter in parameters:
            state = self.state[parameter]
            if not state:
                state["step"] = 0
                state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
            state["step"] += 1
            lengths.append(-group["lr"] * math.sqrt(1 - second ** state["step"]) / (1 - first ** state["step"]))
        means, squares = ([self.state[parameter][name] for parameter in parameters] for name in ("mean", "square"))
        torch._foreach_lerp_(means, gradients, 1 - first)
        torch._foreach_lerp_(squares, torch._foreach_mul(gradients, gradients), 1 - second)
        spreads = torch._foreach_sqrt(squares)
        torch._foreach_add_(spreads, group["eps"])
        if group["weight_decay"]:
            torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_addcdiv_(parameters, means, spreads, lengths)


def orthogonalize(matrices: Tensor) -> Tensor:
    """Matrices [..., rows, columns] with the same singular vectors, singular values near 1 (Newton-Schulz iteration).

    The coefficients are Jordan's: fastest growth of small singular values, at the price of an end between 0.7 and 1.2.
    """
    a, b, c = _QUINTIC
    tall = matrices.shape[-2] > matrices.shape[-1]
    wide = (matrices.mT if tall else matrices).float()
    x = (wide / (torch.linalg.matrix_norm(wide, keepdim=True) + 1e-7)).reshape(-1, *wide.shape[-2:])
    for _ in range(_ITERATIONS):
        gram = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    result: Tensor = x.view(wide.shape)
    return result.mT if tall else result


def _groups(network: nn.Module, config: OptimizerConfig, lr_rest: float) -> list[dict[str, Any]]:
    """The matrices of `split_parameters` with weight decay, then all other parameters, those that decay apart from the
    rest."""
    for name in _NO_OPTIONS:
        if name in config.options:
            raise ValueError(f"{name} has no effect in the options: give optimizer.{name}")
    matrices, rest = split_parameters(network)
    kernels = _kernels(network, config)
    decayed = [p for p in rest if config.decayed == "all" or id(p) in kernels]
    inside = {id(p) for p in decayed}
    groups = [
        {"params": matrices, "lr": config.lr, "weight_decay": config.weight_decay},
        {"params": [p for p in rest if id(p) not in inside], "lr": lr_rest, "weight_decay": 0.0},
    ]
    return groups + [{"params": decayed, "lr": lr_rest, "weight_decay": config.weight_decay}] * bool(decayed)


def _kernels(network: nn.Module, config: OptimizerConfig) -> set[int]:
    """The weights of layers that decay, by `id`: of convolutions, with `decayed: kernels` of dense layers too."""
    kinds = nn.Conv2d if config.decayed == "filters" else nn.Conv2d | nn.Linear
    # Not by their shape: the slopes, gains and shifts of channels and the biases of points have several axes too.
    return {id(layer.weight) for layer in network.modules() if isinstance(layer, kinds)}


def _muon(network: nn.Module, config: OptimizerConfig) -> Optimizer:
    matrices, *rest = _groups(network, config, config.lr_rest)
    groups = [{**matrices, "rule": "muon"}, *({**group, "rule": "adam"} for group in rest)]
    return Muon(groups, momentum=config.momentum, **config.options)


def _sgd(network: nn.Module, config: OptimizerConfig) -> Optimizer:
    nesterov = config.nesterov and config.momentum > 0
    groups = _groups(network, config, config.lr)
    return SGD(groups, lr=config.lr, momentum=config.momentum, nesterov=nesterov, **config.options)


def _of_torch(kind: Callable[..., Optimizer], **defaults: Any) -> "Maker":
    """A class of torch.optim, with settings where they differ from its own."""

    def make(network: nn.Module, config: OptimizerConfig) -> Optimizer:
        options = {**defaults, **config.options}
        if "betas" in options:
            _check_betas(options["betas"])
        return kind(_groups(network, config, config.lr), **options)

    return make


def _check_betas(betas: Any) -> None:
    """PyTorch takes any number of them, and fails at the first step."""
    if not (isinstance(betas, Sequence) and len(betas) == 2 and all(0 <= beta < 1 for beta in betas)):
        raise ValueError(f"betas are two numbers from 0 to below 1, not {betas!r}")


Maker = Callable[[nn.Module, OptimizerConfig], Optimizer]

OWN: dict[str, Maker] = {
    "muon": _muon,
    "sgd": _sgd,
    "adagrad": _of_torch(Adagrad),
    "adadelta": _of_torch(Adadelta, rho=0.95),  # Zeiler 2012; 0.9 in PyTorch
    "adam": _of_torch(Adam),
    "adamw": _of_torch(AdamW, betas=(0.9, 0.99)),
}
"""The optimizers that come with Tengen."""

OPTIMIZERS: Registry[Maker] = Registry("optimizer", "tengen.optimizers", OWN, RecipeError)
"""Every optimizer that `optimizer.name` may name: functions of (network, configuration)."""


def check_optimizer(config: OptimizerConfig) -> None:
    """Raise RecipeError as `make_optimizer` does, where there is no network yet. A registered optimizer may look at the
    network, so that only its name is checked."""
    if config.name in OWN:
        make_optimizer(nn.Conv2d(2, 2, 3), config)  # any network shows whether the options are known
    else:
        OPTIMIZERS[config.name]


def make_optimizer(network: nn.Module, config: OptimizerConfig) -> Optimizer:
    """The optimizer of all parameters of a network; each group's `initial_lr` is its full learning rate.

    Raises RecipeError for an unknown optimizer and for options that it does not take.
    """
    maker = OPTIMIZERS[config.name]
    try:
        optimizer = maker(network, config)
    except (TypeError, ValueError) as error:
        raise RecipeError(f"optimizer {config.name}: {error} (options: {config.options})") from error
    if not isinstance(optimizer, Optimizer):
        raise RecipeError(f"optimizer {config.name} makes {described(optimizer)}, no torch.optim.Optimizer")
    for group in optimizer.param_groups:
        group.setdefault("initial_lr", group["lr"])
    return optimizer
