"""Device, threads, precision and processes of a training run, as Lightning Fabric takes them."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import torch
from lightning_fabric import Fabric
from lightning_fabric.plugins import MixedPrecision

from tengen.errors import RecipeError
from tengen.machine import core_count
from tengen.training.config import TrainerConfig, TrainerPrecision
from tengen.training.ranks import ALONE, Environment, Rank, ddp


def uses_gpu(device: str) -> bool:
    """Whether training on `device` (auto, cpu or cuda) is on a GPU; auto is the GPU where there is one."""
    return device != "cpu" and torch.cuda.is_available()


def check_devices(config: TrainerConfig) -> None:
    """Raise RecipeError for devices that are not there."""
    gpu = uses_gpu(config.device)
    if config.device == "cuda" and not gpu:
        raise RecipeError("device is cuda, but PyTorch finds no GPU on this machine: give auto or cpu")
    there, what = (torch.cuda.device_count(), "GPUs") if gpu else (core_count(), "processor cores for a process each")
    if config.devices > max(1, there):
        raise RecipeError(f"devices is {config.devices}, but this machine has {there} {what}")


def set_threads(config: TrainerConfig) -> None:
    """Set the threads of PyTorch; by default the processes on a CPU share its cores."""
    threads = config.threads
    if config.devices > 1 and not uses_gpu(config.device):
        threads = threads or max(1, min(torch.get_num_threads(), core_count() // config.devices))
    if threads:
        torch.set_num_threads(threads)


def make_fabric(config: TrainerConfig, rank: Rank = ALONE) -> Fabric:
    """Device and precision of a run; with several ranks it returns when all have met.

    Raises RecipeError for a device that is not there.
    """
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="lightning_fabric")
    check_devices(config)
    half = in_bf16(config.precision, config.device)
    accelerator = "cuda" if uses_gpu(config.device) else "cpu"  # Fabric's own choice may be Apple's GPU: it has no f64
    plugins: list[Any] = [_Autocast("bf16-mixed", accelerator)] if half else []
    if rank.ranks == 1:
        return Fabric(accelerator=accelerator, devices=1, plugins=plugins)
    fabric = Fabric(accelerator=accelerator, devices=rank.ranks, strategy=ddp(), plugins=[*plugins, Environment(rank)])
    if rank.ready is not None:
        rank.ready()
    fabric.launch()
    return fabric


class _Autocast(MixedPrecision):
    """Autocast to bf16 that leaves the inputs in float32: in bf16 the points of a 19x19 mask would add up to 360."""

    def convert_input(self, data: Any) -> Any:
        return data


def in_bf16(precision: TrainerPrecision, device: str) -> bool:
    """Whether to multiply in bf16: where asked for, and with auto where the processor has instructions for it.

    Without them bf16 costs time: a b2c32 trained 9 times slower than in f32 with oneDNN held to AVX2, and half as fast
    with it held to AVX-512 without bf16. `device` is auto, cpu or cuda; auto is the GPU where there is one.
    """
    return precision == "bf16" or (precision == "auto" and _has_bf16(device))


def _has_bf16(device: str) -> bool:
    if uses_gpu(device):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    native = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return native is not None and bool(native())
