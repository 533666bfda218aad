"""From a name to an evaluator with its wrappers."""

import sys
from pathlib import Path

import onnx
import pytest

from tengen.errors import MissingExtra, NetworkError
from tengen.evaluators import CachedEvaluator, SymmetricEvaluator, UniformEvaluator, load_evaluator
from tengen.evaluators.network_file import read_card
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
from tengen.evaluators.openvino import OpenVinoEvaluator


def test_devices(network: Path) -> None:
    assert isinstance(load_evaluator(network), OpenVinoEvaluator)
    assert isinstance(load_evaluator(str(network), "onnxruntime"), OnnxRuntimeEvaluator)
    assert isinstance(load_evaluator("uniform"), UniformEvaluator)


def test_wrappers(network: Path) -> None:
    assert isinstance(load_evaluator(network, symmetry="random"), SymmetricEvaluator)
    cached = load_evaluator(network, symmetry="average", cache=7)
    assert isinstance(cached, CachedEvaluator) and cached.size == 7


@pytest.mark.parametrize("remember", [True, False])
def test_compiled_models_are_kept_unless_told_not_to(
    remember: bool, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    evaluator = load_evaluator(network, remember=remember)
    assert isinstance(evaluator, OpenVinoEvaluator)
    evaluator.warm_up(5, (1,))
    assert any(path.is_file() for path in (tmp_path / "tengen" / "openvino").rglob("*")) == remember


def test_a_damaged_graph_is_an_error_in_words(network: Path, tmp_path: Path) -> None:
    """The card lies behind the graph and can still be read; so it is without the checksum, as of earlier versions."""
    model = onnx.load(network)
    del model.metadata_props[1:]
    data = bytearray(model.SerializeToString())
    start = data.index(b"planes") - 8
    data[start : start + 8] = b"\xff" * 8
    (tmp_path / "damaged.onnx").write_bytes(data)
    assert read_card(tmp_path / "damaged.onnx").name == "small"
    for device in ("cpu", "onnxruntime"):
        with pytest.raises(NetworkError, match=r"damaged\.onnx cannot be read as an ONNX network"):
            load_evaluator(tmp_path / "damaged.onnx", device)  # type: ignore[arg-type]


def test_unknown_names(network: Path) -> None:
    with pytest.raises(NetworkError, match="no network"):
        load_evaluator("nonesuch")
    with pytest.raises(NetworkError, match="device 'cude'; did you mean cuda"):
        load_evaluator(network, "cude")  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="device 'cude'"):
        load_evaluator("uniform", "cude")  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="'mirror'"):
        load_evaluator(network, symmetry="mirror")  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="precision 'int4'; did you mean int8"):
        load_evaluator("uniform", precision="int4")  # type: ignore[arg-type]


def test_an_empty_batch_is_refused(network: Path) -> None:
    with pytest.raises(NetworkError, match="a batch of 0 positions is impossible: give 1 or more"):
        load_evaluator(network, batch=0)


def test_a_negative_number_of_threads_is_refused(network: Path) -> None:
    with pytest.raises(NetworkError, match="-1 threads cannot compute"):
        load_evaluator(network, threads=-1)


def test_without_onnxruntime_the_extra_is_named(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tengen.evaluators.onnx_runtime", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"tengen\[onnxruntime\]"):
        load_evaluator(network, "onnxruntime")
