"""From the name of a network to an evaluator."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from tengen.errors import NetworkError, unknown_name
from tengen.evaluators.cached import CachedEvaluator
from tengen.evaluators.device_rates import fastest_device, kept_layout
from tengen.evaluators.devices import open_device
from tengen.evaluators.evaluator import BatchEvaluator, BySizeEvaluator, Evaluator, UniformEvaluator
from tengen.evaluators.installed_networks import default_by_size, find_network
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.machine import Device, Precision

Symmetry = Literal["none", "random", "average"]


def load_evaluator(
    name_or_path: str | Path = "default",
    device: Device = "auto",
    *,
    batch: int | None = None,
    threads: int = 0,
    precision: Precision = "auto",
    symmetry: Symmetry = "none",
    cache: int = 0,
    seed: int = 0,
    remember: bool = True,
    on_sizes: Mapping[int, str | Path] = MappingProxyType({}),
) -> Evaluator:
    """The evaluator of an installed network, of a network file, or `uniform`; `default` takes the networks that are
    the strongest on their board sizes.

    `device` cpu and intel-gpu run with OpenVINO, torch with PyTorch, all others with ONNX Runtime. `auto` is the CPU
    where a machine has no other device, else the fastest one for batches of `batch` positions, or of as many as a
    search takes on each, measured once a machine and network (`device_rates.fastest_device`); on the CPU it takes the
    layout that `tengen bench --tune` kept. `threads` compute, 0 means all cores. `precision` is OpenVINO's; with
    `remember` off its compiled models do not go to the user's cache folder, as for networks that live for minutes.
    `cache` is the number of positions to keep for each network, 0 none.
    `on_sizes` names other networks for boards of these sizes.
    Raises NetworkError for an unknown name, a file that is no network, an unknown device, symmetry or precision, a
    negative number of threads, a batch below 1, and for a device that is not there.
    """
    choices = ("device", device, Device), ("symmetry", symmetry, Symmetry), ("precision", precision, Precision)
    for kind, value, among in choices:
        if value not in (known := get_args(among)):
            raise NetworkError(unknown_name(kind, value, known))
    if threads < 0:
        raise NetworkError(f"{threads} threads cannot compute a network: give 0 (all cores) or more")
    if batch is not None and batch < 1:
        raise NetworkError(f"a batch of {batch} positions is impossible: give 1 or more")
    load = partial(_on_device, device=device, batch=batch, threads=threads, precision=precision, remember=remember)
    network = load(name_or_path)
    evaluator: Evaluator = network
    by_size: dict[int, str | Path] = {**default_by_size(name_or_path), **on_sizes}
    if by_size:
        evaluator = BySizeEvaluator(network, {size: partial(load, path) for size, path in by_size.items()})
    if symmetry != "none":
        evaluator = evaluator.wrapped(partial(SymmetricEvaluator, mode=symmetry, seed=seed))
    return evaluator.wrapped(partial(CachedEvaluator, size=cache)) if cache else evaluator


def _on_device(
    name_or_path: str | Path, device: Device, batch: int | None, threads: int, precision: Precision, remember: bool
) -> BatchEvaluator:
    if str(name_or_path) == "uniform":
        return UniformEvaluator()
    path = find_network(name_or_path)
    layout = None
    if device == "auto":
        device, _ = fastest_device(path, batch, threads=threads, precision=precision, remember=remember)
        layout = (
            kept_layout(path, BatchEvaluator.search_batch, threads) if device == "cpu" and precision == "auto" else None
        )
    return open_device(path, device, threads=threads, precision=precision, remember=remember, layout=layout)
