"""Supervised training on a machine of a Ray cluster: the run folder stays with the process that leads.

The games go to the machine, and every change of the run's folder comes back at once, its checkpoints too. Where the
worker dies another one goes on from the newest checkpoint, as the same command does with or without a cluster.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from tengen.cluster import Cluster, SharedFiles
from tengen.evaluators.installed_networks import find_network_of
from tengen.evaluators.portable_network import is_shipped
from tengen.runs.folder import RunFolder
from tengen.runs.interruption import ShutdownFlag
from tengen.runs.mirror import Change, FolderWatch, apply_changes
from tengen.runs.places import LocalFiles
from tengen.runs.progress import new_bar
from tengen.training.config import RunConfig
from tengen.training.start import LEARNED, noted_origin, with_network

_LOOK_SECONDS = 1.0
_STATE = ("checkpoints/", "log.jsonl", "recipe.yaml", ".games", LEARNED)  # what a run goes on from
_RUN = "run"


def train_on(cluster: Cluster, run: RunConfig, out: Path, *, show_progress: bool = True) -> Path:
    """Carry out a run as `supervised.train` does, by a worker of the cluster."""
    folder = RunFolder(out, run.kind)
    folder.check_kind()
    run = with_network(run, folder)
    games = SharedFiles.of(_paths(run, folder))
    with folder.lead(), ShutdownFlag() as stop, new_bar(show_progress) as bar:
        task = bar.add_task("training", total=1.0)
        while True:
            work = TrainingWork(run, games, SharedFiles.of({_RUN: out}, lambda place: place.startswith(_STATE)))
            over = partial(_is_over, stop, cluster, cluster.traffic.died)
            for items, changes in cluster.run(work, [0], stop=over, drain=True):
                apply_changes(out, changes)
                for event in _events(changes):
                    bar.update(task, completed=event.get("done", 0), description=f"training, step {event['step']:,}")
                if items:
                    return folder.network(run.name)
            stop.check()


def _is_over(stop: ShutdownFlag, cluster: Cluster, died: int) -> bool:
    """Whether the run stops, or its worker has died: the next one starts from the newest checkpoint, as new work."""
    return bool(stop) or cluster.traffic.died > died


def _paths(run: RunConfig, folder: RunFolder) -> dict[str, Path]:
    """Where the stores, the teacher and, unless it was taken, the start of a recipe are here; networks of Tengen are
    everywhere."""
    names = (run.data.store, run.data.validation_store or run.data.store)
    stores = {name: store.path for name, store in zip(names, run.data.open_stores(), strict=True)}
    networks = {}
    if run.start is not None and noted_origin(run, folder) is None:
        path = Path(run.start)
        networks[run.start] = path if path.is_dir() else find_network_of("start", run.start)
    if run.data.teacher and (teacher := run.data.teacher.network):
        networks[teacher] = find_network_of("data.teacher.network", teacher)
    return stores | {name: path for name, path in networks.items() if not is_shipped(name, path)}


def _events(changes: list[Change]) -> Iterator[dict[str, float]]:
    """The newest training event among the changes, if there is one."""
    for name, content, _ in changes:
        lines = content.split(b"\n")[:-1] if name == "log.jsonl" and content else []
        yield from [event for event in map(json.loads, lines[-50:]) if event["event"] == "train"][-1:]


class TrainingWork:
    """A whole run from its `state` on: the `Work` of training, whose results are the changes of its folder."""

    def __init__(self, run: RunConfig, games: SharedFiles, state: SharedFiles) -> None:
        self._run, self._games, self._state = run, games, state

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], list[Change]]]:
        """What has changed, about once a second; the last result has the item."""
        from tengen.training.supervised import train

        for item in items:
            with (
                tempfile.TemporaryDirectory(prefix="tengen-", ignore_cleanup_errors=True) as name,
                ThreadPoolExecutor(1, "tengen-training") as executor,
            ):
                local = LocalFiles(self._games.unpack(Path(name) / "games"))
                out = self._state.unpack(Path(name) / "state").get(_RUN, Path(name) / _RUN)
                out.mkdir(exist_ok=True)
                watch, flag = FolderWatch(out), ShutdownFlag(stop)
                training = executor.submit(train, self._run, out, show_progress=False, local=local, stop=flag)
                ended = False
                while not ended:
                    ended = bool(wait([training], _LOOK_SECONDS).done)
                    if changes := watch.changes():
                        yield [], changes
                try:
                    training.result()
                except KeyboardInterrupt:  # it was stopped, and has saved
                    return
                yield [item], []

    def close(self) -> None:
        """Nothing is left."""
