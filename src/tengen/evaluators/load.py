"""From the name of a network to an evaluator."""

from functools import partial
from pathlib import Path
from typing import Literal, get_args

from tengen.errors import MissingExtra, NetworkError
from tengen.evaluators.cached import CachedEvaluator
from tengen.evaluators.evaluator import BatchEvaluator, BySizeEvaluator, Evaluator, UniformEvaluator
from tengen.evaluators.network_file import default_by_size, find_network
from tengen.evaluators.symmetric import SymmetricEvaluator

Backend = Literal["auto", "openvino", "torch", "uniform"]
Symmetry = Literal["none", "random", "average"]


def load_evaluator(
    name_or_path: str | Path = "default",
    backend: Backend = "auto",
    *,
    threads: int = 0,
    precision: Literal["auto", "bf16", "f32"] = "auto",
    symmetry: Symmetry = "none",
    cache: int = 0,
    seed: int = 0,
    remember: bool = True,
) -> Evaluator:
    """The evaluator of an installed network, of a network file, or `uniform`; `default` asks on small boards the
    networks that know them best.

    `auto` is OpenVINO on the CPU; `torch` takes a GPU where there is one and needs the extra [train]. `threads` (0
    means all cores) and `precision` are OpenVINO's, and with `remember` off its compiled models do not go to the user's
    cache folder, as for networks that live for minutes; `cache` is the number of positions to remember, 0 none.
    Raises NetworkError for an unknown name, a file that is no network and an unknown backend or symmetry.
    """
    if backend not in (known := get_args(Backend)):
        raise NetworkError(f"backend {backend!r} is unknown: choose {', '.join(known[:-1])} or {known[-1]}")
    if symmetry not in ("none", "random", "average"):
        raise NetworkError(f"symmetry {symmetry!r} is unknown: choose none, random or average")
    load = partial(_backend, backend=backend, threads=threads, precision=precision, remember=remember)
    network = load(name_or_path)
    evaluator: Evaluator = network
    if str(name_or_path) == "default" and backend != "uniform" and (by_size := default_by_size()):
        evaluator = BySizeEvaluator(network, {size: partial(load, path) for size, path in by_size.items()})
    if symmetry != "none":
        evaluator = evaluator.wrapped(partial(SymmetricEvaluator, mode=symmetry, seed=seed))
    return evaluator.wrapped(partial(CachedEvaluator, size=cache)) if cache else evaluator


def _backend(
    name_or_path: str | Path,
    backend: Backend,
    threads: int,
    precision: Literal["auto", "bf16", "f32"],
    remember: bool,
) -> BatchEvaluator:
    if backend == "uniform" or str(name_or_path) == "uniform":
        return UniformEvaluator()
    path = find_network(name_or_path)
    if backend == "torch":
        try:
            from tengen.evaluators.torch import load_torch
        except ModuleNotFoundError as error:
            raise MissingExtra("backend torch", "train") from error
        return load_torch(path)
    from tengen.evaluators.openvino import OpenVinoEvaluator

    return OpenVinoEvaluator(path, threads=threads, precision=precision, remember=remember)
