"""The fastest device and layout: measured once a machine and network."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_network import random_inputs

from tengen.errors import NetworkError
from tengen.evaluators import device_rates, load_evaluator
from tengen.evaluators.device_rates import fastest_device
from tengen.evaluators.devices import PROVIDERS, EvaluatorOptions
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.layout import Layout
from tengen.evaluators.openvino import OpenVinoEvaluator


class Machine:
    """A machine with a CPU and what `providers` name, each of which takes so many ms a batch; None: no driver."""

    def __init__(self, network: Path, **milliseconds: float | None) -> None:
        self.network = network
        self.milliseconds = milliseconds
        self.measured: list[str] = []
        self.options: list[dict[str, Any]] = []

    def providers(self) -> list[str]:
        return [PROVIDERS[name] for name in self.milliseconds if name in PROVIDERS]

    def open(self, path: Path, device: Any, **options: Any) -> Any:
        self.options.append(options)
        milliseconds = self.milliseconds[device]
        if milliseconds is None:
            raise NetworkError("its driver is missing")
        self.measured.append(device)
        return Slow(milliseconds, 8 if device == "cpu" else 32)


class Slow:
    only_size = 9

    def __init__(self, milliseconds: float, search_batch: int = 8) -> None:
        self.milliseconds, self.search_batch = milliseconds, search_batch

    def blank(self, rows: int, edge: int) -> InputBatch:
        return random_inputs([edge] * rows, edge)

    def infer(self, batch: InputBatch) -> Evaluation:
        time.sleep(self.milliseconds / 1000)
        return Evaluation.zeros(len(batch), batch.edge)


def computed_rate(evaluator: Slow, batch: int, _seconds: float, callers: int) -> float:
    """What would be measured on an idle machine."""
    return callers * batch * 1000 / evaluator.milliseconds


@pytest.fixture
def machine(network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(network, cpu=8, cuda=2, rocm=None, tensorrt=0.1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(device_rates, "open_device", made.open)
    monkeypatch.setattr(device_rates, "onnxruntime_providers", made.providers)
    monkeypatch.setattr(device_rates, "openvino_devices", lambda: ["CPU"])
    monkeypatch.setattr(device_rates, "evaluation_rate", computed_rate)
    monkeypatch.setattr(device_rates, "graphics_files", lambda: ["/dev/nvidia0"])
    monkeypatch.setattr(device_rates, "_torch_gpu", lambda: "torch" in made.milliseconds)
    return made


def test_the_fastest_device_is_measured_once(machine: Machine, network: Path) -> None:
    """A provider without a driver counts as missing; TensorRT is not tried."""
    best, rates = fastest_device(network, 8)
    assert best == "cuda"
    assert rates == {"cpu": 1000, "cuda": 4000, "rocm": 0}, "8 positions in 8 ms and in 2 ms"
    assert machine.measured == ["cpu", "cuda"]
    assert fastest_device(network, 8) == (best, rates) and machine.measured == ["cpu", "cuda"]
    fastest_device(network, 64)
    assert machine.measured == ["cpu", "cuda"] * 2, "another batch"


def test_a_search_has_larger_batches_on_a_graphics_card(machine: Machine, network: Path) -> None:
    """A card that needs 10 ms for 8 positions or 32 is slower than a CPU that needs 8 ms for 8, and faster in play."""
    machine.milliseconds = {"cpu": 8, "cuda": 10}
    assert fastest_device(network, 8) == ("cpu", {"cpu": 1000, "cuda": 800})
    assert fastest_device(network, None) == ("cuda", {"cpu": 1000, "cuda": 3200})


def test_pytorch_is_a_device_where_it_finds_a_gpu(machine: Machine, network: Path) -> None:
    """Not once the GPU is gone, when it would take the CPU, nor where another one is visible."""
    machine.milliseconds = {"cpu": 8, "torch": 1}
    assert fastest_device(network, 8) == ("torch", {"cpu": 1000, "torch": 8000})
    machine.milliseconds = {"cpu": 8}
    assert fastest_device(network, 8) == ("cpu", {"cpu": 1000, "torch": 0})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        assert fastest_device(network, 8) == ("cpu", {})


def test_a_device_that_opens_later_is_taken_then(machine: Machine, network: Path) -> None:
    """Its driver came, or another process had filled it; a library that came is found by `again`."""
    machine.milliseconds = {"cpu": 8, "cuda": None}
    assert fastest_device(network, 8)[0] == "cpu"
    machine.milliseconds = {"cpu": 8, "cuda": 2, "rocm": 0.5}
    assert fastest_device(network, 8)[0] == "cuda" and machine.measured == ["cpu", "cuda"]
    assert fastest_device(network, 8, again=True)[0] == "rocm"
    assert fastest_device(network, 8)[0] == "rocm" and len(machine.measured) == 5


def test_devices_are_measured_as_they_are_used(machine: Machine, network: Path) -> None:
    """Self-play runs a stream a worker without Winograd's algorithm, and keeps no compiled models."""
    fastest_device(network, 8)
    options = EvaluatorOptions(threads=2, streams=2, precision="f32", native=False, remember=False)
    machine.options.clear()
    _, rates = fastest_device(network, 8, **options)
    assert machine.options == [options] * 3 and machine.measured == ["cpu", "cuda"] * 2
    assert rates == {"cpu": 2000, "cuda": 8000, "rocm": 0}, "asked by two threads at once"
    fastest_device(network, 8, **options)
    assert machine.measured == ["cpu", "cuda"] * 2


