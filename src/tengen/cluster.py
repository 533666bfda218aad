"""Work on the machines of a Ray cluster (extra `cluster`): workers that may come and go, and no item that is lost.

The process that asks for work hands items out and takes results back through Ray's object store; the machines share no
disk with it. What a worker did not finish when it died or fell behind is done by another one, and each result counts
once.
"""

from __future__ import annotations

import heapq
import logging
import math
import operator
import os
import pickle
import socket
import sys
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import tengen
from tengen.errors import MissingExtra, TengenError

MAX_FAILURES = 20
"""Workers that may die in a row before an item is finished."""
LATE = 3.0
"""An item is late, and given to an idle worker too, after this multiple of the mean time of the items so far, but not
within a second."""
PATIENCE = 60.0
"""Seconds without a worker after which a warning says what the cluster lacks."""
JOIN_SECONDS = 20.0
"""Seconds that machines have to join before work that fits none of them is an error."""
_POLL_SECONDS = 0.5
_LOOK_SECONDS = 2.0  # between two looks at the machines
_CONNECT_SECONDS = 5.0
_MANY = 10**9

_logger = logging.getLogger(__name__)
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class SharedFiles:
    """Files of this machine for workers. They lie in Ray's object store, from which a machine fetches each once.

    `parts` has for each name, such as a recipe's name of a store, the contents by their places: of a file its own name,
    of a folder its name and the place in it (`store/manifest.json`).
    """

    parts: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, paths: Mapping[str, Path], which: Callable[[str], bool] = lambda place: True) -> SharedFiles:
        """The files at these paths; of folders those for whose place in it, such as `nets/a.onnx`, `which` holds."""
        ray, parts = _ray(), {}
        for name, path in paths.items():
            files = {path.name: path}
            if path.is_dir():
                there = ((each.relative_to(path).as_posix(), each) for each in path.rglob("*") if each.is_file())
                files = {f"{path.name}/{place}": each for place, each in there if which(place)}
            parts[name] = {place: ray.put(each.read_bytes()) for place, each in files.items()}
        return cls(parts)

    @staticmethod
    def put(content: bytes) -> Any:
        """What stands for a file's content in `parts`."""
        return _ray().put(content)

    def unpack(self, folder: Path) -> dict[str, Path]:
        """Write what is not there yet into `folder`; where the file or folder of each name lies now."""
        found = {}
        for number, (name, files) in enumerate(self.parts.items()):
            for place, content in files.items():
                path = folder / str(number) / place
                if not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(_ray().get(content))
                found[name] = folder / str(number) / place.partition("/")[0]
        return found


class Work(Protocol[T]):
    """What workers do. It is sent to each of them once, pickled, and keeps what it opens until `close`."""

    def do(self, items: Iterator[T], stop: threading.Event) -> Iterator[tuple[list[T], Any]]:
        """Results as they come, each with the items that it is of, none for what is said in between; `stop` ends it.

        `items` may have more after it has ended (StopIteration): they are the items that came meanwhile.
        """

    def close(self) -> None: ...


@dataclass(frozen=True)
class Place:
    """What a worker takes of a machine, and how many workers there are at most; 0: as many as the machines hold."""

    cpus: float = 1
    gpus: float = 0
    workers: int = 0

    def room(self, resources: dict[str, float]) -> int:
        """Workers that a machine with these resources holds."""
        rooms = [resources.get(name, 0) / of for name, of in (("CPU", self.cpus), ("GPU", self.gpus)) if of]
        return int(min(rooms) + 1e-9)

    def __str__(self) -> str:
        return f"{self.cpus:g} cores" + (f" and {self.gpus:g} GPUs" if self.gpus else "")


class _Job(Generic[T]):
    """A piece of work in a worker, and the items that wait for it."""

    def __init__(self, work: Work[T]) -> None:
        self.work = work
        self.items: deque[T] = deque()
        self.stop = threading.Event()
        self.running = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            return self.items.popleft()
        except IndexError:
            raise StopIteration from None


