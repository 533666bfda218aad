"""Checkpoints that survive anything: complete, written under a temporary name, then renamed."""

import re
import time
from pathlib import Path
from typing import Any

import lightning as L
import torch

from tengen.data.planes import PlaneSet
from tengen.disk import PARTIAL, write_whole
from tengen.errors import RecipeError
from tengen.training.config import RunConfig

_NAME = re.compile(r"step-(\d+)\.ckpt")


class Checkpoints(L.Callback):
    """Saves the whole state every `minutes`, on a clean stop and at the end; keeps the newest `keep` in `folder`."""

    def __init__(self, folder: Path, minutes: float, keep: int) -> None:
        self.folder = folder
        self._interval = minutes * 60
        self._keep = keep
        self._last = time.monotonic()

    def on_train_batch_end(self, trainer: L.Trainer, *_: Any) -> None:
        if time.monotonic() - self._last >= self._interval:
            self.save(trainer)

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.save(trainer)

    def save(self, trainer: L.Trainer) -> None:
        """Write the checkpoint of the current step. What a kill leaves is never read, and the next one removes it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"step-{trainer.global_step:08d}.ckpt"
        with write_whole(path) as temporary:
            trainer.save_checkpoint(temporary)
        for left in self.folder.glob(f"*{PARTIAL}"):  # by a run that was killed at another step
            left.unlink()
        for _, old in numbered(self.folder)[: -self._keep]:
            old.unlink()
        self._last = time.monotonic()


def numbered(folder: Path) -> list[tuple[int, Path]]:
    """(step, path) of the checkpoints in a folder, oldest first."""
    found = ((_NAME.fullmatch(path.name), path) for path in folder.glob("step-*.ckpt"))
    return sorted((int(match[1]), path) for match, path in found if match)


def newest(folder: Path) -> tuple[int, Path] | None:
    """(step, path) of the checkpoint that a resumed run starts from; None for a fresh run."""
    found = numbered(folder)
    return found[-1] if found else None


def check_same_run(path: Path, run: RunConfig, inputs: PlaneSet) -> None:
    """Raise RecipeError when a checkpoint belongs to another network, data or plane set than `run` asks for."""
    saved = torch.load(path, map_location="cpu", weights_only=True)["tengen"]
    before, now = _identity(saved["run"]), _identity(run.model_dump(mode="json"))
    before["planes"], now["planes"] = saved["planes"], [*inputs.planes, *inputs.scalars]
    for name in before.keys() | now.keys():
        if before.get(name) != now.get(name):
            raise RecipeError(
                f"{path.parent.parent} holds a run with {name} = {before.get(name)}, not {now.get(name)}; "
                "give the same recipe to go on with it, or another --out"
            )


def _identity(run: dict[str, Any]) -> dict[str, Any]:
    """The settings that a run cannot change half way."""
    fixed = {f"training.{name}": run["training"][name] for name in ("batch_size", "seed", "optimizer")}
    return {
        **fixed,
        **{f"network.{name}": value for name, value in run["network"].items()},
        "data": run["data"]["store"],
        # Which games are not learnt: another share, or none, and games would be judged that were.
        "data.validation_fraction": None if run["data"]["validation_store"] else run["data"]["validation_fraction"],
    }
