"""OpenVINO's own duties: buckets, precision, cached models, and one clear line for a wrong file."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace

import katago_twin as twin
import numpy as np
import onnx
import pytest
from filelock import FileLock
from small_network import PLANES, SCALARS, SmallNet, random_inputs, write_network

from tengen import _native
from tengen.checksums import file_digest
from tengen.disk import cache_path
from tengen.errors import NetworkError
from tengen.evaluators import load_evaluator, openvino
from tengen.evaluators.file_evaluator import NetworkFileEvaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.layout import Layout, native_layers
from tengen.evaluators.model_cache import CACHE, ModelCache
from tengen.evaluators.network_file import Card, read_card
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import Game
from tengen.networks.export import relabel


def test_a_batch_of_any_length(network: Path) -> None:
    inputs = random_inputs([9] * 53, 9)
    alone = OpenVinoEvaluator(network, precision="f32", max_batch=1).infer(inputs)
    for max_batch in (8, 64):
        evaluator = OpenVinoEvaluator(network, precision="f32", max_batch=max_batch)
        for n in (1, 3, 8, 13, 20, 25, 40, 53):  # padded, and cut where a quarter or more would be padding
            assert np.allclose(evaluator.infer(inputs[:n]).policy, alone.policy[:n], atol=1e-6)
    empty = evaluator.infer(inputs[:0])
    assert len(empty) == 0 and empty.policy.shape == (0, 82)


def test_models_are_compiled_once_and_cached_on_disk(network: Path, model_cache: Path) -> None:
    evaluator = OpenVinoEvaluator(network)
    evaluator.warm_up(9, (1, 3))
    assert cache_path(CACHE).is_relative_to(model_cache)
    before = sorted(cache_path(CACHE).rglob("*.blob"))
    assert before
    evaluator.infer(random_inputs([9] * 4, 9))
    times = [path.stat().st_mtime_ns for path in before]
    OpenVinoEvaluator(network).warm_up(9, (1, 4))
    assert sorted(cache_path(CACHE).rglob("*.blob")) == before
    assert [path.stat().st_mtime_ns for path in before] == times


def altered(blob: Path) -> None:
    data = bytearray(blob.read_bytes())
    data[-8:] = bytes(8)  # as after a loss of power
    blob.unlink()
    blob.write_bytes(data)


def without_digest(blob: Path) -> None:
    """As after a kill while it was written."""
    data = blob.read_bytes()
    for path in (blob, blob.with_suffix(".sha256")):
        path.unlink()
    blob.write_bytes(data[:-100])


@pytest.mark.parametrize("damage", [altered, without_digest])
def test_a_compiled_model_that_is_damaged_is_made_again(
    damage: Callable[[Path], None], network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenVINO evaluates with it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    inputs = random_inputs([9], 9)
    expected = OpenVinoEvaluator(network).infer(inputs)
    (blob,) = cache_path(CACHE).rglob("*.blob")
    size = blob.stat().st_size
    damage(blob)
    damaged = blob.read_bytes()
    for _ in range(2):
        found = OpenVinoEvaluator(network).infer(inputs)
        assert np.array_equal(found.policy, expected.policy) and np.array_equal(found.value, expected.value)
        assert blob.read_bytes() != damaged and blob.stat().st_size == size
    assert blob.with_suffix(".sha256").read_text() == file_digest(blob)


def test_a_model_that_another_version_wrote_over_gets_its_own_digest(network: Path, tmp_path: Path) -> None:
    cache = ModelCache(tmp_path, network)
    for content in (b"old", b"new"):
        with cache.entry(1, 9) as folder:
            blob = Path(folder) / "1.blob"
            blob.parent.mkdir(exist_ok=True)
            blob.write_bytes(content)
            os.utime(blob, (2e9, 2e9 + (content == b"new")))
        os.utime(blob.with_suffix(".sha256"), (2e9, 2e9))
    with cache.entry(1, 9):
        assert blob.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("flags", "capabilities", "expected"),
    [
        ("avx2 avx512_bf16", ["FP32", "BF16"], "bf16"),
        ("avx2 amx_bf16", ["FP32", "BF16"], "bf16"),
        ("avx2 avx_vnni", ["FP32", "BF16"], "f32"),  # Arrow Lake and Lunar Lake convert it alone
        ("avx2 avx512_bf16", ["FP32"], "f32"),
        ("", ["FP32", "BF16"], "bf16"),  # Arm
    ],
)
def test_bf16_is_for_processors_that_multiply_it(
    flags: str, capabilities: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "processor_flags", flags.split)
    assert openvino._float_precision(SimpleNamespace(get_property=lambda *_: capabilities)) == expected


@pytest.mark.skipif("avx512_bf16" not in _native.processor_flags(), reason="this processor has no products of bf16")
def test_a_model_of_f32_is_not_taken_for_one_of_bf16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transformer of bf16 gave NaN when the same network had been used in f32 before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    maker = twin.Maker(17, 3)
    blocks = (maker.attention(6, 2, 2, 32, 16, "fixed"), maker.feed_forward(6))
    path = tmp_path / "net.bin"
    path.write_bytes(twin.text(maker.model(blocks, policy_outputs=4)))
    games = [Game(9)] * 2
    fresh = load_evaluator(path, precision="bf16", remember=False).evaluate(games)
    exact = load_evaluator(path, precision="f32").evaluate(games)
    found = load_evaluator(path, precision="bf16").evaluate(games)
    assert np.array_equal(found.policy, fresh.policy) and (found.policy != exact.policy).any()


def test_one_process_at_a_time_compiles_into_the_cache(network: Path, model_cache: Path) -> None:
    evaluator = OpenVinoEvaluator(network)
    with ThreadPoolExecutor() as beside:
        with FileLock(cache_path(CACHE) / evaluator.precision / ".lock"):
            compiled = beside.submit(evaluator.warm_up, 9, (2,))
            with pytest.raises(TimeoutError):
                compiled.result(timeout=0.5)
        compiled.result(timeout=100)


def test_a_full_cache_gives_up_the_models_used_longest_ago(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    evaluator = OpenVinoEvaluator(network)
    evaluator.warm_up(9, (1,))
    (own,) = cache_path(CACHE).rglob("*.blob")
    older, newer = (own.with_name(f"{name}.blob") for name in ("older", "newer"))
    for path in (older, newer):
        path.write_bytes(bytes(own.stat().st_size))
    older.with_suffix(".sha256").touch()
    for path, age in ((older, 3_000_000), (newer, 2_000_000)):
        os.utime(path, (time.time() - age,) * 2)
    monkeypatch.setattr("tengen.evaluators.model_cache._CACHE_BYTES", int(3.5 * own.stat().st_size))
    evaluator.warm_up(7, (1,))
    left = set(cache_path(CACHE).rglob("*.blob"))
    assert {path.with_suffix(".blob") for path in cache_path(CACHE).rglob("*.sha256")} == left - {newer}
    assert older not in left and newer in left and len(left) == 3 and own in left
    assert len(OpenVinoEvaluator(network).infer(random_inputs([9], 9))) == 1


def test_works_without_a_cache_folder(network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len(OpenVinoEvaluator(network).infer(random_inputs([5], 5))) == 1


@pytest.mark.parametrize("native", [False, True])
def test_a_file_that_changes_later_is_not_read_again(native: bool, tmp_path: Path) -> None:
    """Models of further batches and boards are those of the network that was loaded."""
    path = write_network(tmp_path / "net.onnx", SmallNet(seed=1, width=16))
    other = write_network(tmp_path / "other.onnx", SmallNet(seed=2, width=16))
    boards = [random_inputs([13] * 8, 13), random_inputs([19] * 2, 19)]

    def opened() -> OpenVinoEvaluator:
        return OpenVinoEvaluator(path, precision="f32", threads=1, native=native, remember=False)

    expected = [opened().infer(inputs) for inputs in boards]
    evaluator = opened()
    evaluator.infer(boards[0][:1])
    assert bool(evaluator._kernels) == evaluator.rule.native
    path.write_bytes(other.read_bytes())
    assert np.array_equal(evaluator.infer(boards[0]).policy, expected[0].policy)
    path.unlink()
    assert np.array_equal(evaluator.infer(boards[1]).policy, expected[1].policy)


def test_a_device_that_fails_in_a_batch_is_an_error_of_the_network(
    network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a GPU without memory does. `auto` leaves such a device out, and commands say it in a line."""
    evaluator, inputs = OpenVinoEvaluator(network), random_inputs([9], 9)
    expected = evaluator.infer(inputs)

    def fail(*_: object) -> None:
        raise RuntimeError("Exception from src/plugins/intel_gpu:\n[GPU] out of resources\n")

    with monkeypatch.context() as patch:
        patch.setattr(openvino._Request, "start", fail)
        with pytest.raises(NetworkError, match=r"does not run on 9x9: \[GPU\] out of resources"):
            evaluator.infer(inputs)
    assert np.array_equal(evaluator.infer(inputs).policy, expected.policy), "it goes on once the device does"


