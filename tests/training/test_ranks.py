"""Several devices compute what one computes: the same batches, losses and weights, stopped and resumed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import yaml
from training.small_run import settings_of
from unrendered import skip_rendering

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.cli.app import main  # noqa: E402
from tengen.data.sampler import Sampler  # noqa: E402
from tengen.data.store import Store  # noqa: E402
from tengen.errors import RecipeError, TengenError  # noqa: E402
from tengen.machine import core_count  # noqa: E402
from tengen.runs.checkpoints import checkpoints  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.training import ranks  # noqa: E402
from tengen.training.batches import BatchStream, TensorBatch  # noqa: E402
from tengen.training.callbacks import CALLBACKS  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.ranks import Followers, Rank  # noqa: E402
from tengen.training.samplers import open_samplers  # noqa: E402
from tengen.training.supervised import make_trainer, train  # noqa: E402
from tengen.training.tensor_file import State  # noqa: E402
from tengen.training.trainer import Callback, Trainer, newest_checkpoint  # noqa: E402

STEPS = 60


def configured(store: Path, **training: Any) -> dict[str, Any]:
    settings = settings_of(store)
    settings["training"] |= {"steps": STEPS, "validate_every": 1000, "log_every": 1, **training}
    return settings


@pytest.mark.parametrize("number", [2, 4])
def test_the_ranks_draw_the_rows_of_one_batch(store: Path, number: int) -> None:
    """Over the end of an epoch, with symmetries and varied rules."""
    settings: dict[str, Any] = {"batch_size": 16, "seed": 5, "rules": "vary", "targets": True}
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


@pytest.mark.slow
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


class Strikes(Callback):
    """Sends a signal when a step is done: to all processes of the run, as Slurm does, or to the other rank alone."""

    def __init__(self, step: int, signal: int, follower: bool = False) -> None:
        self._step = step
        self._signal = signal
        self._follower = follower

    def on_step(self, trainer: Trainer[Any]) -> None:
        if trainer.step == self._step:
            (rank,) = [process.pid for process in multiprocessing.active_children()] if self._follower else [0]
            (os.kill if self._follower else os.killpg)(rank, self._signal)


def _command(recipe: Path, folder: Path, devices: int, strike: dict[str, Any]) -> None:
    """`tengen train` on so many devices, in a group of processes of its own. The other rank is forked, not spawned."""
    os.setsid()
    CALLBACKS.register("strikes", Strikes)
    fork = multiprocessing.get_context("fork")
    settings = (f"training.devices={devices}", f"training.accumulate={2 // devices}", f"training.callbacks={strike}")
    words = [word for setting in settings for word in ("--set", setting)]
    with pytest.MonkeyPatch.context() as patch, folder.with_suffix(".txt").open("w") as said, redirect_stderr(said):
        skip_rendering(patch)
        patch.setattr(ranks.multiprocessing, "get_context", lambda _: fork)
        sys.exit(main(["train", str(recipe), *words, "--quiet", "--out", str(folder)]))


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.skipif(core_count() < 2, reason="two processes are refused on one core")
def test_a_run_on_changing_devices_that_signals_and_a_death_stop_ends_as_the_unbroken_one(
    store: Path, tmp_path: Path, forks: ForkServerContext
) -> None:
    recipe, folder = tmp_path / "recipe.yaml", tmp_path / "run"
    recipe.write_text(yaml.safe_dump(configured(store, steps=24, checkpoint_minutes=1e-6)))
    for devices, strike, status, words in (
        (2, {"step": 5, "signal": int(signal.SIGTERM)}, 143, "the same command continues it"),
        (2, {"step": 8, "signal": int(signal.SIGHUP)}, 143, "the same command continues it"),
        (1, {"step": 10, "signal": int(signal.SIGTERM)}, 143, "the same command continues it"),
        (
            *(2, {"step": 15, "signal": int(signal.SIGKILL), "follower": True}, 2),
            "error: rank 1 of the training died (status -9); the same command continues the run from its last",
        ),
        (2, {"step": 0, "signal": 0}, 0, ""),
    ):
        process = forks.Process(target=_command, args=(recipe, folder, devices, {"strikes": strike}))
        process.start()
        process.join()
        said = " ".join(folder.with_suffix(".txt").read_text().split())
        assert process.exitcode == status and words in said and "Traceback" not in said, said
        reached = checkpoints(folder / "checkpoints")[-1][0]
        assert reached == (strike["step"] + (status == 143) or 24), "the step that follows a signal is the last"
    run = RunConfig.model_validate(configured(store, steps=24, accumulate=2))
    train(run, tmp_path / "unbroken", show_progress=False)
    (_, found), (_, expected) = (newest(path) for path in (folder, tmp_path / "unbroken"))
    for part in ("network", "average", "scalars"):
        for name, tensor in expected[part].items():
            assert torch.equal(tensor, found[part][name]), name


def newest(folder: Path) -> tuple[Path, State]:
    found = newest_checkpoint(folder / "checkpoints")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"devices": 0}, "greater than or equal to 1"),
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
