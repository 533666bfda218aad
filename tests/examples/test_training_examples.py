"""The examples of training run and do what they say."""

import importlib.util
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from training.small_run import write_store

from tengen.evaluators import load_evaluator
from tengen.game import Game
from tengen.networks import FAMILIES
from tengen.runs.events import read_events
from tengen.training.batches import TARGETS
from tengen.training.callbacks import CALLBACKS
from tengen.training.losses import LOSSES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_store(tmp_path_factory.mktemp("stores") / "random"))


@pytest.fixture(autouse=True)
def _registries_as_before(restored: Callable[..., None]) -> None:
    restored(FAMILIES, LOSSES, TARGETS, CALLBACKS)


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_without_arguments_says_what_it_takes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(path)])
    with pytest.raises(SystemExit, match=f"python examples/{path.name} "):
        runpy.run_path(str(path), run_name="__main__")


def test_a_network_family(store: str, tmp_path: Path) -> None:
    path = example("network_family").main(store, str(tmp_path / "run"))
    evaluator = load_evaluator(str(path), precision="f32", remember=False)
    found = evaluator.evaluate([Game(7)])
    assert not evaluator.on(7).has_pass and found.policy[0, -1] == 0
    assert found.policy.sum() == pytest.approx(1, abs=1e-5)
    assert found.score is None and found.ownership is None and -1 <= found.value[0] <= 1


@pytest.mark.slow
def test_a_loss_with_a_target(store: str, tmp_path: Path) -> None:
    losses = example("custom_loss").main(store, str(tmp_path / "run"))
    assert len(losses) == 3 and np.isfinite(losses).all()
    assert all("value" in event for event in read_events(tmp_path / "run", "train"))


@pytest.mark.slow
def test_a_callback_stops_a_run(store: str, tmp_path: Path) -> None:
    assert example("callback").main(store, str(tmp_path / "run")).is_file()
    validations = [event["step"] for event in read_events(tmp_path / "run", "validation")]
    assert 2 <= len(validations) <= 6, "the rate is too low for a better accuracy"
    # The run is over: the same command trains no more.
    example("callback").main(store, str(tmp_path / "run"))
    assert [event["step"] for event in read_events(tmp_path / "run", "validation")] == validations


def test_a_trainer_in_python(store: str, tmp_path: Path) -> None:
    first, last = example("train_in_python").main(store, str(tmp_path / "net.onnx"))
    assert last < first
    assert load_evaluator(str(tmp_path / "net.onnx"), remember=False).name == "mine"