def test_precision_must_be_known(network: Path) -> None:
    with pytest.raises(ValueError, match="'int1'"):
        OpenVinoEvaluator(network, precision="int1")  # type: ignore[arg-type]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"none\.onnx"):
        OpenVinoEvaluator(tmp_path / "none.onnx")


@pytest.mark.parametrize("content", [b"", b"(;GM[1]SZ[19])", bytes(range(256)) * 40])
def test_a_file_that_is_no_network(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "wrong.onnx"
    path.write_bytes(content)
    with pytest.raises(NetworkError, match=r"wrong\.onnx") as caught:
        OpenVinoEvaluator(path)
    assert "\n" not in str(caught.value)


def test_a_reader_that_could_not_be_loaded_is_no_fault_of_the_file(
    network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `ulimit -v 400000`."""

    def read_model(path: Path) -> None:
        raise RuntimeError(f"Unable to read the model: {path} Please check the format.\nAvailable frontends: ir ")

    core = openvino.openvino_core()
    fake = SimpleNamespace(read_model=read_model, get_property=core.get_property)
    monkeypatch.setattr(openvino, "openvino_core", lambda: fake)
    with pytest.raises(NetworkError, match="library for ONNX files could not be loaded, perhaps for lack of memory"):
        OpenVinoEvaluator(network)


def test_a_file_cut_short(network: Path, tmp_path: Path) -> None:
    path = tmp_path / "short.onnx"
    path.write_bytes(network.read_bytes()[:-200])
    with pytest.raises(NetworkError, match=r"short\.onnx") as caught:
        OpenVinoEvaluator(path)
    assert "\n" not in str(caught.value)


def test_a_network_with_other_inputs(tmp_path: Path) -> None:
    number = onnx.TensorProto.FLOAT
    x, y = (onnx.helper.make_tensor_value_info(name, number, [1, 2]) for name in "xy")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "other", [x], [y])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    card = Card(name="other", family="none", config={}, plane_set="tengen", board_sizes=[9])
    onnx.helper.set_model_props(model, card.metadata())
    path = tmp_path / "other.onnx"
    onnx.save(model, path)
    with pytest.raises(NetworkError, match="planes, scalars and mask"):
        OpenVinoEvaluator(path)


@pytest.mark.parametrize("open_file", [OpenVinoEvaluator, OnnxRuntimeEvaluator])
@pytest.mark.parametrize(
    ("name", "shape"),
    [("planes", ["b", 5]), ("scalars", ["b"]), ("mask", ["b", "h"]), ("policy", ["b"]), ("policy", ["b", 82, 1])],
)
def test_shapes_of_another_rank(
    name: str, shape: list[str | int], open_file: type[NetworkFileEvaluator], tmp_path: Path
) -> None:
    shapes = {"planes": ["b", 5, "h", "w"], "scalars": ["b", 2], "mask": ["b", "h", "w"], "policy": ["b", 82]}
    shapes[name] = shape
    number = onnx.TensorProto.FLOAT
    ports = [onnx.helper.make_tensor_value_info(port, number, shape) for port, shape in shapes.items()]
    cut = onnx.numpy_helper.from_array(np.array([n if isinstance(n, int) else 1 for n in shapes["policy"]]), "shape")
    zeros = onnx.helper.make_node("ConstantOfShape", ["shape"], ["policy"])
    graph = onnx.helper.make_graph([zeros], "other", ports[:3], ports[3:], [cut])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.helper.set_model_props(model, Card(name="x", family="x", config={}, plane_set="x", board_sizes=[9]).metadata())
    onnx.save(model, tmp_path / "other.onnx")
    with pytest.raises(NetworkError, match=r"other\.onnx"):
        open_file(tmp_path / "other.onnx")


@pytest.mark.parametrize("open_file", [OpenVinoEvaluator, OnnxRuntimeEvaluator])
def test_a_network_and_a_card_that_do_not_fit(
    open_file: Callable[[Path], NetworkFileEvaluator], network: Path, tmp_path: Path
) -> None:
    path = tmp_path / "other.onnx"
    relabel(network, path, read_card(network).model_copy(update={"plane_set": "agz17"}).metadata())
    with pytest.raises(NetworkError, match=rf"other.onnx does not fit .*takes {PLANES} planes .*'agz17' .*17 and"):
        open_file(path)
    relabel(network, path, read_card(network).model_copy(update={"plane_set": "of a program"}).metadata())
    assert len(open_file(path).infer(random_inputs([9], 9))) == 1, "which may register it later"


def test_wrong_planes_are_named(network: Path) -> None:
    inputs = random_inputs([9], 9)
    with pytest.raises(NetworkError, match=f"takes {PLANES} planes and {SCALARS} scalars, got {PLANES - 1}"):
        OpenVinoEvaluator(network).infer(replace(inputs, planes=inputs.planes[:, :-1]))


@pytest.mark.skipif("convolutions" not in native_layers("bf16"), reason="no products of bf16, or AMX")
def test_as_many_cores_as_rows_of_the_largest_batch_use_winograd() -> None:
    path = find_network("tygem-b8c64")
    evaluator = OpenVinoEvaluator(path, precision="bf16", threads=4, max_batch=4, remember=False)
    evaluator.infer(evaluator.blank(4, 19))
    assert evaluator.rule.native and list(evaluator._requests) == [(1, 19, Layout(True, 4))]
    assert not OpenVinoEvaluator(path, precision="bf16", threads=5, max_batch=4, remember=False).rule.native


def test_models_of_board_sizes_out_of_use_are_freed_before_the_memory_is_full(
    network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = OpenVinoEvaluator(network, remember=False, native=False)
    bytes_of_three = 3 * 2 * openvino._COPIES * network.stat().st_size
    monkeypatch.setattr(openvino, "total_memory", lambda: bytes_of_three)
    monkeypatch.setattr(evaluator, "_prepare", lambda *_: SimpleQueue())
    now = 0.0
    monkeypatch.setattr("tengen.evaluators.openvino.time", SimpleNamespace(monotonic=lambda: now))

    def shapes(edge: int, *batches: int) -> list[tuple[int, int]]:
        evaluator.warm_up(edge, batches)
        return [key[:2] for key in evaluator._requests]

    turns = [(1, 5), (2, 5), (1, 7), (1, 9), (1, 11)]
    assert shapes(5, 1, 2) == turns[:2]
    assert shapes(7, 1) == turns[:3]
    assert shapes(9, 1) == turns[:4]
    assert shapes(11, 1) == turns, "sizes that take turns stay"
    now += openvino._IN_USE - 1
    assert shapes(5, 1) == turns
    now += 1
    assert shapes(5, 4) == [(1, 5), (2, 5), (4, 5)], "the one used last stays"
    assert shapes(9, 1) == [(1, 5), (2, 5), (4, 5), (1, 9)]
    now += openvino._IN_USE / 2
    assert shapes(9, 1)[-1] == (1, 9)
    now += openvino._IN_USE / 2
    assert shapes(11, 1) == [(1, 9), (1, 11)], "a board size goes whole"
    assert shapes(11, 1, 2, 4, 8) == [(1, 9), (1, 11), (2, 11), (4, 11), (8, 11)]
    now += openvino._IN_USE
    assert shapes(11, 16)[0] == (1, 11), "those of the size in use stay"


SIGNALLED = """
import gc, os, signal, threading
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import Game

held = [OpenVinoEvaluator(find_network("zero-7x7"))]
held[0].evaluate([Game(7)])

def drop():
    held.clear()
    gc.collect()

thread = threading.Thread(target=drop)
thread.start()
thread.join()
signal.signal(signal.SIGINT, lambda *_: print("handled"))
os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of a process to itself ends it there")
def test_a_signal_is_handled_after_another_thread_has_closed_a_network() -> None:
    """The processor's plugin of OpenVINO, once unloaded, would leave the main thread without a stack for signals."""
    done = subprocess.run([sys.executable, "-c", SIGNALLED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "handled"), done.stderr
