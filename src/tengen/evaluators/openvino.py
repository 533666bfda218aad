"""Evaluation of a network file with OpenVINO, on the CPU or on a GPU of Intel."""

import atexit
import logging
import re
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, get_args
from weakref import WeakSet

import numpy as np

from tengen import _native
from tengen.disk import cache_folder
from tengen.errors import NetworkError, Terminated
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch
from tengen.evaluators.file_evaluator import GPU_SEARCH_BATCH, NetworkFileEvaluator, bucket, last_line
from tengen.evaluators.layout import MIN_LAYERS, FloatPrecision, Layout, LayoutRule, NativeLayers, native_layers
from tengen.evaluators.model_cache import CACHE, ModelCache
from tengen.evaluators.network_file import int8_path, read_int8_card
from tengen.machine import Precision, core_count, cpu_quota, total_memory

if TYPE_CHECKING:
    from tengen.evaluators.operation import Operations

_logger = logging.getLogger(__name__)

# Held while a model is compiled: two compilations of one model disturb each other in the cache folder.
_COMPILING = threading.Lock()
_LONGEST_CALL = 60.0  # seconds that the end of the process waits for one
_SMALLEST_PIECE = 8  # rows; below, a call costs more than the padding
_COPIES = 5  # memory of a compiled model in sizes of the network file (measured in f32: 4.2 to 5.6)
_IN_USE = 60.0  # seconds after its last use for which a board size keeps its models: several may take turns


@dataclass(frozen=True)
class _Request:
    """An inference of a model of one static shape, with the input arrays that it reads."""

    request: Any
    inputs: dict[str, Floats]
    outputs: list[str]
    operations: "Operations | None"  # of the model, which they must outlive

    def start(self, planes: Floats, scalars: Floats, mask: Floats) -> None:
        """Begin with up to a bucket of rows; the rest of the bucket repeats row 0, so that it stays finite."""
        rows = len(mask)
        for name, part in (("planes", planes), ("scalars", scalars), ("mask", mask)):
            self.inputs[name][:rows] = part
            self.inputs[name][rows:] = part[0]
        self.request.start_async()

    def finish(self, rows: int) -> dict[str, Floats]:
        """Wait for the raw outputs of the rows."""
        self.request.wait()
        return {name: self.request.get_tensor(name).data[:rows] for name in self.outputs}


class _Requests(list[_Request]):
    """Requests that compute the parts of a batch side by side."""

    def run(self, arrays: tuple[Floats, Floats, Floats]) -> dict[str, Floats]:
        rows = len(arrays[0])
        a_part = -(-rows // len(self))
        parts = list(zip(range(0, rows, a_part), self, strict=False))
        with _CALLS:
            try:
                for start, request in parts:
                    request.start(*(array[start : start + a_part] for array in arrays))
                found = [request.finish(min(a_part, rows - start)) for start, request in parts]
            except BaseException:
                # A request that still runs must not be used again.
                for _start, request in parts:
                    with suppress(Exception):
                        request.request.wait()
                raise
        return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


class _Calls:
    """The calls of OpenVINO under way, as a context. At the end of the interpreter those are awaited, no more begin,
    and the requests of all evaluators are freed: operations in Python that outlive it abort the process."""

    def __init__(self) -> None:
        self.evaluators: WeakSet[OpenVinoEvaluator] = WeakSet()
        self._changed = threading.Condition()
        self._count = 0
        self._closed = False
        atexit.register(self._close)

    def __enter__(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)  # for ever, in a daemon thread: the process ends
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def _close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._count, timeout=_LONGEST_CALL)
        for evaluator in self.evaluators:
            evaluator.free()


_CALLS = _Calls()