def test_callers_ask_at_once() -> None:
    together = threading.Barrier(3, timeout=60)

    class Meeting(Slow):
        compiled = False

        def infer(self, batch: InputBatch) -> Evaluation:
            if self.compiled:
                together.wait()
            self.compiled = True
            return super().infer(batch)

    rate = device_rates.evaluation_rate(Meeting(10), 8, 0, callers=3)  # type: ignore[arg-type]
    assert 0 < rate <= 3 * 8 / 0.01


def test_a_change_is_measured_again(
    machine: Machine, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fastest_device(network, 8)
    fastest_device(find_network("zero-7x7"), 8)
    assert machine.measured == ["cpu", "cuda"] * 2, "another network"
    monkeypatch.setattr(device_rates, "graphics_files", lambda: ["/dev/nvidia0", "/dev/nvidia1"])
    machine.milliseconds = {"cpu": 1, "cuda": 4}
    assert fastest_device(network, 8)[0] == "cpu"
    assert machine.measured == ["cpu", "cuda"] * 3, "another graphics card"
    (tmp_path / "tengen" / "devices.json").write_text("{ damaged")
    assert fastest_device(network, 8)[0] == "cpu" and machine.measured == ["cpu", "cuda"] * 4
    assert json.loads((tmp_path / "tengen" / "devices.json").read_text())["devices"] == ["cpu", "cuda"]


def test_auto_takes_the_cpu_without_measuring_where_there_is_nothing_else(
    machine: Machine, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.milliseconds = {"cpu": 1}
    assert fastest_device(network, 8) == ("cpu", {}) and not machine.measured
    monkeypatch.undo()
    evaluator = load_evaluator(network)
    assert isinstance(evaluator, OpenVinoEvaluator) and evaluator.precision in ("bf16", "f32")


@pytest.mark.linux
@pytest.mark.parametrize("name", ["nvidia0", "dri/renderD128", "dxg"])
def test_a_graphics_card_is_looked_for(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ONNX Runtime too. Under Windows's subsystem for Linux the only device file is /dev/dxg."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tengen.machine._DEV", tmp_path)
    monkeypatch.setattr(device_rates, "_torch_gpu", lambda: True)
    monkeypatch.setattr(device_rates, "openvino_devices", lambda: ["CPU"])
    monkeypatch.setattr(device_rates, "onnxruntime_providers", lambda: [])
    monkeypatch.setattr(device_rates, "find_spec", lambda library: None)
    assert device_rates._Kept().devices() == ["cpu"]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    assert device_rates._Kept().devices() == ["cpu", "torch"]


def test_pytorch_is_not_loaded_to_find_a_gpu_where_there_is_no_card(
    machine: Machine, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes two seconds of the first start. Other systems have no files of cards: there PyTorch is asked."""
    asked: list[bool] = []
    monkeypatch.setattr(device_rates, "_torch_gpu", lambda: asked.append(True) or False)
    machine.milliseconds = {"cpu": 1}
    monkeypatch.setattr(device_rates, "graphics_files", lambda: [])
    assert fastest_device(network, 8) == ("cpu", {}) and not asked
    monkeypatch.setattr(device_rates, "graphics_files", lambda: None)
    assert fastest_device(network, 8) == ("cpu", {}) and asked


@pytest.mark.parametrize("names", [["CPU", "GPU"], ["CPU", "GPU.0", "GPU.1"]])
def test_one_gpu_or_several(names: list[str], machine: Machine, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.milliseconds = {"cpu": 8, "intel-gpu": 2}
    monkeypatch.setattr(device_rates, "openvino_devices", lambda: names)
    assert fastest_device(network, 8)[0] == "intel-gpu"


def test_a_layout_of_a_later_version_is_left_alone(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    later = {"native": False, "parts": 2, "threads": 1, "pinned": True}
    device_rates._Kept().keep_layout(device_rates._case(network, 8, threads=2), later)
    assert device_rates.kept_layout(network, 8, 2) is None


def test_the_fastest_layout_is_kept_for_auto(network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is clearly faster than the rule. All layouts give the same results but for the last digits, which in
    bf16 are the fourth of a probability."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fast = Layout(False, 2)
    opened: dict[Layout | None, OpenVinoEvaluator] = {}

    def rate(evaluator: OpenVinoEvaluator, batch: int, seconds: float) -> float:
        opened[evaluator.rule.chosen] = evaluator
        return 105.0 if evaluator.rule.chosen == fast else 100.0

    monkeypatch.setattr(device_rates, "evaluation_rate", rate)
    assert device_rates.measure_layouts(network, 8, threads=2)[str(fast)] == 105
    assert device_rates.kept_layout(network, 8, 2) is None, "5% are noise"
    monkeypatch.setattr(
        device_rates,
        "evaluation_rate",
        lambda evaluator, *_: 1.3 * rate(evaluator, *_) if evaluator.rule.chosen == fast else rate(evaluator, *_),
    )
    device_rates.measure_layouts(network, 8, threads=2)
    assert device_rates.kept_layout(network, 8, 2) == fast and device_rates.kept_layout(network, 64, 2) is None
    chosen, fixed = load_evaluator(network, threads=2), load_evaluator(network, "cpu", threads=2)
    assert isinstance(chosen, OpenVinoEvaluator) and isinstance(fixed, OpenVinoEvaluator)
    assert chosen.rule.chosen == fast and fixed.rule.chosen is None
    inputs = random_inputs([13] * 5, 13)
    expected = OpenVinoEvaluator(network, precision="f32", native=False, remember=False).infer(inputs)
    assert {layout.parts for layout in opened if layout} == {1, 2}
    for evaluator in opened.values():
        found = evaluator.infer(inputs)
        for ours, plain in ((found.policy, expected.policy), (found.value, expected.value)):
            np.testing.assert_allclose(ours, plain, atol=1e-5 if evaluator.precision == "f32" else 2e-3)
