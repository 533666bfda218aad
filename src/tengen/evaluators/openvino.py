"""Evaluation of a network file on the CPU with OpenVINO."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

import numpy as np
import platformdirs

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch
from tengen.evaluators.file_evaluator import NetworkFileEvaluator, bucket, last_line

Precision = Literal["auto", "bf16", "f32"]
# Held while a model is compiled: two compilations of one model disturb each other in the cache folder.
_COMPILING = threading.Lock()


def cache_folder() -> Path:
    """Where compiled models are kept for the next start: `tengen/openvino` in the user's cache folder."""
    return Path(platformdirs.user_cache_dir("tengen", appauthor=False)) / "openvino"


@dataclass(frozen=True)
class _Request:
    """An inference of a model of one static shape, with the input arrays that it reads."""

    request: Any
    inputs: dict[str, Floats]
    outputs: list[str]

    def run(self, planes: Floats, scalars: Floats, mask: Floats) -> dict[str, Floats]:
        """Raw outputs for up to a bucket of rows; the rest of the bucket repeats row 0, so that it stays finite."""
        rows = len(mask)
        for name, part in (("planes", planes), ("scalars", scalars), ("mask", mask)):
            self.inputs[name][:rows] = part
            self.inputs[name][rows:] = part[0]
        self.request.infer(self.inputs, share_inputs=True)
        return {name: self.request.get_tensor(name).data[:rows] for name in self.outputs}


class OpenVinoEvaluator(NetworkFileEvaluator):
    """Runs an .onnx network file on the CPU.

    A batch is padded to the next power of two and cut above `max_batch`; a model is compiled with static shapes, once
    for each such size and board edge, and kept both here and in the cache folder. `precision` auto takes bf16 where the
    processor multiplies it natively (measured: twice as fast as f32 on a 6-block 64-channel net) and f32 elsewhere.
    `threads` 0 uses all cores; `streams` share them, so that as many calls from different threads run side by side
    (measured on two cores: 1.9 times the positions of one, for networks too small for two threads). With `remember` off
    nothing goes to the cache folder, as for networks that live for minutes. Raises NetworkError for a file that is no
    network.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        threads: int = 0,
        streams: int = 1,
        precision: Precision = "auto",
        max_batch: int = 64,
        remember: bool = True,
    ) -> None:
        import openvino

        super().__init__(path, max_batch)
        self._core: Any = openvino.Core()
        with _COMPILING:
            # Threads that make the first tensors of a process at once can wait for each other for ever: the bindings
            # fill a C++ static on the way, and its initialiser gives up the GIL (seen once with 2026.4).
            openvino.Tensor(np.zeros(1, np.float32), shared_memory=True)
        self.precision = _resolve(precision, self._core)
        self._options: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": str(streams),
            "INFERENCE_PRECISION_HINT": self.precision,
            # Pinned, the models of two threads share one core (measured: no gain from the second, unpinned 1.9 times).
            "ENABLE_CPU_PINNING": False,
        }
        if remember:
            self._options["CACHE_DIR"] = _writable_cache()
        if threads:
            self._options["INFERENCE_NUM_THREADS"] = threads
        self._streams = streams
        self._requests: dict[tuple[int, int], SimpleQueue[_Request]] = {}
        self._lock = threading.Lock()
        model = self._read()
        shapes = {port.get_any_name(): port.get_partial_shape() for port in model.inputs}
        self._describe(
            {name: [n.get_length() if n.is_static else None for n in shape] for name, shape in shapes.items()},
            [name for port in model.outputs for name in port.get_names()],
        )
        model.reshape({name: list(shape) for name, shape in self._shapes(1, self._edge).items()})
        self.has_pass = model.output("policy").get_partial_shape()[1].get_length() > self._edge**2

    def _infer(self, batch: InputBatch) -> Evaluation:
        requests = self._model(bucket(len(batch)), batch.edge)
        request = requests.get()
        try:
            return self._evaluation(batch, request.run(*batch.arrays))
        finally:
            requests.put(request)

    def warm_up(self, edge: int, batches: tuple[int, ...] = (1, 8)) -> None:
        """Compile the models for these batches now, so that the first move does not wait for it."""
        for batch in batches:
            self._model(bucket(min(batch, self._max_batch)), edge)

    def _read(self) -> Any:
        try:
            return self._core.read_model(self.path)
        except RuntimeError as error:
            raise NetworkError(f"{self.path} cannot be read as an ONNX network: {last_line(error)}") from error

    def _shapes(self, rows: int, edge: int) -> dict[str, tuple[int, ...]]:
        return {
            "planes": (rows, self._channels, edge, edge),
            "scalars": (rows, self._scalars),
            "mask": (rows, edge, edge),
        }

    def _model(self, batch: int, edge: int) -> "SimpleQueue[_Request]":
        """The free requests of the model for one shape, compiled when it is first asked for."""
        with self._lock:
            if (batch, edge) not in self._requests:
                self._requests[batch, edge] = self._prepare(batch, edge)
            return self._requests[batch, edge]

    def _prepare(self, batch: int, edge: int) -> "SimpleQueue[_Request]":
        shapes, model = self._shapes(batch, edge), self._read()
        requests: SimpleQueue[_Request] = SimpleQueue()
        try:
            model.reshape({name: list(shape) for name, shape in shapes.items()})
            compiled = self._compile(model)
            for _ in range(self._streams):
                inputs = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
                requests.put(_Request(compiled.create_infer_request(), inputs, self.outputs))
        except RuntimeError as error:
            raise NetworkError(f"{self.path} does not run on {edge}x{edge}: {last_line(error)}") from error
        return requests

    def _compile(self, model: Any) -> Any:
        """The compiled model; without the cache folder when that fails, as it may when others write to it just now."""
        with _COMPILING:
            try:
                return self._core.compile_model(model, "CPU", self._options)
            except RuntimeError:
                return self._core.compile_model(model, "CPU", {**self._options, "CACHE_DIR": ""})


def _resolve(precision: Precision, core: Any) -> str:
    if precision not in ("auto", "bf16", "f32"):
        raise ValueError(f"precision {precision!r} is unknown: choose 'auto', 'bf16' or 'f32'")
    if precision != "auto":
        return precision
    return "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"


def _writable_cache() -> str:
    """The cache folder, or "" (no cache) where it cannot be made: a read-only home must not stop a game."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    return str(folder) if os.access(folder, os.W_OK) else ""