class OpenVinoEvaluator(NetworkFileEvaluator):
    """Runs an .onnx network file on the CPU, or with `target` GPU on Intel's GPU, in its own precision but for f32.

    A batch is cut above `max_batch` and padded to a power of two, after a CPU has computed as much of it as fills one
    where a sixteenth would be padding. A model is compiled with static shapes, once for each such size and board edge,
    and kept both here and in the cache folder. Where the models of this evaluator, whatever others hold, would take
    more than half of the machine's memory, those of board sizes that were not used for a minute are freed. The file is
    read once; what becomes of it later has no effect.

    `precision` auto takes bf16 where the processor multiplies it natively (measured: twice as fast as f32 on a 6-block
    64-channel net) and f32 elsewhere; int8 is a file of its own beside the network (`tengen nets quantize`), which auto
    takes where the processor has VNNI or AMX, the file was made of this network, and its card says that it costs
    little.

    `threads` 0 uses all cores; `streams` share them, so that as many calls from different threads run side by side
    (measured on two cores: 1.9 times the positions of one, for networks too small for two threads). With `remember` off
    nothing goes to the cache folder, as for networks that live for minutes. `native` computes layers by native code,
    and the parts of a batch side by side with a thread each; unless given, convolutions by Winograd's algorithm in f32
    (measured with AVX2: twice the positions of the plain sum; results differ by 1e-5) and in bf16 without AMX (1.6
    times; docs/log.md has the cost), and attention in bf16 (with AMX 1.5 to 1.7 times, without 1.1 to 1.3). A `layout`
    stands in the place of these rules on boards from 13x13 on (bf16: 14x14), in batches of at least half as many rows
    as its parts. Raises NetworkError for a file that is no network.
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
        native: bool | None = None,
        target: Literal["CPU", "GPU"] = "CPU",
        layout: Layout | None = None,
    ) -> None:
        openvino = import_openvino()
        super().__init__(path, max_batch)
        self._core = openvino_core()
        with _COMPILING:
            # Threads that make the first tensors of a process at once can wait for each other for ever: the bindings
            # fill a C++ static on the way, and its initializer gives up the GIL (seen once with 2026.4).
            openvino.Tensor(np.zeros(1, np.float32), shared_memory=True)
        self._target = target
        if target == "GPU":
            self.search_batch = GPU_SEARCH_BATCH
            threads, native = 1, False
            precision = "f32" if precision == "f32" else "bf16"
        elif not threads and cpu_quota():  # OpenVINO asks the affinity alone
            threads = core_count()
        self.precision = _resolve(precision, self.path, self._core)
        self._file = int8_path(self.path) if self.precision == "int8" else self.path
        # OpenVINO names a file by the model without the precision: one of f32 gave NaN as one of bf16 (2026.4).
        self._file_bytes = self._file.stat().st_size
        self._cache = ModelCache(cache_folder(f"{CACHE}/{self.precision}") if remember else None, self._file)
        self._options = self._device_options(threads, streams)
        self._streams = streams
        self._kernels: dict[str, _native.Winograd] = {}
        self._requests: dict[tuple[int, int, Layout], SimpleQueue[_Requests]] = {}
        self._last_used: dict[int, float] = {}  # of each board size, on the monotonic clock
        self._lock = threading.Lock()
        _CALLS.evaluators.add(self)
        self._network = self._read()  # kept as it was read: another file may take its place
        model = self._described_model()
        layers, fitting = _fitting_layers(model, native_layers(self.precision) if target == "CPU" else ())
        parts = max(1, (threads or core_count()) // streams)
        self.rule = LayoutRule.of(layers, fitting, self.precision, native, parts, threads, max_batch, layout)

    def _device_options(self, threads: int, streams: int) -> dict[str, Any]:
        """The options that OpenVINO compiles models with."""
        options: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY"}
        if self._target == "GPU":  # by itself it computes in f16
            return {**options, "INFERENCE_PRECISION_HINT": "f32"} if self.precision == "f32" else options
        if threads:
            options["INFERENCE_NUM_THREADS"] = threads
        return {
            **options,
            "NUM_STREAMS": str(streams),
            "INFERENCE_PRECISION_HINT": _float_precision(self._core) if self.precision == "int8" else self.precision,
            # Pinned, the models of two threads share one core (measured: no gain from the second, unpinned 1.9 times).
            "ENABLE_CPU_PINNING": False,
        }

    def _described_model(self) -> Any:
        """The model with one row of the largest board, after a check of its inputs and outputs."""
        try:
            model = self._network.clone()
            shapes = {port.get_any_name(): port.get_partial_shape() for port in model.inputs}
            self._describe(
                {name: [n.get_length() if n.is_static else None for n in shape] for name, shape in shapes.items()},
                [name for port in model.outputs for name in port.get_names()],
            )
            model.reshape({name: list(shape) for name, shape in self._shapes(1, self._edge).items()})
            policy = list(model.output("policy").get_partial_shape())
            self._describe_policy([1, *(n.get_length() for n in policy[1:])])  # of the rows nothing may be known
        except RuntimeError as error:  # a shape that no network file has
            raise NetworkError(f"{self._file} cannot be used as a network: {last_line(error)}") from error
        return model

    def _piece(self, rows: int) -> int:
        rows = super()._piece(rows)
        half = bucket(rows) // 2
        return half if self._target == "CPU" and half >= _SMALLEST_PIECE and 8 * rows <= 15 * half else rows

    def _infer(self, batch: InputBatch) -> Evaluation:
        free = self._model(len(batch), batch.edge)
        requests = free.get()
        try:
            return self._evaluation(batch, requests.run(batch.arrays))
        except RuntimeError as error:  # a GPU without memory, or a driver that fails
            _raise_if_interrupted(error)
            raise NetworkError(f"{self.path} does not run on {batch.edge}x{batch.edge}: {last_line(error)}") from error
        finally:
            free.put(requests)

    def free(self) -> None:
        """Give the compiled models back. The next batch compiles its model again."""
        with self._lock:
            self._requests.clear()

    def warm_up(self, edge: int, batches: tuple[int, ...] = (1, 8)) -> None:
        """Compile the models for these batches now, so that the first move does not wait for it."""
        for batch in batches:
            self._model(min(batch, self._max_batch), edge)

    def _read(self) -> Any:
        try:
            return self._core.read_model(self._file)
        except (RuntimeError, UnicodeDecodeError) as error:  # it puts damaged names into its message
            frontends = re.search("Available frontends:(.*)", str(error))
            if frontends and "onnx" not in frontends[1]:
                raise NetworkError(
                    f"{self._file} cannot be read: OpenVINO's library for ONNX files could not be loaded, perhaps for "
                    "lack of memory"
                ) from error
            raise NetworkError(f"{self._file} cannot be read as an ONNX network: {last_line(error)}") from error

    def _shapes(self, rows: int, edge: int) -> dict[str, tuple[int, ...]]:
        return {
            "planes": (rows, self._channels, edge, edge),
            "scalars": (rows, self._scalars),
            "mask": (rows, edge, edge),
        }

    def _model(self, rows: int, edge: int) -> "SimpleQueue[_Requests]":
        """The free requests of the model for these rows, compiled when it is first asked for.

        Small boards and few rows on many threads take the plain model, which shares one row among the threads.
        """
        layout = self.rule.layout(rows, edge, self.only_size)
        key = bucket(-(-rows // layout.parts)), edge, layout
        with self._lock:
            self._last_used[edge] = time.monotonic()
            if key not in self._requests:
                self._make_room()
                self._requests[key] = self._prepare(*key)
            return self._requests[key]

    def _make_room(self) -> None:
        """Free the models of board sizes out of use, those used longest ago first, while with one more all would take
        more than half of the memory. What still computes is freed after it."""
        kept = total_memory() // 2 // (_COPIES * self._file_bytes) - 1
        for edge, last in sorted(self._last_used.items(), key=lambda item: item[1]):
            if len(self._requests) <= kept or time.monotonic() - last < _IN_USE:
                break
            for key in [key for key in self._requests if key[1] == edge]:
                del self._requests[key]

    def _prepare(self, rows: int, edge: int, layout: Layout) -> "SimpleQueue[_Requests]":
        shapes = self._shapes(rows, edge)
        found: SimpleQueue[_Requests] = SimpleQueue()
        parts = layout.parts
        try:
            model = self._network.clone()
            model.reshape({name: list(shape) for name, shape in shapes.items()})
            compiled, operations = (
                self._compile_native(model, parts)
                if layout.native
                else (self._compile(model, rows, edge, layout), None)
            )
            for _ in range(self._streams):
                found.put(_Requests(self._new_request(compiled, shapes, operations) for _ in range(parts)))
        except RuntimeError as error:
            _raise_if_interrupted(error)
            raise NetworkError(f"{self.path} does not run on {edge}x{edge}: {last_line(error)}") from error
        return found

    def _new_request(
        self, compiled: Any, shapes: Mapping[str, tuple[int, ...]], operations: "Operations | None"
    ) -> _Request:
        inputs = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        request = compiled.create_infer_request()
        for name, array in inputs.items():
            request.set_tensor(name, import_openvino().Tensor(array, shared_memory=True))
        return _Request(request, inputs, self.outputs, operations)

    def _compile_native(self, model: Any, parts: int) -> "tuple[Any, Operations]":
        """The model with a thread a stream, and its operations. Such a model has no file form, so the cache folder is
        not asked."""
        threads = parts * self._streams
        options: dict[str, Any] = {"NUM_STREAMS": str(threads), "INFERENCE_NUM_THREADS": threads}
        with _COMPILING:
            if self.rule.layers == "attention":
                from tengen.evaluators.attention import use_attention

                operations = use_attention(model)
            else:
                from tengen.evaluators.winograd import use_winograd

                assert self.precision != "int8"  # convolutions of other precisions alone are native
                operations = use_winograd(model, self._kernels, self.precision)
                # What is no such convolution is computed in f32: it takes little of the time.
                options["INFERENCE_PRECISION_HINT"] = "f32"
            return self._compiled(model, {**self._options, **options}), operations

    def _compile(self, model: Any, rows: int, edge: int, layout: Layout) -> Any:
        """The compiled model; without the cache folder when that fails, as it may when others write to it just now."""
        options = self._options
        if layout.parts > 1 or layout.threads != self.rule.threads:
            threads = layout.parts * layout.threads
            options = {**options, "NUM_STREAMS": str(layout.parts), "INFERENCE_NUM_THREADS": threads}
        with _COMPILING:
            try:
                with self._cache.entry(rows, edge) as folder:
                    return self._compiled(model, {**options, "CACHE_DIR": folder})
            except RuntimeError:
                return self._compiled(model, {**options, "CACHE_DIR": ""})

    def _compiled(self, model: Any, options: Mapping[str, Any]) -> Any:
        """OpenVINO joins small layers into generated code, and fails where it has none: for Mish between two dense
        layers (2026.4), in batches of 3 to 15."""
        try:
            return self._core.compile_model(model, self._target, options)
        except RuntimeError as error:
            _raise_if_interrupted(error)
            if "snippets" not in str(error):
                raise
            return self._core.compile_model(model, self._target, {**options, "SNIPPETS_MODE": "DISABLE"})


def _raise_if_interrupted(error: RuntimeError) -> None:
    """Raise the interruption of a Python operation, of which OpenVINO's RuntimeError has the text alone."""
    for interruption in (KeyboardInterrupt, Terminated):
        if re.search(rf"\b{interruption.__name__}: ", str(error)):
            raise interruption from error


