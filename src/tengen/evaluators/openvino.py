"""Evaluation of a network file on the CPU with OpenVINO."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

import numpy as np

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch, evaluation_from_outputs
from tengen.evaluators.evaluator import BatchEvaluator
from tengen.evaluators.network_file import read_card

Precision = Literal["auto", "bf16", "f32"]
OUTPUTS = ("policy", "value", "score", "ownership")
_COMPILING = threading.Lock()  # two that compile one model fall over each other in the cache folder

# OpenVINO 2026.4 can deadlock where two threads exchange arrays with it for the first time in a process: one holds the
# guard of a static variable and waits for the GIL, the other holds the GIL and waits for the guard.
_FIRST_RUN = threading.Lock()


def cache_folder() -> Path:
    """Where compiled models wait for the next start: the user's cache folder, `XDG_CACHE_HOME` or `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tengen" / "openvino"


@dataclass(frozen=True)
class _Request:
    """An inference of a model of one static shape, with the input arrays that it reads."""

    request: Any
    inputs: dict[str, Floats]

    def run(self, planes: Floats, scalars: Floats, mask: Floats) -> dict[str, Floats]:
        """Raw outputs for up to a bucket of rows; the rest of the bucket repeats row 0, so that it stays finite."""
        rows = len(mask)
        for name, part in (("planes", planes), ("scalars", scalars), ("mask", mask)):
            self.inputs[name][:rows] = part
            self.inputs[name][rows:] = part[0]
        self.request.infer(self.inputs, share_inputs=True)
        return {name: self.request.get_tensor(name).data[:rows] for name in OUTPUTS}


class OpenVinoEvaluator(BatchEvaluator):
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

        self.path = Path(path)
        card = read_card(self.path)
        self.name = card.name
        self.plane_set = card.plane_set
        self.advice = card.search
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
        self._max_batch = max_batch
        self._streams = streams
        self._requests: dict[tuple[int, int], SimpleQueue[_Request]] = {}
        self._lock = threading.Lock()
        model = self._read()
        self._channels, self._scalars = self._input_widths(model)
        edge = model.input("planes").get_partial_shape()[3]
        self.only_size = edge.get_length() if edge.is_static else None

    def infer(self, batch: InputBatch) -> Evaluation:
        self._check(batch.planes, batch.scalars)
        chunks = [batch[start : start + self._max_batch] for start in range(0, len(batch), self._max_batch)]
        if not chunks:
            return Evaluation.zeros(0, batch.edge)
        return Evaluation.joined([self._infer(chunk) for chunk in chunks])

    def _infer(self, batch: InputBatch) -> Evaluation:
        """Results for up to `max_batch` rows."""
        requests = self._model(_bucket(len(batch)), batch.edge)
        request = requests.get()
        try:
            return evaluation_from_outputs(batch.mask, **request.run(*batch.arrays))
        finally:
            requests.put(request)

    def warm_up(self, edge: int, batches: tuple[int, ...] = (1, 8)) -> None:
        """Compile the models for these batches now, so that the first move does not wait for it."""
        for batch in batches:
            self._model(_bucket(min(batch, self._max_batch)), edge)

    def _read(self) -> Any:
        try:
            return self._core.read_model(self.path)
        except RuntimeError as error:
            raise NetworkError(f"{self.path} cannot be read as an ONNX network: {_first_line(error)}") from error

    def _input_widths(self, model: Any) -> tuple[int, int]:
        """The numbers of planes and scalars that the network takes."""
        found = {port.get_any_name(): port.get_partial_shape() for port in model.inputs}
        made = {name for port in model.outputs for name in port.get_names()}
        if set(found) != {"planes", "scalars", "mask"} or not set(OUTPUTS) <= made:
            raise NetworkError(
                f"{self.path} has inputs {sorted(found)} and outputs {sorted(made)}; a network file of Tengen takes "
                f"planes, scalars and mask and gives {', '.join(OUTPUTS)}"
            )
        return found["planes"][1].get_length(), found["scalars"][1].get_length()

    def _check(self, planes: Floats, scalars: Floats) -> None:
        got = (planes.shape[1], scalars.shape[1])
        if got != (self._channels, self._scalars):
            raise NetworkError(
                f"network {self.name} takes {self._channels} planes and {self._scalars} scalars, got {got[0]} and "
                f"{got[1]}: encode with plane set {self.plane_set!r}"
            )

    def _model(self, batch: int, edge: int) -> "SimpleQueue[_Request]":
        """The free requests of the model for one shape, compiled when it is first asked for."""
        with self._lock:
            if (batch, edge) not in self._requests:
                self._requests[batch, edge] = self._prepare(batch, edge)
            return self._requests[batch, edge]

    def _prepare(self, batch: int, edge: int) -> "SimpleQueue[_Request]":
        shapes = {
            "planes": (batch, self._channels, edge, edge),
            "scalars": (batch, self._scalars),
            "mask": (batch, edge, edge),
        }
        model = self._read()
        requests: SimpleQueue[_Request] = SimpleQueue()
        try:
            model.reshape({name: list(shape) for name, shape in shapes.items()})
            compiled = self._compile(model)
            for _ in range(self._streams):
                inputs = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
                requests.put(_Request(compiled.create_infer_request(), inputs))
        except RuntimeError as error:
            raise NetworkError(f"{self.path} does not run on {edge}x{edge}: {_first_line(error)}") from error
        return requests

    def _compile(self, model: Any) -> Any:
        """The compiled model; without the cache folder when that fails, as it may when others write to it just now."""
        with _COMPILING:
            try:
                return self._core.compile_model(model, "CPU", self._options)
            except RuntimeError:
                return self._core.compile_model(model, "CPU", {**self._options, "CACHE_DIR": ""})


def _bucket(rows: int) -> int:
    """The smallest power of two that holds `rows`."""
    return 1 << max(rows - 1, 0).bit_length()


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


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