class Worker:
    """Does work on a machine of the cluster: the class of the Ray actors, whose methods run in threads."""

    def __init__(self) -> None:
        self._jobs: dict[str, _Job[Any]] = {}
        self._ended: set[str] = set()
        self._lock = threading.Lock()

    def version(self) -> str:
        return tengen.__version__

    def run(self, key: str, work: list[Any], items: list[Any]) -> Generator[bytes, None, None]:
        """Do these items, and what `add` brings meanwhile; give (items, result) pickled."""
        with self._lock:
            if key in self._ended:
                return
            if key not in self._jobs:
                self._jobs[key] = _Job(_ray().get(work[0]))
            job = self._jobs[key]
            job.items = deque(items)
            job.running += 1
        try:
            for done in job.work.do(job, job.stop):
                yield pickle.dumps(done, protocol=5)
        except TengenError as error:  # classes with other arguments cannot be sent
            raise TengenError(str(error)) from None
        finally:
            with self._lock:
                job.running -= 1
                self._close(key)

    def add(self, key: str, items: list[Any]) -> None:
        """More items for work that runs; those that come too late are handed out again."""
        if (job := self._jobs.get(key)) is not None:
            job.items.extend(items)

    def end(self, key: str) -> None:
        """Give the work up."""
        with self._lock:
            self._ended.add(key)
            if (job := self._jobs.get(key)) is not None:
                job.stop.set()
                self._close(key)

    def _close(self, key: str) -> None:
        job = self._jobs.get(key)
        if job is not None and key in self._ended and not job.running:
            del self._jobs[key]
            job.work.close()


@dataclass(eq=False)
class _Hired:
    """A worker as the process that leads sees it; `ready` is its first answer until it has come."""

    actor: Any
    ready: Any


@dataclass
class Traffic:
    """What came back from the workers: results with their items and bytes, items done twice, workers that died."""

    items: int = 0
    bytes: int = 0
    repeated: int = 0
    died: int = 0