def _resolve(precision: Precision, path: Path, core: Any) -> Literal["f32", "bf16", "int8"]:
    """The precision to use. Raises ValueError for an unknown one, NetworkError for int8 without an int8 file of it."""
    if precision not in get_args(Precision):
        raise ValueError(f"precision {precision!r} is unknown: choose {', '.join(map(repr, get_args(Precision)))}")
    if precision == "int8":
        read_int8_card(path)
    if precision != "auto":
        return precision
    if int8_path(path).is_file() and multiplies_int8():
        try:
            if read_int8_card(path).metrics.get("int8", {}).get("fine"):
                return "int8"
        except NetworkError as error:
            _logger.warning("the network is used without int8: %s", error)
    return _float_precision(core)


def _float_precision(core: Any) -> FloatPrecision:
    """bf16 where the processor multiplies it, else f32."""
    # OpenVINO also lists it for processors that only convert it (AVX2 with VNNI 2: Arrow Lake, Lunar Lake).
    flags = set(_native.processor_flags())  # empty on other architectures than x86-64
    multiplies = not flags or bool(flags & {"avx512_bf16", "amx_bf16"})
    return "bf16" if multiplies and "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"


def _fitting_layers(model: Any, kinds: tuple[NativeLayers, ...]) -> tuple[NativeLayers | None, int]:
    """The first kind of layers of which a model with static shapes has enough, else the first one, and how many."""
    counts = {kind: _count_layers(model, kind) for kind in kinds}
    layers = max(counts, key=lambda kind: counts[kind] >= MIN_LAYERS[kind], default=None)
    return layers, counts[layers] if layers else 0


