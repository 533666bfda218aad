"""The folder of a run that learns from the results of raw policies' games.

    recipe.yaml  log.jsonl  ratings.json  report.html  tensorboard/
    checkpoints/step-00000500.ckpt   the learner after 500 updates; the newest two are kept
    pool/00500.onnx                  the network after 500 updates, a member of the opponent pool, or the last that left
                                     it; 00000.onnx: the parent
    games/00500-a.sgf                two games of an evaluation, with Black and with White
    nets/NAME.onnx                   the result

Every file is written under another name and renamed, so a file that exists is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from pathlib import Path
from typing import Any

from tengen.disk import write_whole
from tengen.reinforce.config import ReinforceConfig
from tengen.runs.checkpoints import checkpoints, newest_readable, save_checkpoint
from tengen.runs.folder import RunFolder
from tengen.training.config import RATE_SETTINGS
from tengen.training.tensor_file import load_tensors, save_tensors

_KEPT = 2  # checkpoints
_MAY_CHANGE = ("description", "paper", "hours", "evaluation", "recipe", "learn.threads", *RATE_SETTINGS)
"""Settings that a resumed run may change: what was learned does not depend on them."""


class ReinforceFolder(RunFolder):
    """Names of the files of one run, and how they are written."""

    def __init__(self, path: Path, config: ReinforceConfig) -> None:
        super().__init__(path, config.kind)
        self.result = self.network(config.name)
        self.parent = self.member(0)
        self.ratings = path / "ratings.json"

    def member(self, updates: int) -> Path:
        """The member of the pool that was saved after `updates` updates."""
        return self.path / "pool" / f"{updates:05d}.onnx"

    def game(self, updates: int, which: str) -> Path:
        return self.path / "games" / f"{updates:05d}-{which}.sgf"

    def tidy_pool(self, kept: Container[int]) -> None:
        """Remove the members of the pool that are not in `kept`, by the number of their updates."""
        for path in (self.path / "pool").glob("*.onnx"):
            if path.stem.isdecimal() and int(path.stem) not in kept:
                path.unlink()

    def prepare(self, config: ReinforceConfig, write_parent: Callable[[Path], object]) -> None:
        """Make the folder with the parent in it, or check that it holds the run of `config` (RecipeError).

        `write_parent` writes the parent of a new run.
        """
        self.check_same(config, _MAY_CHANGE)
        for part in ("checkpoints", "pool", "games", "nets"):
            (self.path / part).mkdir(parents=True, exist_ok=True)
        if not self.parent.exists():
            with write_whole(self.parent) as temporary:
                write_parent(temporary)
        self.write_recipe(config.model_dump(mode="json"))

    def save(self, updates: int, state: dict[str, Any]) -> None:
        """Write the checkpoint after `updates` updates; the previous one is kept."""
        save_checkpoint(self.checkpoints, updates, _KEPT, partial(_write, state))

    def load(self) -> dict[str, Any] | None:
        """The newest checkpoint that can be read; None for a fresh run. Raises DamagedCheckpoint where none can."""
        found = newest_readable((path for _, path in checkpoints(self.checkpoints)), load_tensors)
        return found[1] if found else None


def _write(state: dict[str, Any], path: Path) -> None:
    with write_whole(path, checksum=True) as temporary:
        save_tensors(state, temporary)
