"""From the name of a network to an evaluator."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from tengen.errors import MissingExtra, NetworkError, unknown_name
from tengen.evaluators.cached import CachedEvaluator
from tengen.evaluators.evaluator import BatchEvaluator, BySizeEvaluator, Evaluator, UniformEvaluator
from tengen.evaluators.network_file import default_by_size, find_network
from tengen.evaluators.symmetric import SymmetricEvaluator

Backend = Literal["auto", "openvino", "onnxruntime", "uniform"]
Symmetry = Literal["none", "random", "average"]


def load_evaluator(
    name_or_path: str | Path = "default",
    backend: Backend = "auto",
    *,
    threads: int = 0,
    precision: Literal["auto", "bf16", "f32", "int8"] = "auto",
    symmetry: Symmetry = "none",
    cache: int = 0,
    seed: int = 0,
    remember: bool = True,
    providers: Sequence[str] | None = None,
) -> Evaluator:
    """The evaluator of an installed network, of a network file, or `uniform`; `default` takes the networks that are
    the strongest on their board sizes.

    `auto` is OpenVINO on the CPU; `onnxruntime` (extra [onnxruntime]) takes a graphics card where there is one, or the
    execution `providers` given (see OnnxRuntimeEvaluator). `threads` compute, 0 means all cores. `precision` is
    OpenVINO's; with `remember` off its compiled models do not go to the user's cache folder, as for networks that live
    for minutes. `cache` is the number of positions to keep for each network, 0 none. Raises NetworkError for an unknown
    name, a file that is no network and an unknown backend, provider or symmetry.
    """
    for kind, value, known in (("backend", backend, get_args(Backend)), ("symmetry", symmetry, get_args(Symmetry))):
        if value not in known:
            raise NetworkError(unknown_name(kind, value, known))
    load = partial(
        _backend, backend=backend, threads=threads, precision=precision, remember=remember, providers=providers
    )
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
    precision: Literal["auto", "bf16", "f32", "int8"],
    remember: bool,
    providers: Sequence[str] | None,
) -> BatchEvaluator:
    if backend == "uniform" or str(name_or_path) == "uniform":
        return UniformEvaluator()
    path = find_network(name_or_path)
    if backend == "onnxruntime":
        try:
            from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
        except ModuleNotFoundError as error:
            raise MissingExtra("backend onnxruntime", "onnxruntime") from error
        return OnnxRuntimeEvaluator(path, providers=providers, threads=threads)
    from tengen.evaluators.openvino import OpenVinoEvaluator

    return OpenVinoEvaluator(path, threads=threads, precision=precision, remember=remember)
