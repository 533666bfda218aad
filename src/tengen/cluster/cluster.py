"""The workers of this process on a Ray cluster, and the items of its work among them."""

from __future__ import annotations

import heapq
import logging
import math
import operator
import pickle
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

import tengen
from tengen.cluster.connection import connect, import_ray
from tengen.cluster.worker import T, Work, Worker
from tengen.errors import TengenError

MAX_FAILURES = 20
"""Failures in a row before an item is finished: deaths of workers that started after the failure before."""
LATE = 3.0
"""An item is late, and given to an idle worker too, after this multiple of the mean time of the items so far, but not
within a second."""
PATIENCE = 60.0
"""Seconds without a worker after which a warning says what the cluster lacks."""
JOIN_SECONDS = 20.0
"""Seconds that machines have to join before work that fits none of them is an error."""
_LEAVE_SECONDS = 5.0  # for workers to close their work; else folders of networks and games stay on their machines
_POLL_SECONDS = 0.5
_CHECK_SECONDS = 2.0  # between two queries of the machines that are there
_UNKNOWN_COUNT = 10**9  # of items that an iterator of unknown length has left

_logger = logging.getLogger(__name__)
R = TypeVar("R")


@dataclass(frozen=True)
class Place:
    """What a worker takes of a machine: cores, and GPUs or shares of one. There are up to `workers` workers; 0: as many
    as the machines hold.
    """

    cpus: float = 1
    gpus: float = 0
    workers: int = 0

    def capacity(self, resources: dict[str, float]) -> int:
        """Workers that a machine with these resources holds."""
        counts = [
            resources.get(name, 0) / needed for name, needed in (("CPU", self.cpus), ("GPU", self.gpus)) if needed
        ]
        return int(min(counts) + 1e-9)

    def rest(self, resources: dict[str, float]) -> dict[str, float]:
        """What a worker leaves of a machine with these resources."""
        taken = {"CPU": self.cpus, "GPU": self.gpus}
        return {name: amount - taken.get(name, 0) for name, amount in resources.items()}

    def __str__(self) -> str:
        return f"{self.cpus:g} cores" + (f" and {self.gpus:g} GPUs" if self.gpus else "")


