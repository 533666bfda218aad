"""The devices that run network files, which of them this machine has, and which is the fastest for a network."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import platformdirs

from tengen.disk import write_text
from tengen.errors import MissingExtra, NetworkError
from tengen.evaluators.file_evaluator import NetworkFileEvaluator
from tengen.evaluators.network_file import read_card
from tengen.machine import Device, core_count, processor_name

logger = logging.getLogger(__name__)

Precision = Literal["auto", "bf16", "f32", "int8"]
PROVIDERS: dict[str, str] = {
    "cuda": "CUDAExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "directml": "DmlExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "onnxruntime": "CPUExecutionProvider",
}
"""ONNX Runtime's execution provider of each device that it runs."""
BY_NAME_ONLY = ("tensorrt", "onnxruntime")
"""Devices that `auto` leaves out: TensorRT compiles for minutes, and OpenVINO is faster on the CPU."""
_SECONDS = 0.4  # of measuring a device


def open_device(
    path: Path,
    device: Device,
    *,
    threads: int = 0,
    precision: Precision = "auto",
    remember: bool = True,
    max_batch: int = 64,
) -> NetworkFileEvaluator:
    """The evaluator of a network file on a device other than auto and uniform.

    Raises NetworkError where this machine does not have the device, MissingExtra without ONNX Runtime.
    """
    if device in PROVIDERS:
        try:
            from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
        except ModuleNotFoundError as error:
            raise MissingExtra(f"device {device}", "onnxruntime") from error
        return OnnxRuntimeEvaluator(path, provider=PROVIDERS[device], threads=threads, max_batch=max_batch)
    from tengen.evaluators.openvino import OpenVinoEvaluator

    if device == "intel-gpu" and "GPU" not in openvino_devices():
        found = ", ".join(openvino_devices())
        raise NetworkError(f"device intel-gpu: OpenVINO finds no GPU on this machine, only {found}")
    target: Literal["CPU", "GPU"] = "GPU" if device == "intel-gpu" else "CPU"
    return OpenVinoEvaluator(
        path, target=target, threads=threads, precision=precision, remember=remember, max_batch=max_batch
    )


def openvino_devices() -> list[str]:
    """OpenVINO's devices, such as CPU, GPU, GPU.1."""
    import openvino

    found: list[str] = openvino.Core().available_devices
    return found


def onnxruntime_providers() -> list[str]:
    """The execution providers of the installed ONNX Runtime; none without one."""
    if find_spec("onnxruntime") is None:
        return []
    import onnxruntime

    found: list[str] = onnxruntime.get_available_providers()
    return found


def fastest_device(path: Path, batch: int, threads: int = 0, *, again: bool = False) -> tuple[Device, dict[str, float]]:
    """(the device with the most evaluations a second of a network, in batches of `batch`; the rates by device).

    The answer is kept in the user's cache folder, for networks of the same architecture, until the processor, its
    cores, the graphics cards or the libraries change; `again` measures anew. A machine with a CPU alone measures
    nothing, and has no rates, unless `again` asks for them.
    """
    kept = _Kept()
    there = kept.devices()
    if len(there) == 1 and not again:
        return "cpu", {}
    key = f"{_architecture(path)} batch {batch} threads {threads or core_count()}"
    rates = {} if again else kept.rates(key)
    if set(rates) != set(there):
        rates = {}
        for device in there:
            try:
                evaluator = open_device(path, device, threads=threads)
                rates[device] = round(evaluation_rate(evaluator, batch), 1)
            except (NetworkError, MissingExtra) as error:  # a library without its driver
                logger.warning("device %s is left out: %s", device, error)
                rates[device] = 0.0
        kept.keep(key, rates)
        logger.info("evaluations a second: %s", ", ".join(f"{name} {rate:g}" for name, rate in rates.items()))
    best: Any = max(rates, key=lambda name: rates[name])
    return best, rates


def evaluation_rate(evaluator: NetworkFileEvaluator, batch: int, seconds: float = _SECONDS) -> float:
    """Positions a second in batches of `batch`, on 19x19 boards unless the network knows another size."""
    inputs = evaluator.blank(batch, evaluator.only_size or 19)
    evaluator.infer(inputs)  # compiles
    done, start = 0, time.perf_counter()
    while not done or time.perf_counter() - start < seconds:
        done += len(evaluator.infer(inputs))
    return done / (time.perf_counter() - start)


class _Kept:
    """What was measured on this machine: a JSON file in the user's cache folder, which may be lost at any time."""

    def __init__(self) -> None:
        self._path = Path(platformdirs.user_cache_dir("tengen", appauthor=False)) / "devices.json"
        self._machine = _machine()
        self._found: dict[str, Any] = {"machine": self._machine}
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("machine") == self._machine:
                self._found = found

    def devices(self) -> list[Device]:
        """The CPU, and the other devices that libraries of this machine offer."""
        # Most machines: no library and no card that could be another device.
        if sys.platform == "linux" and not self._machine["graphics"] and find_spec("onnxruntime") is None:
            return ["cpu"]
        if "devices" not in self._found:
            providers = onnxruntime_providers()
            gpu: list[Any] = ["intel-gpu"] if "GPU" in openvino_devices() else []
            others = [name for name, known in PROVIDERS.items() if known in providers and name not in BY_NAME_ONLY]
            self._found["devices"] = ["cpu", *gpu, *others]
            self._write()
        found: list[Device] = self._found["devices"]
        return found

    def rates(self, key: str) -> dict[str, float]:
        found: dict[str, float] = self._found.get("rates", {}).get(key, {})
        return found

    def keep(self, key: str, rates: dict[str, float]) -> None:
        self._found.setdefault("rates", {})[key] = rates
        self._write()

    def _write(self) -> None:
        with suppress(OSError):  # then it is measured again the next time
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._path, json.dumps(self._found, indent=1), durable=False)


def _machine() -> dict[str, Any]:
    """What decides the speeds: the processor, graphics cards and libraries."""
    versions = {}
    for name in ("openvino", *(f"onnxruntime{kind}" for kind in ("", "-gpu", "-rocm", "-directml", "-coreml"))):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {"processor": processor_name(), "cores": core_count(), "graphics": _graphics(), "versions": versions}


def _graphics() -> list[str]:
    """The device files of graphics cards, on Linux."""
    return sorted(str(path) for glob in ("nvidia[0-9]*", "dri/renderD*", "kfd") for path in Path("/dev").glob(glob))


def _architecture(path: Path) -> str:
    """A name for all networks that cost the same: those of one run, and copies."""
    card = read_card(path)
    text = json.dumps([card.family, card.config, card.plane_set, path.stat().st_size // 4096], sort_keys=True)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}"
