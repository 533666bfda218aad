"""The trainer by itself: what it does not write, and what may change between two starts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.errors import NetworkError, TrainingDiverged
from tengen.networks.export import export
from tengen.training.config import RunConfig
from tengen.training.samplers import open_samplers
from tengen.training.supervised import make_trainer
from tengen.training.trainer import Callback, Trainer, read_checkpoint


def test_a_network_that_is_not_finite_is_not_written(run: RunConfig, tmp_path: Path) -> None:
    """Nor its checkpoint, whatever the last loss was."""
    trainer = make_trainer(run, open_samplers(run).train.plane_set)
    next(trainer.average.parameters()).data[0] = float("nan")
    with pytest.raises(TrainingDiverged, match="a weight is not finite"):
        trainer.save(tmp_path / "step-1.ckpt")
    with pytest.raises(NetworkError, match=r"x\.onnx is not written: the network has weights that are infinite"):
        export(trainer.average, 22, 10, tmp_path / "x.onnx", {})
    assert not list(tmp_path.iterdir())


def test_compiling_may_change_between_starts(settings: dict[str, Any], run: RunConfig) -> None:
    settings["training"]["compile"] = True
    inputs = open_samplers(run).train.plane_set
    plain, compiled = (make_trainer(each, inputs) for each in (run, RunConfig.model_validate(settings)))
    compiled.restore(plain.state())
    assert compiled.state()["network"].keys() == plain.state()["network"].keys()


class Patience(Callback):
    """Counts validations."""

    def __init__(self) -> None:
        self.seen = 0

    def on_validation(self, trainer: Trainer[Any], figures: Mapping[str, float]) -> None:
        self.seen += 1

    def state_dict(self) -> dict[str, Any]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.seen = state["seen"]


def test_a_callback_goes_on_where_its_checkpoint_was(run: RunConfig, tmp_path: Path) -> None:
    """One without a state, or new in the recipe, begins anew."""
    inputs = open_samplers(run).train.plane_set
    before = make_trainer(run, inputs, [Callback(), Patience()])
    for _ in range(3):
        before.call("on_validation", {})
    before.save(tmp_path / "step-1.ckpt")
    for callbacks in ([Patience(), Callback()], [Callback()]):
        after = make_trainer(run, inputs, callbacks)
        after.restore(read_checkpoint(tmp_path / "step-1.ckpt"))
        assert [each.seen for each in callbacks if isinstance(each, Patience)] == [3] * (len(callbacks) - 1)
