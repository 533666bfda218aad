"""Several devices compute what one computes: the same batches, losses and weights, stopped and resumed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import yaml
from training.small_run import settings_of

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.data.sampler import Sampler  # noqa: E402
from tengen.data.store import Store  # noqa: E402
from tengen.errors import RecipeError, TengenError  # noqa: E402
from tengen.machine import core_count  # noqa: E402
from tengen.runs.checkpoints import checkpoints  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.training import ranks  # noqa: E402
from tengen.training.batches import BatchStream, TensorBatch  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.ranks import Followers, Rank  # noqa: E402
from tengen.training.supervised import make_trainer, open_samplers, train  # noqa: E402
from tengen.training.trainer import Callback, Trainer  # noqa: E402

STEPS = 60


def configured(store: Path, **training: Any) -> dict[str, Any]:
    settings = settings_of(store)
    settings["training"] |= {"steps": STEPS, "validate_every": 1000, "log_every": 1, **training}
    return settings


@pytest.mark.parametrize("number", [2, 4])
def test_the_ranks_draw_the_rows_of_one_batch(store: Path, number: int) -> None:
    """Over the end of an epoch, with symmetries and varied rules."""
    settings: dict[str, Any] = {"batch_size": 16, "seed": 5, "vary_rules": True, "targets": True}
    whole = Sampler(Store.open(store), "all", **settings)
    parts = [Sampler(Store.open(store), "all", part=(rank, number), **settings) for rank in range(number)]
    for step in (0, 1, whole.positions // 16):
        batch, found = whole.batch(step), [part.batch(step) for part in parts]
        assert [len(part) for part in found] == [16 // number] * number
        for name in ("planes", "scalars", "policy", "value", "score", "weight", "target", "reply"):
            np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in found]), getattr(batch, name))


@pytest.mark.parametrize("teacher", [None, {"network": "zero-7x7", "value": 0.5}])
def test_parts_of_a_batch_give_the_losses_and_the_step_of_the_whole(store: Path, teacher: Any) -> None:
    """Though their positions count unequally: weights from 0.5 to 2, and one part knows no score at all."""
    after = []
    for parts in (1, 4):
        settings = configured(
            store, accumulate=parts, ema=0, optimizer={"name": "sgd", "lr": 0.1}, schedule={"warmup_steps": 0}
        )
        settings["data"]["teacher"] = teacher
        run = RunConfig.model_validate(settings)
        samplers = open_samplers(run)
        batch = samplers.train.batch(0)
        batch.weight[:] = np.linspace(0.5, 2, 8)
        batch.score[[2, 3, 7]] = np.nan
        trainer = make_trainer(run, samplers.train.plane_set)
        trainer.train_step(TensorBatch.of(batch))
        after.append((trainer.network.state_dict(), {name: float(loss) for name, loss in trainer.losses.items()}))
    (weights, losses), (weights_of_parts, losses_of_parts) = after
    assert losses_of_parts == pytest.approx(losses, abs=1e-6) and losses["score"] > 0
    for name, tensor in weights.items():
        torch.testing.assert_close(weights_of_parts[name], tensor, atol=1e-6, rtol=1e-5)


@pytest.mark.posix
@pytest.mark.skipif(core_count() < 2, reason="two processes are refused on one core")
def test_two_processes_stopped_by_ctrl_c_and_resumed_by_one_end_like_one(store: Path, tmp_path: Path) -> None:
    """Bit for bit: one process that computes a batch in two parts adds the same gradients in the same order."""
    folder = tmp_path / "two"
    recipe = tmp_path / "two.yaml"
    recipe.write_text(yaml.safe_dump(configured(store, devices=2)))
    arguments = [sys.executable, "-m", "tengen", "train", str(recipe), "--quiet", "--out", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.Popen(arguments, start_new_session=True, stderr=subprocess.PIPE, env=environment, text=True)
    log = folder / "log.jsonl"
    while not (log.exists() and '"train"' in log.read_text()):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    everyone = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130 and "the same command continues it" in said and "Traceback" not in said
    assert not psutil.wait_procs(everyone, timeout=60)[1]
    assert 1 <= checkpoints(folder / "checkpoints")[-1][0] < STEPS
    # Go on with one process, and once more without a break.
    run = RunConfig.model_validate(configured(store, accumulate=2))
    samplers, losses = open_samplers(run), Losses()
    trainers = [make_trainer(run, samplers.train.plane_set, [losses] * first) for first in (1, 0)]
    trainers[1].load(checkpoints(folder / "checkpoints")[-1][1])
    for trainer in trainers:
        trainer.fit(BatchStream(samplers.train, trainer.step))
    states = [trainer.state() for trainer in trainers]
    for part in ("network", "average", "scalars"):
        for name, tensor in states[0][part].items():
            assert torch.equal(tensor, states[1][part][name]), name
    for event in read_events(folder, "train"):
        assert {name: event[name] for name in ("policy", "value", "score", "top1")} == losses.seen[event["step"]]


class Losses(Callback):
    """Keeps the losses of each step, rounded as in the log."""

    def __init__(self) -> None:
        self.seen: dict[int, dict[str, float]] = {}

    def on_step(self, trainer: Trainer[Any]) -> None:
        known = {name: round(float(loss), 5) for name, loss in trainer.losses.items()}
        self.seen[trainer.step] = {name: known[name] for name in ("policy", "value", "score", "top1")}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"devices": 0}, "greater than or equal to 1"),
        ({"strategy": "fsdp"}, "'ddp'"),
        ({"devices": 3}, "batch_size 8 is no multiple of devices x accumulate = 3 x 1"),
        ({"devices": 2, "accumulate": 3}, "batch_size 8 is no multiple of devices x accumulate = 2 x 3"),
        ({"devices": 4096, "batch_size": 8192}, "devices is 4096, but this machine has"),
    ],
)
def test_devices_that_cannot_be_are_refused(
    store: Path, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises((RecipeError, ValueError), match=message):
        train(RunConfig.model_validate(configured(store, **settings)), tmp_path / "out", show_progress=False)
    assert not (tmp_path / "out").exists()


def test_the_error_of_another_rank_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forked: a process that imports PyTorch first takes seconds."""
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(ranks.multiprocessing, "get_context", lambda _: fork)
    with pytest.raises(TengenError, match="rank 1 of the training: no store here"), Followers(2, fail, "no store here"):
        pytest.fail("the ranks have met")


def fail(rank: Rank, why: str) -> None:
    raise RecipeError(why)