def _count_layers(model: Any, layers: NativeLayers) -> int:
    """How many layers of a kind a model with static shapes has that native code computes."""
    if layers == "attention":
        from tengen.evaluators.attention import count_attention

        return count_attention(model)
    from tengen.evaluators.winograd import count_fitting

    return count_fitting(model)


def multiplies_int8() -> bool:
    """Whether the processor has instructions for products of 8-bit numbers (VNNI or AMX).

    Without them int8 gains nothing over Winograd's algorithm in f32, and its sums may overflow.
    """
    return any(name in _native.processor_flags() for name in ("avx512_vnni", "avx_vnni", "amx_int8"))


@cache
def openvino_core() -> Any:
    """The one `openvino.Core`, which lives as long as the process.

    The CPU plugin gives the thread that loads it a stack for signals. When a plugin is unloaded in another thread, that
    stack is freed but stays in use: the next signal that Python handles, such as Ctrl-C, ends the process (seen with
    2026.4).
    """
    return import_openvino().Core()


def import_openvino() -> Any:
    """The module `openvino`, without its converter, which no network file needs.

    The converter takes half of the time of the import (measured: 0.14 of 0.29 s).
    """
    converter = "openvino.tools.ovc"
    skipped = "openvino" not in sys.modules and converter not in sys.modules
    if skipped:
        sys.modules[converter] = None  # type: ignore[assignment]  # openvino goes on without what it cannot import
    try:
        import openvino
    finally:
        if skipped:
            del sys.modules[converter]
    return openvino
