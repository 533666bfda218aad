"""Games of a self-play run on the machines of a Ray cluster (extra `cluster`).

The process that leads the run hands out game numbers to workers and takes the finished games back through Ray's object
store. The run folder stays with it: machines of the cluster share no disk. A game depends on recipe, cycle, number,
network and earlier games alone, so a worker that dies costs time and no game, and any number of workers on processors
of one kind plays the same games.
"""

from __future__ import annotations

import pickle
import tempfile
import time
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tengen
from tengen.errors import MissingExtra, TengenError
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.conditions import CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.play import CyclePlayer, PlayedGames, play_games
from tengen.selfplay.transport import Transport, number_of

MAX_FAILURES = 20
"""Workers that may die in a row before a game is finished."""
_POLL_SECONDS = 0.5


@contextmanager
def connected(address: str) -> Generator[None, None, None]:
    """Be connected to the Ray cluster at this address: `HOST:PORT`, `ray://HOST:PORT`, `auto` for the one that runs on
    this machine, or `local` for one that lives as long as the connection.

    Raises MissingExtra without Ray, TengenError where no cluster answers.
    """
    ray = _ray()
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="error",
            **({"include_dashboard": False} if address == "local" else {}),
        )
    except (ConnectionError, ValueError, OSError, TimeoutError) as error:
        raise TengenError(f"no Ray cluster answers at {address!r}: {str(error).splitlines()[0]}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtra("--cluster", "cluster") from error
    return ray


class Worker:
    """Plays games on a machine of the cluster: the class of the Ray actors."""

    def __init__(self, config: SelfPlayConfig) -> None:
        self._config = config
        self._folder = tempfile.TemporaryDirectory(prefix="tengen-")
        self._network = Path(self._folder.name) / "none.onnx"

    def version(self) -> str:
        return tengen.__version__

    def play(
        self, cycle: int, conditions: CycleConditions, number: int, network: bytes, games: list[int]
    ) -> Generator[bytes, None, None]:
        """Play these games of a cycle with network `number`, and give them pickled, as PlayedGames."""
        path = self._network.with_name(f"{number}.onnx")
        if path != self._network:
            self._network.unlink(missing_ok=True)
            path.write_bytes(network)
            self._network = path
        for played in play_games(self._config, cycle, conditions, path, games):
            yield pickle.dumps(played, protocol=5)


@dataclass
class _Hired:
    """A worker as the leading process sees it: what it plays, and which games of that are missing."""

    actor: Any
    ready: Any  # of its first answer, until it has come
    stream: Any = None
    missing: set[int] = field(default_factory=set)
    evaluations: int = 0  # of the games that it plays now


@dataclass
class Wire:
    """What came back from the workers."""

    games: int = 0
    bytes: int = 0
    died: int = 0


class ClusterPlayer(CyclePlayer):
    """Plays cycles by the workers of the cluster that this process is connected to.

    Each worker takes the resources of `config.cluster`. There are as many as have room, or `config.cluster.workers`;
    they are started as machines join and given up as they leave.
    """

    def __init__(self, config: SelfPlayConfig, transport: Transport, stop: ShutdownFlag) -> None:
        super().__init__(config, transport, stop)
        self._ray = _ray()
        self._workers: list[_Hired] = []
        self._failures = 0
        self._evaluations = 0
        self.wire = Wire()

    def close(self) -> None:
        """Give all workers up."""
        for worker in self._workers:
            self._ray.kill(worker.actor)
        self._workers.clear()

    def played(
        self, cycle: int, conditions: CycleConditions, network: Path, numbers: Iterable[int]
    ) -> Generator[PlayedGames, None, None]:
        """The games of these numbers as workers finish them. Raises TengenError where workers die again and again."""
        waiting = deque(numbers)
        shared = (
            cycle,
            self._ray.put(conditions),
            self.config.playing_network(cycle),
            self._ray.put(network.read_bytes()),
        )
        self._evaluations = 0
        try:
            while not self.stop and (waiting or any(worker.stream for worker in self._workers)):
                self._hire(len(waiting))
                self._hand_out(waiting, shared)
                for worker in self._heard():
                    try:
                        if (played := self._received(worker)) is not None:
                            yield played, self._evaluations + sum(each.evaluations for each in self._workers)
                    except self._ray.exceptions.RayTaskError as error:
                        raise error.as_instanceof_cause() from None
                    except self._ray.exceptions.RayError as error:
                        self._lost(worker, waiting, error)
        finally:
            for worker in self._workers:
                if worker.stream is not None:  # the shutdown of a run, or an error: the games under way are given up
                    self._ray.kill(worker.actor)
            self._workers = [worker for worker in self._workers if worker.stream is None]

    def _hire(self, waiting: int) -> None:
        """Start as many workers as the cluster has room for, and there are games for."""
        place = self.config.cluster
        free = self._ray.available_resources()
        starting = sum(worker.ready is not None for worker in self._workers)
        room = int(free.get("CPU", 0) // place.cpus) - starting
        if place.gpus:
            room = min(room, int(free.get("GPU", 0) // place.gpus) - starting)
        most = min(place.workers or len(self._workers) + room, len(self._workers) + waiting)
        if not self._workers and waiting:
            most = max(most, 1)  # an autoscaling cluster adds machines for workers that wait
        for _ in range(most - len(self._workers)):
            threads = {"workers": self.config.workers or max(1, int(place.cpus))}
            actor = (
                self._ray.remote(Worker)
                .options(num_cpus=place.cpus, num_gpus=place.gpus)
                .remote(self.config.model_copy(update=threads))
            )
            self._workers.append(_Hired(actor, actor.version.remote()))

    def _hand_out(self, waiting: deque[int], shared: tuple[Any, ...]) -> None:
        """Give idle workers games: the more, the more wait, and towards the end few, so that all end together."""
        idle = [worker for worker in self._workers if worker.ready is None and worker.stream is None]
        for worker in idle:
            if not waiting:
                return
            share = -(-len(waiting) // max(1, 2 * len(self._workers)))
            count = min(len(waiting), max(share, self.config.games_at_once // 4, 1))
            numbers = [waiting.popleft() for _ in range(count)]
            worker.missing, worker.evaluations = set(numbers), 0
            play = worker.actor.play.options(num_returns="streaming")
            worker.stream = play.remote(*shared, numbers)

    def _heard(self) -> list[_Hired]:
        """The workers that have something to say, after half a second at the most."""
        waits = {wait: worker for worker in self._workers if (wait := worker.ready or worker.stream) is not None}
        if not waits:
            time.sleep(_POLL_SECONDS)
            return []
        ready, _ = self._ray.wait(list(waits), num_returns=len(waits), timeout=0)
        if not ready:
            ready, _ = self._ray.wait(list(waits), num_returns=1, timeout=_POLL_SECONDS)
        return [waits[ref] for ref in ready]

    def _received(self, worker: _Hired) -> list[Any] | None:
        """Games that a worker has finished; None for its first answer and the end of its games."""
        if worker.ready is not None:
            version = self._ray.get(worker.ready)
            if version != tengen.__version__:
                raise TengenError(
                    f"a machine of the cluster has Tengen {version}, this one {tengen.__version__}: install the same"
                )
            worker.ready = None
            return None
        try:
            data = self._ray.get(next(worker.stream))
        except StopIteration:
            self._evaluations += worker.evaluations
            worker.stream, worker.evaluations = None, 0
            return None
        records, worker.evaluations = pickle.loads(data)
        worker.missing -= {number_of(record) for record in records}
        self.wire.games += len(records)
        self.wire.bytes += len(data)
        self._failures = 0
        found: list[Any] = records
        return found

    def _lost(self, worker: _Hired, waiting: deque[int], error: Exception) -> None:
        """Others play what a dead worker has not finished."""
        self._workers.remove(worker)
        self._evaluations += worker.evaluations
        waiting.extendleft(sorted(worker.missing, reverse=True))
        self.wire.died += 1
        self._failures += 1
        if self._failures > MAX_FAILURES:
            raise TengenError(
                f"{self._failures} workers of the cluster died one after the other: {str(error).splitlines()[0]}"
            ) from error
