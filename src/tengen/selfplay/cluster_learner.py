"""The learner of a self-play run as a worker of a Ray cluster. The run folder stays with the process that leads."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from tengen.cluster import Cluster, Place, SharedFiles
from tengen.data.format import MANIFEST, read_manifest
from tengen.data.store import Shard, Store
from tengen.disk import write_whole
from tengen.evaluators.installed_networks import find_network_of
from tengen.evaluators.portable_network import is_shipped
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.places import LocalFiles
from tengen.selfplay.config import LearnConfig, SelfPlayConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.selfplay.learn import Learner, LearningResult, Window

_RUN = "run"

LearningResultFiles: TypeAlias = tuple[LearningResult, bytes, bytes]
"""What was learned in a cycle, the candidate's network file, and the checkpoint after it."""


@dataclass(frozen=True)
class TrainingCycle:
    """A cycle of training; `files` has what it needs of the run folder, as one folder.

    The games are those of cycle `first` and later, which hold the windows of this cycle and of the two before; `older`
    positions were recorded in the others.
    """

    cycle: int
    fresh_games: int
    first: int
    older: int
    files: SharedFiles = field(compare=False, repr=False)


class ClusterLearner(Learner):
    """Trains by a worker of the cluster, and needs no GPU here. The worker's checkpoints and networks are kept here."""

    def __init__(
        self, config: SelfPlayConfig, folder: SelfPlayFolder, stop: ShutdownFlag, cluster: Cluster, place: Place
    ) -> None:
        super().__init__(config, folder, stop)
        self._shards: dict[str, Any] = {}
        self._cycles: list[TrainingCycle] = []
        work = LearningWork(config, SharedFiles.of(_paths(config, folder)))
        workers = cluster.add_workers(place)
        self._results = workers.run(work, self._next_cycles(), stop=stop.event.is_set)

    @property
    def _trainer_config(self) -> LearnConfig:
        """Those of a trainer that takes no step: it holds the weights that a worker has trained."""
        return self.config.learn.model_copy(update={"device": "cpu", "compile": False})

    def learn(self, cycle: int, store: Store, fresh_games: int) -> LearningResult:
        number = cycle + 1
        window = self.config.learn.window
        # Where states are damaged the worker learns the cycles before again.
        stores = [store.head(i) for i in range(max(1, cycle - 1), number + 1)]
        game = min(Window.of(each, fresh_games, window).first_game for each in stores)
        first, _ = store.locate(game)
        older = sum(int(shard.recorded.sum()) for shard in store.shards[:first])
        store.rest(game)
        self._cycles.append(TrainingCycle(cycle, fresh_games, first, older, self._files(cycle, first)))
        for _, (learned, candidate, checkpoint) in self._results:
            written = {self.folder.candidate(number): candidate, self.folder.checkpoint(number): checkpoint}
            for path, content in written.items():
                path.parent.mkdir(exist_ok=True)
                with write_whole(path) as temporary:
                    temporary.write_bytes(content)
            self.trainer.load(self.folder.checkpoint(number))
            return learned
        self._stop.set()  # results end without one of this cycle only when the run stops
        self._stop.check()
        raise AssertionError

    def _next_cycles(self) -> Iterator[TrainingCycle]:
        """The cycles to train on: a worker is given the next one when `learn` waits for it."""
        while self._cycles:
            yield self._cycles.pop()

    def _files(self, cycle: int, first: int) -> SharedFiles:
        """The games from a cycle on and the state before a cycle, and the one before that in case it is damaged."""
        manifest = (self.folder.games / MANIFEST).read_bytes()
        names = [shard["file"] for shard in read_manifest(self.folder.games)["shards"][first : cycle + 1]]
        # Ray frees the others.
        self._shards = {
            name: self._shards.get(name) or SharedFiles.put((self.folder.games / name).read_bytes()) for name in names
        }
        states = [path for number in (cycle - 1, cycle) if (path := self.folder.checkpoint(number)).exists()]
        files = {f"{_RUN}/games/{MANIFEST}": SharedFiles.put(manifest)}
        files |= {f"{_RUN}/games/{name}": content for name, content in self._shards.items()}
        files |= {f"{_RUN}/checkpoints/{path.name}": SharedFiles.put(path.read_bytes()) for path in states}
        return SharedFiles({_RUN: files})


class LearningWork:
    """Trains on cycle after cycle: the `Work` of the learner. A worker keeps the games that it learns from."""

    def __init__(self, config: SelfPlayConfig, shared: SharedFiles) -> None:
        self._config, self._shared = config, shared
        self._learner: _WorkersLearner | None = None

    def do(
        self, items: Iterator[TrainingCycle], stop: threading.Event
    ) -> Iterator[tuple[list[TrainingCycle], LearningResultFiles]]:
        """One result a cycle: a worker that was stopped gives none for the cycle that it was at."""
        for item in items:
            if self._learner is None:
                self._learner = _WorkersLearner(self._config, self._shared, item, stop)
            try:
                files = self._learner.learn(item)
            except KeyboardInterrupt:  # it was stopped
                return
            # Without the files: what is pickled with a result Ray keeps as long as the worker lives.
            yield [replace(item, files=SharedFiles({}))], files

    def close(self) -> None:
        if self._learner is not None:
            self._learner.close()
            self._learner = None


class _WorkersLearner:
    """The learner of a worker, with a run folder of its own that holds the games of earlier cycles."""

    def __init__(
        self, config: SelfPlayConfig, shared: SharedFiles, first: TrainingCycle, stop: threading.Event
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="tengen-")
        self._root = Path(self._temporary.name)
        self._folder = SelfPlayFolder(first.files.destination(self._root, _RUN))
        local = LocalFiles(shared.unpack(self._root / "shared"))
        self._learner = Learner(config, self._folder, ShutdownFlag(stop), local)
        self._first, self._shards = 0, tuple[Shard, ...]()  # those that are open, from cycle `_first` on

    def learn(self, item: TrainingCycle) -> LearningResultFiles:
        """Train on a cycle, from the state that comes with it. Raises KeyboardInterrupt where it is stopped."""
        (self._folder.games / MANIFEST).unlink(missing_ok=True)
        for _, path in self._folder.saved_checkpoints():
            path.unlink()
        item.files.unpack(self._root)
        number = item.cycle + 1
        self._learner.older_positions = item.older
        learned = self._learner.learn(item.cycle, self._store(item), item.fresh_games)
        candidate = self._folder.candidate(number)
        files = learned, candidate.read_bytes(), self._folder.checkpoint(number).read_bytes()
        candidate.unlink()
        return files

    def _store(self, item: TrainingCycle) -> Store:
        """The games that came with a cycle; those of no later one are removed."""
        games = self._folder.games
        manifest = read_manifest(games)
        manifest["shards"] = manifest["shards"][item.first : item.cycle + 1]
        there = self._shards[item.first - self._first :] if item.first >= self._first else ()
        store = Store(games, manifest, there)
        self._first, self._shards = item.first, store.shards
        for path in {*games.iterdir()} - {games / MANIFEST, *(games / shard["file"] for shard in manifest["shards"])}:
            path.unlink()
        return store

    def close(self) -> None:
        self._temporary.cleanup()


def _paths(config: SelfPlayConfig, folder: SelfPlayFolder) -> dict[str, Path]:
    """Where start and records of a recipe are here; networks that come with Tengen are everywhere."""
    records = config.learn.records
    found = {} if records is None else {records.store: Path(records.store)}
    if config.start is not None:
        path = find_network_of("start", folder.start(config.start))
        if not is_shipped(config.start, path):
            found[config.start] = path
    return found
