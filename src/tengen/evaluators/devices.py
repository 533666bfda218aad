"""The devices that run network files, and which of them this machine has."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from tengen.errors import MissingExtra, NetworkError
from tengen.evaluators.file_evaluator import NetworkFileEvaluator
from tengen.machine import Device, Precision

if TYPE_CHECKING:
    from tengen.evaluators.layout import Layout

PROVIDERS: dict[str, str] = {
    "cuda": "CUDAExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "directml": "DmlExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "onnxruntime": "CPUExecutionProvider",
}
"""ONNX Runtime's execution provider of each device that it runs."""
_PACKAGES = {device: f"onnxruntime-{device}" for device in ("rocm", "directml")} | dict.fromkeys(
    ("cuda", "tensorrt"), "onnxruntime-gpu"
)
"""The package of ONNX Runtime for a device, where it is not the usual one."""


class EvaluatorOptions(TypedDict, total=False):
    """Arguments of OpenVinoEvaluator. ONNX Runtime takes `threads` and `max_batch` alone, PyTorch `precision`."""

    threads: int
    streams: int
    precision: Precision
    max_batch: int
    remember: bool
    native: bool | None


def open_device(
    path: Path, device: Device, *, layout: Layout | None = None, **options: Unpack[EvaluatorOptions]
) -> NetworkFileEvaluator:
    """The evaluator of a network file on a device other than auto; `layout` is for the CPU.

    Raises NetworkError where this machine does not have the device and for a precision that the device does not offer,
    MissingExtra without its library.
    """
    check_device(device)
    precision = options.get("precision", "auto")
    lacking = ("bf16", "int8") if device in PROVIDERS else ("int8",) if device in ("torch", "intel-gpu") else ()
    if precision in lacking:
        raise NetworkError(f"device {device} cannot compute in {precision}: leave precision out, or take device cpu")
    if device in PROVIDERS:
        from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator

        return OnnxRuntimeEvaluator(
            path,
            provider=PROVIDERS[device],
            threads=options.get("threads", 0),
            max_batch=options.get("max_batch", 1024),
        )
    if device == "torch":
        from tengen.evaluators.torch import TorchFileEvaluator

        return TorchFileEvaluator(path, precision=precision)
    from tengen.evaluators.openvino import OpenVinoEvaluator

    return OpenVinoEvaluator(path, target="GPU" if device == "intel-gpu" else "CPU", layout=layout, **options)


def check_device(device: Device) -> None:
    """Raise NetworkError where no library of this machine offers the device, MissingExtra without its library.

    Whether a provider of ONNX Runtime finds its driver is known when it opens a network.
    """
    if device in PROVIDERS:
        if find_spec("onnxruntime") is None:
            if device in _PACKAGES:
                raise NetworkError(f"device {device} needs ONNX Runtime: pip install {_PACKAGES[device]}")
            raise MissingExtra(f"device {device}", "onnxruntime")
        if PROVIDERS[device] not in (found := onnxruntime_providers()):
            advice = f": pip uninstall onnxruntime, then pip install {_PACKAGES[device]}" if device in _PACKAGES else ""
            raise NetworkError(
                f"device {device}: this ONNX Runtime has no {PROVIDERS[device]}, only {', '.join(found)}{advice}"
            )
    elif device == "torch":
        if find_spec("torch") is None:
            raise MissingExtra("device torch", "train")
    elif device == "intel-gpu" and not has_gpu(found := openvino_devices()):
        raise NetworkError(f"device intel-gpu: OpenVINO finds no GPU on this machine, only {', '.join(found)}")


def openvino_devices() -> list[str]:
    """OpenVINO's devices, such as CPU and GPU; with two GPUs CPU, GPU.0 and GPU.1."""
    from tengen.evaluators.openvino import openvino_core

    found: list[str] = openvino_core().available_devices
    return found


def has_gpu(found: list[str]) -> bool:
    """Whether a GPU is among OpenVINO's devices, as `openvino_devices` names them.

    Of several OpenVINO takes the first one by the name GPU.
    """
    return any(name.partition(".")[0] == "GPU" for name in found)


def onnxruntime_providers() -> list[str]:
    """The execution providers of the installed ONNX Runtime; none without one."""
    if find_spec("onnxruntime") is None:
        return []
    import onnxruntime

    found: list[str] = onnxruntime.get_available_providers()
    return found
