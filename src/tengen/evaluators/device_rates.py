"""The speeds of a network on this machine's devices and in the layouts of its CPU: measured once, and kept."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tengen.disk import cache_path, write_text
from tengen.errors import MissingExtra, NetworkError
from tengen.evaluators.devices import (
    PROVIDERS,
    EvaluatorOptions,
    has_gpu,
    onnxruntime_providers,
    open_device,
    openvino_devices,
)
from tengen.evaluators.file_evaluator import NetworkFileEvaluator
from tengen.evaluators.network_file import int8_path, read_card
from tengen.machine import Device, core_count, graphics_files, library_versions, processor_name

if TYPE_CHECKING:
    from tengen.evaluators.layout import Layout

_logger = logging.getLogger(__name__)

BY_NAME_ONLY = ("tensorrt", "onnxruntime")
"""Devices that `auto` leaves out: TensorRT compiles for minutes, and OpenVINO is faster on the CPU."""
_SECONDS = 0.4  # of measuring a device
_LAYOUT_SECONDS = 8.0  # after which no further layout is tried; most of them compile models


def fastest_device(
    path: Path, batch: int | None, *, again: bool = False, **options: Unpack[EvaluatorOptions]
) -> tuple[Device, dict[Device, float]]:
    """(the device with the most evaluations a second of a network, in batches of `batch`; the rates by device).

    Without `batch` each device has the batches of a search on it (`BatchEvaluator.search_batch`).

    Each device is opened with `options` and asked by as many threads as it has `streams`. The rates are kept in the
    user's cache folder, for networks of the same architecture, until the processor, its cores, the graphics cards or
    the libraries change; `again` lists and measures the devices anew. One that does not open has the rate 0 and is
    tried again the next time. A machine with a CPU alone measures nothing, and has no rates, unless `again` asks for
    them.
    """
    kept = _Kept()
    there = kept.devices(again)
    if len(there) == 1 and not again:
        return "cpu", {}
    key = _case(path, batch, **options)
    known = {} if again else kept.rates(key)
    rates = {device: known.get(device, 0.0) for device in there}
    for device in there:
        if known.get(device):
            continue
        try:
            evaluator = open_device(path, device, **options)
            rows, callers = batch or evaluator.search_batch, options.get("streams", 1)
            rates[device] = round(evaluation_rate(evaluator, rows, _SECONDS, callers), 1)
        except (NetworkError, MissingExtra) as error:  # a library without its driver
            _logger.warning("device %s is left out: %s", device, error)
    found = {device: rate for device, rate in rates.items() if rate}
    if found != known:
        kept.keep(key, found)
        _logger.info("evaluations a second: %s", ", ".join(f"{name} {rate:g}" for name, rate in rates.items()))
    best = max(rates, key=lambda name: rates[name])
    if best == "torch" and not _torch_gpu():  # its GPU is gone, and PyTorch would take the CPU
        rates["torch"] = 0.0
        best = max(rates, key=lambda name: rates[name])
    return best, rates


def measure_layouts(path: Path, batch: int, threads: int = 0) -> dict[str, float]:
    """Evaluations a second of a network on the CPU in batches of `batch`, by layout; "rule" is OpenVinoEvaluator's own.

    The fastest is kept for `device` auto, where it is at least 10% faster than the rule.
    """
    from tengen.evaluators.layout import Layout
    from tengen.evaluators.openvino import OpenVinoEvaluator

    began = time.monotonic()
    plain = OpenVinoEvaluator(path, threads=threads, remember=False)
    opened: list[tuple[str, Layout | None, OpenVinoEvaluator]] = [("rule", None, plain)]
    rates = {"rule": evaluation_rate(plain, batch, 0)}
    for layout in Layout.candidates(threads or core_count(), plain.rule.fitting > 0, batch):
        if time.monotonic() - began > _LAYOUT_SECONDS:
            break
        evaluator = OpenVinoEvaluator(path, threads=threads, remember=False, layout=layout)
        opened.append((str(layout), layout, evaluator))
        rates[str(layout)] = evaluation_rate(evaluator, batch, 0)
    for _ in range(3):  # in turn, the best of each: other work on the machine comes and goes
        for name, _layout, evaluator in opened:
            rates[name] = max(rates[name], evaluation_rate(evaluator, batch, _SECONDS / 2))
    _, best, _ = max(opened, key=lambda one: rates[one[0]] * (1.1 if one[1] is None else 1))
    _Kept().keep_layout(_case(path, batch, threads=threads), None if best is None else asdict(best))
    return rates


def kept_layout(path: Path, batch: int, threads: int = 0) -> Layout | None:
    """The layout that `measure_layouts` kept for networks of this architecture; None: the rule."""
    from tengen.evaluators.layout import Layout

    kept = _Kept()
    found = kept.layout(_case(path, batch, threads=threads)) if kept.has_layouts else None
    with suppress(TypeError):  # another version of Tengen may have kept further settings
        return None if found is None else Layout(**found)
    return None


def evaluation_rate(evaluator: NetworkFileEvaluator, batch: int, seconds: float, callers: int = 1) -> float:
    """Positions a second in batches of `batch`, on 19x19 boards unless the network knows another size.

    So many threads ask at once.
    """
    inputs = evaluator.blank(batch, evaluator.only_size or 19)
    evaluator.infer(inputs)  # compiles
    start = time.perf_counter()

    def ask(_caller: int) -> int:
        done = 0
        while not done or time.perf_counter() - start < seconds:
            done += len(evaluator.infer(inputs))
        return done

    with ThreadPoolExecutor(callers) as pool:
        done = sum(pool.map(ask, range(callers)))
    return done / (time.perf_counter() - start)


class _Kept:
    """What was measured on this machine: a JSON file in the user's cache folder, which may be lost at any time."""

    def __init__(self) -> None:
        self._machine = _machine()
        self._found: dict[str, Any] = {"machine": self._machine}
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("machine") == self._machine:
                self._found = found

    @property
    def _path(self) -> Path:
        return cache_path("devices.json")

    def devices(self, again: bool = False) -> list[Device]:
        """The CPU, and the other devices that libraries of this machine offer, listed once unless `again`."""
        # Most machines: no library and no card that could be another device.
        if self._machine["graphics"] == [] and find_spec("onnxruntime") is None:
            return ["cpu"]
        if again or "devices" not in self._found:
            providers = onnxruntime_providers()
            gpu: list[Any] = ["intel-gpu"] if has_gpu(openvino_devices()) else []
            others = [name for name, known in PROVIDERS.items() if known in providers and name not in BY_NAME_ONLY]
            # Loading PyTorch to ask takes two seconds; without a card there is nothing to ask for.
            own: list[Any] = ["torch"] if self._machine["graphics"] != [] and _torch_gpu() else []
            self._found["devices"] = ["cpu", *gpu, *others, *own]
            self._write()
        found: list[Device] = self._found["devices"]
        return found

    def rates(self, key: str) -> dict[Device, float]:
        found: dict[Device, float] = self._found.get("rates", {}).get(key, {})
        return found

    def keep(self, key: str, rates: dict[Device, float]) -> None:
        self._found.setdefault("rates", {})[key] = rates
        self._write()

    @property
    def has_layouts(self) -> bool:
        return bool(self._found.get("layouts"))

    def layout(self, key: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._found["layouts"].get(key)
        return found

    def keep_layout(self, key: str, layout: dict[str, Any] | None) -> None:
        self._found.setdefault("layouts", {})[key] = layout
        self._write()

    def _write(self) -> None:
        with suppress(OSError):  # then it is measured again the next time
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._path, json.dumps(self._found, indent=1), durable=False, shared=True)


