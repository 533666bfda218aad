"""The folder of a policy-gradient run.

    recipe.yaml  log.jsonl  ratings.json  report.html  tensorboard/
    checkpoint.pt              the learner after the newest update
    pool/00500.onnx            an earlier self, after 500 updates; 00000.onnx is the parent
    games/00500-a.sgf          two games of an evaluation, with Black and with White
    nets/NAME.onnx             the result

Every file is written under another name and renamed, so what is there is whole.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
import yaml

from tengen.disk import write_text, write_whole
from tengen.errors import RecipeError
from tengen.reinforce.config import RlConfig

_MAY_CHANGE = ("description", "evaluation", "recipe")
"""Settings that may differ when a run is resumed, as may `learn.threads`: they do not change what is learnt."""


class RlFolder:
    """Names of the files of one run, and how they are written."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.result = path / "nets" / f"{name}.onnx"
        self.parent = self.self_after(0)
        self.ratings = path / "ratings.json"
        self._recipe = path / "recipe.yaml"
        self._checkpoint = path / "checkpoint.pt"

    def self_after(self, updates: int) -> Path:
        """The member of the pool after so many updates."""
        return self.path / "pool" / f"{updates:05d}.onnx"

    def game(self, updates: int, which: str) -> Path:
        return self.path / "games" / f"{updates:05d}-{which}.sgf"

    def prepare(self, config: RlConfig, start: Path) -> None:
        """Make the folder with the parent in it, or check that it holds the run of `config` (RecipeError)."""
        for part in ("pool", "games", "nets"):
            (self.path / part).mkdir(parents=True, exist_ok=True)
        recipe = config.model_dump(mode="json")
        if self._recipe.exists():
            self._check_same(yaml.safe_load(self._recipe.read_text(encoding="utf-8")), config.model_dump(mode="json"))
        if not self.parent.exists():
            with write_whole(self.parent) as temporary:
                shutil.copyfile(start, temporary)
        write_text(self._recipe, yaml.safe_dump(recipe, sort_keys=False))

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

    def _check_same(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        for run in (before, now):
            run["learn"] = {name: value for name, value in run["learn"].items() if name != "threads"}
        for key in {**now, **before}:
            if key not in _MAY_CHANGE and before.get(key) != now.get(key):
                raise RecipeError(
                    f"{self.path} holds a run with {key} = {json.dumps(before.get(key))}, not "
                    f"{json.dumps(now.get(key))}; give the same recipe to go on with it, or another --out"
                )