class Cluster:
    """The workers that this process has on the Ray cluster at an address: `HOST:PORT`, `auto` for the one that this
    machine belongs to, `local` for a new one on this machine that ends with it. A process that is part of a cluster
    already stays in that one.

    There are as many workers as `place` allows. They are started when work comes and as machines join, and given up as
    machines leave. Several threads may have work done at the same time, by the same workers.

    Raises MissingExtra without Ray, TengenError where no cluster answers.
    """

    def __init__(self, address: str, place: Place = Place()) -> None:
        self.place = place
        self.traffic = Traffic()
        self._ray = _ray()
        self._workers: list[_Hired] = []
        self._beside: list[Cluster] = []
        self._lock = threading.Lock()
        self._failures = 0
        self._looked = -math.inf
        self._room = 0
        self._without = time.monotonic()  # since when no worker is ready
        self._warned = False
        self._joined = not self._ray.is_initialized()
        if self._joined:
            _connect(self._ray, address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give all workers up, and leave the cluster where this object has joined it."""
        for other in self._beside:
            other.close()
        for worker in self._workers:
            self._ray.kill(worker.actor)
        self._workers.clear()
        if self._joined:
            self._ray.shutdown()

    def run(
        self,
        work: Work[T],
        items: Iterable[T],
        ahead: int = 1,
        stop: Callable[[], bool] = lambda: False,
        drain: bool = False,
    ) -> Generator[tuple[list[T], Any], None, None]:
        """Have this work done for all items, and give results as they come, each with the items that it is new for.

        A worker has up to `ahead` items at a time, and all have equally many towards the end. `items`, which must
        differ, are asked for when a worker is free, after the caller has seen all results so far. Ends early after
        `stop`; with `drain` the workers are asked to end and give their last results first. Raises TengenError where
        workers die again and again, machines have another version of Tengen or none, or no machine holds a worker.
        """
        run = _Run(self, self._ray, work, items, ahead)
        try:
            yield from run.results(stop, drain)
        finally:
            self.end(run.key)

    def end(self, key: str) -> None:
        """Tell the workers to give a piece of work up."""
        with self._lock:
            for worker in self._workers:
                worker.actor.end.remote(key)

    def beside(self, place: Place) -> Cluster:
        """Further workers, which take another share of a machine; they leave with these."""
        self._beside.append(Cluster("", place))
        return self._beside[-1]

    def staff(self, wanted: int) -> tuple[list[_Hired], list[_Hired]]:
        """Workers that are ready and workers that start, after starting what `wanted` more items are worth."""
        with self._lock:
            for worker in [each for each in self._workers if each.ready is not None]:
                if self._ray.wait([worker.ready], timeout=0)[0]:
                    self._greet(worker)
            self._hire(wanted)
            ready = [each for each in self._workers if each.ready is None]
            now = time.monotonic()
            self._without = now if ready else self._without
            if now - self._without > PATIENCE and not self._warned:
                self._warned = True
                _logger.warning("waiting for the cluster: %s", self._lack())
            return ready, [each for each in self._workers if each.ready is not None]

    def _greet(self, worker: _Hired) -> None:
        try:
            version = self._ray.get(worker.ready)
        except self._ray.exceptions.RayError as error:
            self._lost(worker, error)
            return
        if version != tengen.__version__:
            raise TengenError(
                f"a machine of the cluster has Tengen {version}, this one {tengen.__version__}: install the same"
            )
        worker.ready = None

    def _hire(self, wanted: int) -> None:
        place, now = self.place, time.monotonic()
        if now - self._looked > _LOOK_SECONDS:
            self._looked = now
            self._room = sum(map(place.room, self._machines()))
            joined = now - self._without > JOIN_SECONDS
            if joined and not (self._room or self._workers or place.workers or self._warned):
                raise TengenError(self._lack())
        for _ in range(min(place.workers or self._room, len(self._workers) + wanted) - len(self._workers)):
            actor = (
                self._ray.remote(Worker).options(num_cpus=place.cpus, num_gpus=place.gpus, max_concurrency=16).remote()
            )
            self._workers.append(_Hired(actor, actor.version.remote()))

    def _machines(self) -> list[dict[str, float]]:
        """The resources of the machines that are there."""
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def _lack(self) -> str:
        """What keeps workers from starting."""
        machines = self._machines()
        if any(map(self.place.room, machines)):
            return f"no worker of {self.place} has started; others may use the machines"
        largest = max(machines, key=lambda found: (found.get("GPU", 0), found.get("CPU", 0)), default={})
        most = Place(largest.get("CPU", 0), largest.get("GPU", 0))
        return (
            f"a worker needs {self.place}, more than any machine of the cluster has (the largest of {len(machines)} "
            f"has {most}): lower what the recipe asks for, or add machines"
        )

    def lost(self, worker: _Hired, error: Exception) -> None:
        """Count the death of a worker, which several threads may notice."""
        with self._lock:
            if worker in self._workers:
                self._lost(worker, error)

    def _lost(self, worker: _Hired, error: Exception) -> None:
        self._workers.remove(worker)
        if "failed to import" in (text := str(error)) or "No module named 'tengen" in text:
            raise TengenError(
                f"a machine of the cluster cannot import Tengen: install tengen {tengen.__version__} for the Python "
                "that runs Ray there"
            ) from error
        self._looked = -math.inf
        self.traffic.died += 1
        self._failures += 1
        if self._failures > MAX_FAILURES:
            raise TengenError(
                f"{self._failures} workers of the cluster died one after the other: {text.splitlines()[0]}"
            ) from error

    def received(self, items: int, repeated: int, size: int) -> None:
        """Count a result."""
        with self._lock:
            self._failures = 0
            self.traffic.items += items
            self.traffic.repeated += repeated
            self.traffic.bytes += size


@dataclass
class _Share(Generic[T]):
    """What a worker does of a run, and since when it has each of its items."""

    stream: Any = None
    missing: OrderedDict[T, float] = field(default_factory=OrderedDict)


class _Run(Generic[T]):
    """Items of one piece of work among the workers."""

    def __init__(self, cluster: Cluster, ray: Any, work: Work[T], items: Iterable[T], ahead: int) -> None:
        self.key = uuid.uuid4().hex
        self._cluster = cluster
        self._ray = ray
        self._work = [ray.put(work)]  # in a list, so that a worker fetches it once
        self._items = iter(items)
        self._ahead = ahead
        self._back: deque[T] = deque()  # of workers that died
        self._shares: dict[_Hired, _Share[T]] = {}
        self._open: set[T] = set()
        self._all_out = False
        self._done = 0
        self._seconds = 0.0

    def results(self, stop: Callable[[], bool], drain: bool) -> Generator[tuple[list[T], Any], None, None]:
        while not stop():
            ready, starting = self._cluster.staff(self._waiting())
            for worker in ready:
                self._shares.setdefault(worker, _Share())
            self._hand_out(len(ready) + len(starting))
            if self._all_out and not self._back and not self._open:
                return
            yield from self._news(starting)
        if drain:
            self._cluster.end(self.key)
            while any(share.stream is not None for share in self._shares.values()):
                yield from self._news([])

    def _news(self, starting: list[_Hired]) -> Iterator[tuple[list[T], Any]]:
        for worker in self._heard(starting):
            try:
                received = self._received(worker)
            except self._ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, TengenError) else error) from None
            except self._ray.exceptions.RayError as error:
                self._give_back(self._shares.pop(worker))
                self._cluster.lost(worker, error)
                continue
            if received is not None:
                yield received

    def _waiting(self) -> int:
        """Items that no worker has, as far as is known."""
        return len(self._back) + (0 if self._all_out else operator.length_hint(self._items, _MANY))

    def _next(self) -> T | None:
        if self._back:
            return self._back.popleft()
        item = next(self._items, None)
        self._all_out = item is None
        return item

    def _hand_out(self, workers: int) -> None:
        """Fill up what the workers have; when all is handed out, give late items to idle workers too."""
        if not self._shares:
            return
        fair = math.ceil((self._waiting() + len(self._open)) / workers)
        new = self._deal(self._shares, self._next, max(1, min(self._ahead, fair)))
        if self._all_out and self._done:
            idle = {worker: share for worker, share in self._shares.items() if share.stream is None}
            late = iter(self._late() if idle else ())
            new += self._deal(idle, lambda: next(late, None), self._ahead)
        for worker, items in new:
            share = self._shares[worker]
            if share.stream is None:
                share.stream = worker.actor.run.options(num_returns="streaming").remote(self.key, self._work, items)
            else:
                worker.actor.add.remote(self.key, items)

    def _deal(
        self, shares: dict[_Hired, _Share[T]], next_item: Callable[[], T | None], limit: int
    ) -> list[tuple[_Hired, list[T]]]:
        """Items for the workers, the next one always for the worker with the fewest."""
        now, dealt = time.monotonic(), {worker: list[T]() for worker in shares}
        heap = [(len(share.missing), i, worker) for i, (worker, share) in enumerate(shares.items())]
        heapq.heapify(heap)
        while heap and heap[0][0] < limit and (item := next_item()) is not None:
            count, i, worker = heap[0]
            heapq.heapreplace(heap, (count + 1, i, worker))
            dealt[worker].append(item)
            shares[worker].missing[item] = now
            self._open.add(item)
        return [(worker, items) for worker, items in dealt.items() if items]

    def _late(self) -> list[T]:
        """The items that one worker has had for long, the latest first."""
        before = time.monotonic() - max(1.0, LATE * self._seconds / self._done)
        had: dict[T, list[float]] = {}
        for share in self._shares.values():
            for item, since in share.missing.items():
                had.setdefault(item, []).append(since)
        late = ((since[0], i, item) for i, (item, since) in enumerate(had.items()) if len(since) == 1)
        return [item for since, _, item in sorted(late, key=lambda each: each[:2]) if since < before]

    def _heard(self, starting: list[_Hired]) -> list[_Hired]:
        """The workers with news, after half a second at the most."""
        streams = {share.stream: worker for worker, share in self._shares.items() if share.stream is not None}
        waits = [*streams, *(worker.ready for worker in starting if worker.ready is not None)]
        if not waits:
            time.sleep(_POLL_SECONDS)
            return []
        ready, _ = self._ray.wait(waits, num_returns=len(waits), timeout=0)
        if not ready:
            ready, _ = self._ray.wait(waits, num_returns=1, timeout=_POLL_SECONDS)
        return [streams[found] for found in ready if found in streams]

    def _received(self, worker: _Hired) -> tuple[list[T], Any] | None:
        """A result with the items that it is new for; None where it is new for none, and at the worker's end."""
        share = self._shares[worker]
        try:
            data = self._ray.get(next(share.stream))
        except StopIteration:
            share.stream = None
            self._give_back(share)  # what came too late for it
            return None
        items, result = pickle.loads(data)
        now, new = time.monotonic(), [item for item in items if item in self._open]
        for item in items:
            if (since := share.missing.pop(item, None)) is not None:
                self._seconds += now - since
                self._done += 1
        self._open -= set(new)
        for item in new:  # another worker may have it too
            for other in self._shares.values():
                other.missing.pop(item, None)
        self._cluster.received(len(items), len(items) - len(new), len(data))
        return (new, result) if new or not items else None

    def _give_back(self, share: _Share[T]) -> None:
        """Let others do what nobody else has."""
        missing = [item for item in share.missing if item in self._open]
        share.missing.clear()
        alone = [item for item in missing if not any(item in other.missing for other in self._shares.values())]
        self._open -= set(alone)
        self._back.extendleft(reversed(alone))


def _ray() -> Any:
    # As `ray start` does on a machine with a token; ray.init does not, and reads the mode at the import.
    if "ray" not in sys.modules and (Path.home() / ".ray" / "auth_token").is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtra("--cluster", "cluster") from error
    return ray


def _connect(ray: Any, address: str) -> None:
    if "://" in address:
        raise TengenError(
            f"--cluster {address}: give HOST:PORT, auto or local; this machine must be part of the cluster"
        )
    options: dict[str, Any] = {}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options["include_dashboard"] = False
    try:
        host, _, port = address.rpartition(":")
        if host:  # Ray itself would try for a minute
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
        ray.init(address=address, log_to_driver=False, logging_level="error", **options)
    except Exception as error:  # Ray's errors here share no base
        raise TengenError(
            f"no Ray cluster answers at {address!r} ({' '.join(str(error).split())}); start one by ray start --head, "
            "and join it with this machine by ray start --address=HOST:PORT"
        ) from error