def _torch_gpu() -> bool:
    """Whether there is PyTorch, and it finds a GPU. Importing it takes seconds."""
    if find_spec("torch") is None:
        return False
    from tengen.evaluators.torch import gpu_there

    return gpu_there()


def _machine() -> dict[str, Any]:
    """What decides the speeds: the processor, graphics cards and libraries."""
    runtimes = (f"onnxruntime{kind}" for kind in ("", "-gpu", "-rocm", "-directml", "-coreml"))
    return {
        "processor": processor_name(),
        "cores": core_count(),
        "graphics": graphics_files(),
        "visible": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "versions": library_versions(["openvino", "torch", *runtimes]),
        "native layers": 2,  # raised when ours become faster
    }


def _case(path: Path, batch: int | None, **options: Unpack[EvaluatorOptions]) -> str:
    """What the rates hang on: the network, the batch, and all options but those that concern opening alone."""
    threads = options.get("threads", 0) or core_count()
    further = {name: value for name, value in sorted(options.items()) if name in ("streams", "precision", "native")}
    usual = {"streams": 1, "precision": "auto", "native": None}
    text = "".join(f" {name} {value}" for name, value in further.items() if value != usual[name])
    return f"{_architecture(path)} batch {batch or 'of a search'} threads {threads}{text}"


def _architecture(path: Path) -> str:
    """A name for all networks that cost the same: those of one run, and copies. An int8 file is another network."""
    card, int8 = read_card(path), int8_path(path).is_file()
    text = json.dumps([card.family, card.config, card.plane_set, path.stat().st_size // 4096, int8], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