@dataclass(eq=False)
class _WorkerHandle:
    """A worker and, until it has started, `ready`: the reference of its version. `deaths` of others came before it."""

    actor: Any
    ready: Any
    deaths: int


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
        self._ray = import_ray()
        self._workers: list[_WorkerHandle] = []
        self._beside: list[Cluster] = []
        self._lock = threading.Lock()
        self._failures = 0
        self._failed_at = 0  # deaths at the last failure
        self._checked_at = -math.inf
        self.capacity = 0  # workers that the machines have room for
        self._no_worker_since = time.monotonic()  # since when no worker is ready
        self._warned = False
        self._joined = not self._ray.is_initialized()
        if self._joined:
            connect(address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give all workers up, and leave the cluster where this object has joined it."""
        for other in self._beside:
            other.close()
        try:
            with suppress(self._ray.exceptions.RayError):
                left = [each.actor.leave.remote(_LEAVE_SECONDS) for each in self._workers if each.ready is None]
                if left:
                    self._ray.wait(left, num_returns=len(left), timeout=_LEAVE_SECONDS)
        finally:  # after Ctrl-C too
            for worker in self._workers:
                with suppress(self._ray.exceptions.RayError):  # of a worker that has not begun, or whose node is gone
                    self._ray.kill(worker.actor)
            self._workers.clear()
            if self._joined:
                self._ray.shutdown()

    def run(
        self,
        work: Work[T, R],
        items: Iterable[T],
        ahead: int = 1,
        stop: Callable[[], bool] = lambda: False,
        drain: bool = False,
    ) -> Generator[tuple[list[T], R], None, None]:
        """Have this work done for all items, and give results as they come, each with the items that it is new for.

        A worker has up to `ahead` items at a time, and all have equally many towards the end. `items`, which must
        differ, are asked for when a worker is free, after the caller has seen all results so far. Ends early after
        `stop`; with `drain` the workers are asked to end and give their last results first. Raises TengenError where
        workers die again and again, machines have another version of Tengen or none, or no machine holds a worker.
        """
        run = _Dispatcher(self, self._ray, work, items, ahead)
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
        """Further workers, which take another share of a machine; they leave with these.

        The first one starts now, and these workers leave it room: they stay until they are given up.
        """
        self._beside.append(Cluster("", place))
        self._beside[-1].scale_up(1)
        return self._beside[-1]

    def scale_up(self, wanted: int) -> tuple[list[_WorkerHandle], list[_WorkerHandle]]:
        """Start workers for `wanted` more items; returns the workers that are ready, and those that start."""
        with self._lock:
            for worker in [each for each in self._workers if each.ready is not None]:
                if self._ray.wait([worker.ready], timeout=0)[0]:
                    self._finish_start(worker)
            self._start_workers(wanted)
            ready = [each for each in self._workers if each.ready is None]
            now = time.monotonic()
            self._no_worker_since = now if ready else self._no_worker_since
            if now - self._no_worker_since > PATIENCE and not self._warned:
                self._warned = True
                _logger.warning("waiting for the cluster: %s", self._shortage())
            return ready, [each for each in self._workers if each.ready is not None]

    def _finish_start(self, worker: _WorkerHandle) -> None:
        try:
            version = self._ray.get(worker.ready)
        except self._ray.exceptions.RayError as error:
            self._remove(worker, error)
            return
        if version != tengen.__version__:
            raise TengenError(
                f"a machine of the cluster has Tengen {version}, this one {tengen.__version__}: install the same"
            )
        worker.ready = None

    def _start_workers(self, wanted: int) -> None:
        place, now = self.place, time.monotonic()
        if now - self._checked_at > _CHECK_SECONDS:
            self._checked_at = now
            self.capacity = self._room()
            joined = now - self._no_worker_since > JOIN_SECONDS
            if joined and not (self.capacity or self._workers or place.workers or self._warned):
                raise TengenError(self._shortage())
        for _ in range(min(place.workers or self.capacity, len(self._workers) + wanted) - len(self._workers)):
            actor = (
                self._ray.remote(Worker).options(num_cpus=place.cpus, num_gpus=place.gpus, max_concurrency=16).remote()
            )
            self._workers.append(_WorkerHandle(actor, actor.version.remote(), self.traffic.died))

    def _room(self) -> int:
        """Workers that the machines hold beside one of each `beside`, which is where it takes the fewest places."""
        machines, place = self._machines(), self.place
        room = sum(map(place.capacity, machines))
        for other in (each.place for each in self._beside):
            costs = [place.capacity(m) - place.capacity(other.rest(m)) for m in machines if other.capacity(m)]
            room -= min(costs, default=0)
        return room

    def _machines(self) -> list[dict[str, float]]:
        """The resources of the machines that are there."""
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def _shortage(self) -> str:
        """What keeps workers from starting."""
        machines = self._machines()
        if any(map(self.place.capacity, machines)):
            if self.capacity or not self._beside:
                return f"no worker of {self.place} has started; others may use the machines"
            return (
                f"the machines have no room for a worker of {self.place} beside the learner's {self._beside[0].place}: "
                "lower what the recipe asks for, or add machines"
            )
        largest = max(machines, key=lambda found: (found.get("GPU", 0), found.get("CPU", 0)), default={})
        most = Place(largest.get("CPU", 0), largest.get("GPU", 0))
        return (
            f"a worker needs {self.place}, more than any machine of the cluster has (the largest of {len(machines)} "
            f"has {most}): lower what the recipe asks for, or add machines"
        )

    def worker_died(self, worker: _WorkerHandle, error: Exception) -> None:
        """Count the death of a worker, which several threads may notice."""
        with self._lock:
            if worker in self._workers:
                self._remove(worker, error)

    def _remove(self, worker: _WorkerHandle, error: Exception) -> None:
        self._workers.remove(worker)
        if "failed to import" in (text := str(error)) or "No module named 'tengen" in text:
            raise TengenError(
                f"a machine of the cluster cannot import Tengen: install tengen {tengen.__version__} for the Python "
                "that runs Ray there"
            ) from error
        self._checked_at = -math.inf
        self.traffic.died += 1
        if worker.deaths < self._failed_at:  # it may have died of the same cause, as with a machine that leaves
            return
        self._failed_at = self.traffic.died
        self._failures += 1
        if self._failures > MAX_FAILURES:
            raise TengenError(
                f"{self._failures} workers of the cluster died one after the other: {text.splitlines()[0]}"
            ) from error

    def count_result(self, items: int, repeated: int, size: int) -> None:
        """Count a result."""
        with self._lock:
            self._failures = 0
            self.traffic.items += items
            self.traffic.repeated += repeated
            self.traffic.bytes += size


@dataclass
class _Assignment(Generic[T]):
    """The running call of a worker (None: it is idle), and the items that it has, each with the time it got them."""

    stream: Any = None
    missing: OrderedDict[T, float] = field(default_factory=OrderedDict)


class _Dispatcher(Generic[T, R]):
    """Gives the items of one piece of work to the workers of a cluster, and collects their results."""

    def __init__(self, cluster: Cluster, ray: Any, work: Work[T, R], items: Iterable[T], ahead: int) -> None:
        self.key = uuid.uuid4().hex
        self._cluster = cluster
        self._ray = ray
        self._work = [ray.put(work)]  # in a list, so that a worker fetches it once
        self._items = iter(items)
        self._ahead = ahead
        self._returned: deque[T] = deque()  # of workers that died
        self._assignments: dict[_WorkerHandle, _Assignment[T]] = {}
        self._unfinished: set[T] = set()
        self._exhausted = False
        self._finished = 0
        self._total_seconds = 0.0

    def results(self, stop: Callable[[], bool], drain: bool) -> Generator[tuple[list[T], R], None, None]:
        """See `Cluster.run`."""
        while not stop():
            ready, starting = self._cluster.scale_up(self._unassigned())
            for worker in ready:
                self._assignments.setdefault(worker, _Assignment())
            # Workers that wait for a machine get no share: none may ever come.
            self._hand_out(max(len(ready), min(len(ready) + len(starting), self._cluster.capacity)))
            if self._exhausted and not self._returned and not self._unfinished:
                return
            yield from self._collect(starting)
        if drain:
            self._cluster.end(self.key)
            while any(given.stream is not None for given in self._assignments.values()):
                yield from self._collect([])

    def _collect(self, starting: list[_WorkerHandle]) -> Iterator[tuple[list[T], R]]:
        for worker in self._workers_with_results(starting):
            try:
                received = self._receive(worker)
            except self._ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, TengenError) else error) from None
            except self._ray.exceptions.RayError as error:
                self._return_items(self._assignments.pop(worker))
                self._cluster.worker_died(worker, error)
                continue
            if received is not None:
                yield received

    def _unassigned(self) -> int:
        """Items that no worker has, as far as is known."""
        return len(self._returned) + (0 if self._exhausted else operator.length_hint(self._items, _UNKNOWN_COUNT))

    def _next_item(self) -> T | None:
        if self._returned:
            return self._returned.popleft()
        item = next(self._items, None)
        self._exhausted = item is None
        return item

    def _hand_out(self, workers: int) -> None:
        """Give the workers as many items as each may have; when none are left, give idle workers the late ones too."""
        if not self._assignments:
            return
        # 0 workers: another thread found the last one dead, and this one has yet to notice.
        fair = math.ceil((self._unassigned() + len(self._unfinished)) / max(1, workers))
        new = self._distribute(self._assignments, self._next_item, max(1, min(self._ahead, fair)))
        if self._exhausted and self._finished:
            idle = {worker: given for worker, given in self._assignments.items() if given.stream is None}
            late = iter(self._late_items() if idle else ())
            new += self._distribute(idle, lambda: next(late, None), self._ahead)
        for worker, items in new:
            assignment = self._assignments[worker]
            if assignment.stream is None:
                run = worker.actor.run.options(num_returns="streaming")
                assignment.stream = run.remote(self.key, self._work, items)
            else:
                worker.actor.add.remote(self.key, items)

    def _distribute(
        self, assignments: dict[_WorkerHandle, _Assignment[T]], next_item: Callable[[], T | None], limit: int
    ) -> list[tuple[_WorkerHandle, list[T]]]:
        """Items for the workers, the next one always for the worker with the fewest."""
        now, assigned = time.monotonic(), {worker: list[T]() for worker in assignments}
        heap = [(len(given.missing), i, worker) for i, (worker, given) in enumerate(assignments.items())]
        heapq.heapify(heap)
        while heap and heap[0][0] < limit and (item := next_item()) is not None:
            count, i, worker = heap[0]
            heapq.heapreplace(heap, (count + 1, i, worker))
            assigned[worker].append(item)
            assignments[worker].missing[item] = now
            self._unfinished.add(item)
        return [(worker, items) for worker, items in assigned.items() if items]

    def _late_items(self) -> list[T]:
        """The items that a single worker has had for long, the oldest first."""
        before = time.monotonic() - max(1.0, LATE * self._total_seconds / self._finished)
        had: dict[T, list[float]] = {}
        for given in self._assignments.values():
            for item, since in given.missing.items():
                had.setdefault(item, []).append(since)
        late = ((since[0], i, item) for i, (item, since) in enumerate(had.items()) if len(since) == 1)
        return [item for since, _, item in sorted(late, key=lambda each: each[:2]) if since < before]

    def _workers_with_results(self, starting: list[_WorkerHandle]) -> list[_WorkerHandle]:
        """The workers with a result; waits up to half a second for one, or for a worker that starts."""
        streams = {given.stream: worker for worker, given in self._assignments.items() if given.stream is not None}
        waits = [*streams, *(worker.ready for worker in starting if worker.ready is not None)]
        if not waits:
            time.sleep(_POLL_SECONDS)
            return []
        ready, _ = self._ray.wait(waits, num_returns=len(waits), timeout=0)
        if not ready:
            ready, _ = self._ray.wait(waits, num_returns=1, timeout=_POLL_SECONDS)
        return [streams[found] for found in ready if found in streams]

    def _receive(self, worker: _WorkerHandle) -> tuple[list[T], R] | None:
        """A result with the items that it is new for; None where it is new for none, and at the worker's end."""
        assignment = self._assignments[worker]
        try:
            data = self._ray.get(next(assignment.stream))
        except StopIteration:
            assignment.stream = None
            self._return_items(assignment)  # what came too late for it
            return None
        items, result = pickle.loads(data)
        now, new = time.monotonic(), [item for item in items if item in self._unfinished]
        for item in items:
            if (since := assignment.missing.pop(item, None)) is not None:
                self._total_seconds += now - since
                self._finished += 1
        self._unfinished -= set(new)
        for item in new:  # another worker may have it too
            for other in self._assignments.values():
                other.missing.pop(item, None)
        self._cluster.count_result(len(items), len(items) - len(new), len(data))
        return (new, result) if new or not items else None

    def _return_items(self, assignment: _Assignment[T]) -> None:
        """Take back the items of a worker that no other worker has, to be given out first."""
        missing = [item for item in assignment.missing if item in self._unfinished]
        assignment.missing.clear()
        alone = [item for item in missing if not any(item in other.missing for other in self._assignments.values())]
        self._unfinished -= set(alone)
        self._returned.extendleft(reversed(alone))
