"""Which devices run a network: those that libraries offer; others are refused."""

from pathlib import Path

import onnxruntime
import pytest

from tengen.errors import MissingExtra, NetworkError
from tengen.evaluators import devices, load_evaluator
from tengen.evaluators.devices import open_device
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
from tengen.evaluators.torch import TorchFileEvaluator
from tengen.machine import Device, Precision


def test_pytorch_needs_its_extra(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(open_device(network, "torch", precision="f32"), TorchFileEvaluator)
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"device torch.*train"):
        open_device(network, "torch")


def test_a_device_that_is_not_there_is_refused(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "openvino_devices", lambda: ["CPU"])
    with pytest.raises(NetworkError, match="OpenVINO finds no GPU on this machine, only CPU"):
        load_evaluator(network, "intel-gpu")
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        words = "this ONNX Runtime has no CUDAExecutionProvider.* then pip install onnxruntime-gpu"
        with pytest.raises(NetworkError, match=words):
            load_evaluator(network, "cuda")
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    with pytest.raises(NetworkError, match="device rocm needs ONNX Runtime: pip install onnxruntime-rocm"):
        load_evaluator(network, "rocm")
    with pytest.raises(MissingExtra, match=r"pip install 'tengen\[onnxruntime\]'"):
        load_evaluator(network, "onnxruntime")


@pytest.mark.parametrize("names", [["CPU", "GPU"], ["CPU", "GPU.0", "GPU.1"]])
def test_one_gpu_or_several(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "openvino_devices", lambda: names)
    devices.check_device("intel-gpu")


@pytest.mark.parametrize(("device", "precision"), [("onnxruntime", "bf16"), ("torch", "int8"), ("intel-gpu", "int8")])
def test_a_precision_that_a_device_lacks_is_refused(
    device: Device, precision: Precision, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "openvino_devices", lambda: ["CPU", "GPU"])
    with pytest.raises(NetworkError, match=f"device {device} cannot compute in {precision}: .* take device cpu"):
        load_evaluator(network, device, precision=precision)


def test_a_provider_without_its_driver_is_refused(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime itself goes on with the CPU in silence."""
    cuda = "CUDAExecutionProvider"
    session = onnxruntime.InferenceSession
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [cuda, "CPUExecutionProvider"])
    monkeypatch.setattr(
        onnxruntime, "InferenceSession", lambda path, options, providers: session(path, options, providers[1:])
    )
    with pytest.raises(NetworkError, match="cannot use its CUDAExecutionProvider here"):
        OnnxRuntimeEvaluator(network, provider=cuda)
