"""The folder of a self-play run: its files, and how far the run is.

    recipe.yaml  log.jsonl  ratings.json  report.html  tensorboard/
    start.onnx                 the network that the run began with, if it did with one
    nets/cycle-00012.onnx      network 12, which cycle 12 trains further (0 is the first)
    checkpoints/cycle-00012.ckpt   the learner before it trains on cycle 12
    games/                     a game store, one shard a cycle
    pending/cycle-00012/       finished games of the cycle that is being played
    matches/gate-00012/        the match of the gate of network 12; matches/rating-00012-vs-random/: of a rating
    .code                      the version of Tengen that leads the run

The files are all the state of a run. Each is written under another name and renamed, so a file that exists is complete.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Container
from pathlib import Path
from typing import Any

import tengen
from tengen.checksums import Integrity
from tengen.disk import write_text, write_whole
from tengen.errors import RecipeError
from tengen.evaluators.installed_networks import find_network_of
from tengen.evaluators.network_file import read_card
from tengen.machine import code_digest, native_digest
from tengen.match.folder import remove_match
from tengen.runs.folder import RunFolder, numbered
from tengen.runs.verify import verify
from tengen.selfplay.config import SelfPlayConfig
from tengen.training.config import RATE_SETTINGS

_logger = logging.getLogger(__name__)
_ABOUT = ("description", "paper", "hours", "recipe")
_MAY_CHANGE = (
    *_ABOUT,
    *("cycles", "games_at_once", "device", "workers", "cluster", "rating", "card", "keep_networks"),
    *("learn.device", "learn.accumulate", *RATE_SETTINGS),
)
"""Settings that a resumed run may change: what was played and learned does not depend on them, but for rounding."""
_NATIVE = ", native "  # in a code version


def code_version() -> str:
    """The version of Tengen with a digest of its code, in a clone also of its native code: two checkouts may have the
    same version."""
    native = f"{_NATIVE}{native_digest()[:12]}" if native_digest() else ""
    return f"{tengen.__version__} ({code_digest()[:12]}{native})"


def _differ(one: str, other: str) -> bool:
    """Whether two code versions differ in what both name: an installed package has no native code to compare."""
    (package, _, native), (package2, _, native2) = one.partition(_NATIVE), other.partition(_NATIVE)
    return package.removesuffix(")") != package2.removesuffix(")") or bool(native and native2 and native != native2)


class SelfPlayFolder(RunFolder):
    """Names and states of the files of one run."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "selfplay")
        self.games = path / "games"
        self.ratings = path / "ratings.json"
        self._start = path / "start.onnx"
        self._code = path / ".code"

    def start(self, name_or_path: str | Path) -> Path:
        """The network that the run begins with: the copy in the folder, or until there is one the name or path."""
        return self._start if self._start.exists() else Path(name_or_path)

    def with_network(self, config: SelfPlayConfig) -> SelfPlayConfig:
        """The config with the network of its `start`, and the search that suits it, where the recipe gives no network.

        Raises NetworkError for a start that is not there, RecipeError for one of another program.
        """
        if config.network or config.start is None:
            return config
        if not (start := self._start).exists():
            from tengen.training.start import own_file  # needs PyTorch

            start = own_file(config.start)
        found = read_card(start)
        card = config.card.model_copy(update={"search": config.card.search or found.search})
        return config.model_copy(update={"network": found.config, "card": card})

    def network(self, name: str | int) -> Path:
        """A network of the run by its number, or the network of a name."""
        return super().network(f"cycle-{name:05d}" if isinstance(name, int) else name)

    def candidate(self, number: int) -> Path:
        """The network that may become network `number`, before the gate."""
        return self.network(f"candidate-{number:05d}")

    def checkpoint(self, number: int) -> Path:
        """The learner's state with network `number`, before it trains on the games of the cycle of that number."""
        return self.checkpoints / f"cycle-{number:05d}.ckpt"

    def pending(self, cycle: int) -> Path:
        return self.path / "pending" / f"cycle-{cycle:05d}"

    def networks(self) -> list[tuple[int, Path]]:
        """(number, path) of the existing networks, oldest first."""
        return numbered(self.path / "nets", "cycle-*.onnx")

    def saved_checkpoints(self) -> list[tuple[int, Path]]:
        return numbered(self.checkpoints, "cycle-*.ckpt")

    def lacks_network(self, number: int) -> bool:
        """Whether network `number` is missing or damaged."""
        path = self.network(number)
        return not path.exists() or any(found is Integrity.ALTERED for _, found in verify(path))

    def min_cycles(self, stored: int) -> int:
        """Cycles that are finished by the files alone, of `stored` whose games are in the store.

        While the log is whole it is at most one below the number of the log.
        """
        # The newest checkpoint may be of a cycle whose network is not rated yet.
        finished = max((number - 1 for number, _ in self.saved_checkpoints()), default=0)
        return finished if finished <= stored and self.network(finished).exists() else 0

    def tidy(self, done: int, newest: int, kept: Container[int]) -> None:
        """Remove the states, networks and matches of gates that a run with `done` finished cycles no longer needs.

        The first network stays, the `newest` ones with their gates, and those whose numbers are in `kept`. The state
        before the newest stays too, in case that is damaged.
        """
        for number, path in self.saved_checkpoints():
            if number < done - 1:
                path.unlink()
        for number, path in self.networks()[1:-newest]:
            if number not in kept:
                path.unlink()
        for number, path in numbered(self.path / "matches", "gate-*"):
            if number <= done - newest:
                remove_match(path)

    def check_config(self, config: SelfPlayConfig) -> None:
        """Raise RecipeError, with the first setting that differs, when the folder holds another run.

        Stages of cycles that have not begun may be added, removed and changed.
        """
        done = max((number for number, _ in self.networks()), default=0)
        stored = {cycle for cycle, _ in numbered(self.games, "shard-*.arrow")}  # one shard a cycle

        def has_begun(cycle: int) -> bool:
            return cycle < done or cycle in stored or self.pending(cycle).exists()

        def begun(recipe: dict[str, Any]) -> dict[str, Any]:
            stages = recipe.get("stages") or {}
            return {**recipe, "stages": {cycle: stage for cycle, stage in stages.items() if has_begun(int(cycle))}}

        self.check_same(config, _MAY_CHANGE, compared=begun)

    def note_code(self) -> None:
        """Record the code that goes on with the run; warn in the log where another one has led it."""
        before, now = self._code_before(), code_version()
        if before is not None and _differ(before, now):
            _logger.warning(
                "%s: Tengen %s has led this run, Tengen %s goes on with it: games and networks may differ from those "
                "of an unbroken run",
                *(self.path, before, now),
            )
        write_text(self._code, now)

    def check_code(self) -> None:
        """Raise RecipeError where other code than this leads the run: it may play other games of the same number."""
        before, now = self._code_before(), code_version()
        if before is not None and _differ(before, now):
            raise RecipeError(
                f"{self.path}: Tengen {before} leads this run, and this process is Tengen {now}, which may play other "
                "games: give both the same code"
            )

    def _code_before(self) -> str | None:
        """None in a folder of an earlier version."""
        return self._code.read_text(encoding="utf-8") if self._code.exists() else None

    def with_stages(self, config: SelfPlayConfig) -> SelfPlayConfig:
        """The config with the stages and the number of cycles of the run that the folder holds.

        Those of a process that helps may differ, as stages that have not begun are not compared, and the lead may be
        started again with others.
        """
        saved = self.saved_recipe() or {}
        of_run = {"stages": saved.get("stages") or {}, "cycles": saved.get("cycles", config.cycles)}
        return SelfPlayConfig.model_validate({**config.model_dump(), **of_run})

    def prepare(self, config: SelfPlayConfig) -> None:
        """Make the folder, or check that it holds the run of `config` (RecipeError); write recipe and start."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.check_config(config)
        if config.start is not None and not self._start.exists():
            with write_whole(self._start) as temporary:
                shutil.copyfile(find_network_of("start", config.start), temporary)
        self.write_recipe(config.model_dump(mode="json"))
