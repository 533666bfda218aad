"""The folder of a self-play run: where everything lies, and what is there already.

    recipe.yaml  log.jsonl  ratings.json  report.html  tensorboard/
    nets/cycle-00012.onnx      the network that plays in cycle 12 (0 is the first)
    checkpoints/cycle-00012.ckpt   the learner before cycle 12 is learnt from
    games/                     a game store, one shard a cycle
    pending/cycle-00012/       finished games of the cycle that is being played

Nothing else says how far a run is: each of these is written under another name and renamed, so what is there is whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tengen.disk import locked, write_text
from tengen.errors import RecipeError
from tengen.selfplay.config import ZeroConfig

_NUMBERED = re.compile(r"cycle-(\d+)")
_MAY_CHANGE = ("cycles", "games_at_once", "workers", "rating", "card", "description", "recipe", "keep_networks")
"""Settings of a run that may differ when it is resumed: they do not change what a game or a batch is."""


class RunFolder:
    """Names and states of the files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.games = path / "games"
        self.recipe = path / "recipe.yaml"
        self.ratings = path / "ratings.json"

    def network(self, cycle: int) -> Path:
        """The network that plays in `cycle`."""
        return self.path / "nets" / f"cycle-{cycle:05d}.onnx"

    def candidate(self, cycle: int) -> Path:
        """The network that wants to play in `cycle`, before the gate."""
        return self.path / "nets" / f"candidate-{cycle:05d}.onnx"

    def checkpoint(self, cycle: int) -> Path:
        """The learner's state before it learns from the games of `cycle`."""
        return self.path / "checkpoints" / f"cycle-{cycle:05d}.ckpt"

    def pending(self, cycle: int) -> Path:
        return self.path / "pending" / f"cycle-{cycle:05d}"

    def networks(self) -> list[tuple[int, Path]]:
        """(cycle, path) of the networks that are there, the first first."""
        return _numbered(self.path / "nets", "cycle-*.onnx")

    def checkpoints(self) -> list[tuple[int, Path]]:
        return _numbered(self.path / "checkpoints", "cycle-*.ckpt")

    def tidy(self, cycle: int, newest: int, kept: Container[int]) -> None:
        """Remove what a run that has `cycle` cycles behind it no longer needs: states and networks of the past.

        The first network stays, the `newest` ones, and those whose numbers are in `kept`.
        """
        for number, path in self.checkpoints():
            if number < cycle:
                path.unlink()
        for number, path in self.networks()[1:-newest]:
            if number not in kept:
                path.unlink()

    def check_same(self, config: ZeroConfig) -> None:
        """Raise RecipeError, with the first setting that differs, when the folder holds another run.

        Stages that begin with a cycle that no network has learnt from yet may come, go and change.
        """
        if not self.recipe.exists():
            return
        before = yaml.safe_load(self.recipe.read_text(encoding="utf-8"))
        before = json.loads(json.dumps(before))  # keys as text, however a hand that edited it wrote them
        done = max((number for number, _ in self.networks()), default=0)
        if difference := _difference(_begun(before, done), _begun(config.model_dump(mode="json"), done)):
            raise RecipeError(
                f"{self.path} holds a run with {difference}; give the same recipe to go on with it, or another --out"
            )

    def prepare(self, config: ZeroConfig) -> None:
        """Make the folder, or check that the run in it is the one of `config` (RecipeError); write the recipe."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.check_same(config)
        write_text(self.recipe, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))

    @contextmanager
    def locked(self, duty: str) -> Iterator[bool]:
        """Hold the run's lock for a duty such as `learn`; False where another process holds it.

        The system frees the lock when a process ends, however it ends.
        """
        with locked(self.path / f".{duty}.lock") as free:
            yield free


def _numbered(folder: Path, pattern: str) -> list[tuple[int, Path]]:
    found = ((_NUMBERED.match(path.stem), path) for path in folder.glob(pattern))
    return sorted((int(match[1]), path) for match, path in found if match)


def _begun(recipe: dict[str, Any], done: int) -> dict[str, Any]:
    """The recipe with the stages that have begun in `done` cycles."""
    stages = recipe.get("stages") or {}
    return {**recipe, "stages": {cycle: stage for cycle, stage in stages.items() if int(cycle) < done}}


def _difference(before: object, now: object, where: str = "") -> str | None:
    """The first setting that is not the same, in words."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in (*now, *(key for key in before if key not in now)):
            if not where and key in _MAY_CHANGE:
                continue
            place = f"{where}.{key}" if where else str(key)
            if found := _difference(before.get(key), now.get(key), place):
                return found
        return None
    if before in ({}, None) and now in ({}, None):  # what a version did not know yet, or knows no longer, and is empty
        return None
    return None if before == now else f"{where} = {before}, not {now}"
