"""The folder of a policy-gradient run.

    recipe.yaml  log.jsonl  ratings.json  report.html  tensorboard/
    checkpoint.pt              the learner after the newest update
    pool/00500.onnx            the policy after 500 updates, a member of the opponent pool; 00000.onnx is the parent
    games/00500-a.sgf          two games of an evaluation, with Black and with White
    nets/NAME.onnx             the result

Every file is written under another name and renamed, so a file that exists is complete.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch

from tengen.disk import write_whole
from tengen.reinforce.config import PolicyGradientConfig
from tengen.runs.folder import RunFolder

_MAY_CHANGE = (
    *("description", "paper", "hours", "evaluation", "recipe"),
    *("learn.threads", "learn.devices", "learn.strategy", "learn.accumulate"),
)
"""Settings that a resumed run may change: the updates do not depend on them."""


class PolicyGradientFolder(RunFolder):
    """Names of the files of one run, and how they are written."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, "policy-gradient")
        self.result = self.network(name)
        self.parent = self.self_after(0)
        self.ratings = path / "ratings.json"
        self._checkpoint = path / "checkpoint.pt"

    def self_after(self, updates: int) -> Path:
        """The member of the pool after so many updates."""
        return self.path / "pool" / f"{updates:05d}.onnx"

    def game(self, updates: int, which: str) -> Path:
        return self.path / "games" / f"{updates:05d}-{which}.sgf"

    def prepare(self, config: PolicyGradientConfig, start: Path) -> None:
        """Make the folder with the parent in it, or check that it holds the run of `config` (RecipeError)."""
        recipe = config.model_dump(mode="json")
        self.check_same(recipe, _MAY_CHANGE)
        for part in ("pool", "games", "nets"):
            (self.path / part).mkdir(parents=True, exist_ok=True)
        if not self.parent.exists():
            with write_whole(self.parent) as temporary:
                shutil.copyfile(start, temporary)
        self.write_recipe(recipe)

    def save(self, state: dict[str, Any]) -> None:
        """Replace the checkpoint."""
        with write_whole(self._checkpoint) as temporary:
            torch.save(state, temporary)

    def load(self) -> dict[str, Any] | None:
        """The newest checkpoint; None for a fresh run."""
        if not self._checkpoint.exists():
            return None
        state: dict[str, Any] = torch.load(self._checkpoint, map_location="cpu", weights_only=True)
        return state
