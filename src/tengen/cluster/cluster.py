"""The workers of this process on a Ray cluster, and the items of its work among them."""

from __future__ import annotations

import heapq
import logging
import math
import operator
import pickle
import re
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

import tengen
from tengen.cluster.connection import connect, import_ray
from tengen.cluster.worker import T, Work, Worker
from tengen.errors import ClusterError, TengenError

MAX_FAILURES = 8
"""Failures in a row, without a result, that a run survives while no other worker is there: deaths, errors of the work
after its first result."""
MAX_MACHINES = 3
"""Machines on which work without any result yet may raise: then it is the work that is wrong."""
LATE = 3.0
"""An item is late, and given to an idle worker too, after this multiple of the mean time of the items so far, but not
within a second."""
PATIENCE = 60.0
"""Seconds without a worker after which a warning says what the cluster lacks."""
JOIN_SECONDS = 20.0
"""Seconds that machines have to join before work that fits none of them is an error."""
SILENCE = 120.0
"""Seconds, and 10 times the mean time of an item, without a result after which a worker is asked whether it lives."""
REST_SECONDS = 300.0
"""No worker starts on a machine for 1 s after a failure there, 2 s after the next one and so on up to this time."""
_FORGET_SECONDS = 2 * REST_SECONDS  # after which a failure is the first one again
_RETRY_SECONDS = 300.0  # for which work that has had results may raise without any further one
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
    """A worker and, until it has started, `ready`: the reference of its version and of its machine, then `node`.

    It does not start on the machines that it `avoids`.
    """

    actor: Any
    ready: Any
    avoids: frozenset[str]
    node: str = ""


@dataclass
class _Faults:
    """The failures of a machine in a row; no worker starts there before `until`."""

    count: int = 0
    at: float = -math.inf
    until: float = -math.inf

    def add(self, now: float) -> bool:
        """Count a failure, and say whether it is the first. While the machine rests they are all one failure."""
        if now < self.until:
            return False
        self.count = 1 if now - self.at > _FORGET_SECONDS else self.count + 1
        self.at, self.until = now, now + min(REST_SECONDS, 2.0 ** (self.count - 1))
        return self.count == 1


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
        self._faults: dict[str, _Faults] = {}  # by machine, "" for one that is not known
        self._checked_at = -math.inf
        self.capacity = 0  # workers that the machines have room for
        self._no_worker_since = time.monotonic()  # since when no worker is ready
        self._warned = False
        self._was_ready = False  # whether any worker ever was
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
                self._kill(worker)
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
        `stop`; with `drain` the workers are asked to end and give their last results first.

        A machine where the work raises, a worker dies or Tengen is missing rests for a while, and others do its items.
        Raises the error of the work where it raises everywhere, and ClusterError where nothing but dying workers is
        there, or none can start in the first place: other versions of Tengen, no machine that holds one.
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

    def add_workers(self, place: Place) -> Cluster:
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
                elif not worker.avoids <= self._resting():  # it may wait in vain, with a free place on that machine
                    self._drop(worker)
            self._start_workers(wanted)
            ready = [each for each in self._workers if each.ready is None]
            now = time.monotonic()
            if ready:
                self._no_worker_since, self._warned, self._was_ready = now, False, True
            if now - self._no_worker_since > PATIENCE and not self._warned:
                self._warned = True
                _logger.warning("waiting for the cluster: %s", self._shortage())
            return ready, [each for each in self._workers if each.ready is not None]

    def _finish_start(self, worker: _WorkerHandle) -> None:
        try:
            answer = self._ray.get(worker.ready)
        except self._ray.exceptions.RayError as error:
            worker.node = self._node_of(text := str(error))
            if "failed to import" in text or "No module named 'tengen" in text:
                why = "a machine of the cluster cannot import Tengen"
                how = f"install tengen {tengen.__version__} for the Python that runs Ray there"
                self._refuse(worker, ClusterError(f"{why}: {how}"))
            else:
                self._count_death(worker, error)
            return
        version, worker.node = answer if isinstance(answer, tuple) else (answer, "")  # as versions before gave it
        if version != tengen.__version__:
            why = f"a machine of the cluster has Tengen {version}, this one {tengen.__version__}"
            self._refuse(worker, ClusterError(f"{why}: install the same"))
        elif worker.node in self._resting():  # it has waited for this place since before the failure
            self._drop(worker)
        else:
            worker.ready = None

    def _start_workers(self, wanted: int) -> None:
        place, now = self.place, time.monotonic()
        resting = self._resting()
        if now - self._checked_at > _CHECK_SECONDS:
            self._checked_at = now
            self.capacity = self._room(resting)
            joined = now - self._no_worker_since > JOIN_SECONDS
            hope = self._was_ready or self._faults or self._workers or place.workers or self._warned
            if joined and not (self.capacity or hope):
                raise ClusterError(self._shortage())
        if "" in resting:
            return
        free = self.capacity - sum(each.node not in resting for each in self._workers)
        if place.workers:
            free = place.workers - len(self._workers)
        options: dict[str, Any] = {"num_cpus": place.cpus, "num_gpus": place.gpus, "max_concurrency": 16}
        if resting:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(sorted(resting))})"}
        for _ in range(min(free, wanted)):
            actor = self._ray.remote(Worker).options(**options).remote()
            self._workers.append(_WorkerHandle(actor, actor.version.remote(), resting))

    def _resting(self) -> frozenset[str]:
        """The machines on which no worker starts now."""
        now = time.monotonic()
        return frozenset(node for node, faults in self._faults.items() if now < faults.until)

    def _room(self, without: Collection[str]) -> int:
        """Workers that the machines hold beside one of each `beside`, which is where it takes the fewest places."""
        machines, place = self._machines(without), self.place
        room = sum(map(place.capacity, machines))
        for other in (each.place for each in self._beside):
            costs = [place.capacity(m) - place.capacity(other.rest(m)) for m in machines if other.capacity(m)]
            room -= min(costs, default=0)
        return room

    def _machines(self, without: Collection[str] = ()) -> list[dict[str, float]]:
        """The resources of the machines that are there, without these."""
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"] and node["NodeID"] not in without]

    def has_others(self, nodes: Collection[str]) -> bool:
        """Whether further machines than these are there that hold a worker."""
        return any(map(self.place.capacity, self._machines(nodes)))

    def host(self, node: str) -> str:
        """The name of a machine."""
        return next((each["NodeManagerHostname"] for each in self._ray.nodes() if each["NodeID"] == node), "a machine")

    def _node_of(self, text: str) -> str:
        """The machine whose address the text of Ray's error names, "" where that is not one alone."""
        address = re.search(r"\bip[=:] ?([\w.:]+)", text)
        nodes = [each for each in self._ray.nodes() if each["Alive"] and self.place.capacity(each["Resources"])]
        found = [each["NodeID"] for each in nodes if address and each["NodeManagerAddress"] == address[1]]
        return found[0] if len(found) == 1 else ""

    def _shortage(self) -> str:
        """What keeps workers from starting."""
        if (self._was_ready or self._faults) and not self.capacity:
            return f"no machine with {self.place} for a worker is there that has not just failed"
        machines = self._machines()
        if any(map(self.place.capacity, machines)):
            if self.capacity or not self._beside:
                return f"no worker of {self.place} has started; others may use the machines"
            return (
                f"the machines have no room for a worker of {self.place} beside the learner's {self._beside[0].place}: "
                "lower what the recipe asks for, or add machines"
            )
        largest = max(machines, key=lambda found: (found.get("GPU", 0), found.get("CPU", 0)), default={})
        maximum = Place(largest.get("CPU", 0), largest.get("GPU", 0))
        return (
            f"a worker needs {self.place}, more than any machine of the cluster has (the largest of {len(machines)} "
            f"has {maximum}): lower what the recipe asks for, or add machines"
        )

    def worker_died(self, worker: _WorkerHandle, error: Exception) -> None:
        """Count the death of a worker, which several threads may notice."""
        with self._lock:
            if worker in self._workers:
                self._count_death(worker, error)

    def give_up(self, worker: _WorkerHandle, error: Exception) -> None:
        """End a worker whose work raised, or that hangs: its process may be what is broken."""
        with self._lock:
            if worker in self._workers:
                self._kill(worker)
                self._remove(worker, error)

    def _count_death(self, worker: _WorkerHandle, error: Exception) -> None:
        self._remove(worker, error)
        if any(each.ready is None for each in self._workers):  # of a lost machine, the last one counts
            return
        self._failures += 1
        if self._failures > MAX_FAILURES:
            raise ClusterError(
                f"{self._failures} workers of the cluster died one after the other: {_reason(error)}"
            ) from error

    def _refuse(self, worker: _WorkerHandle, error: ClusterError) -> None:
        """Give up a worker that cannot begin. Raises where none ever began, and all machines have failed."""
        self._kill(worker)
        self._remove(worker, error)
        hope = self._room(self._faults) if worker.node else len(self._workers)
        if not (self._was_ready or hope):
            raise error

    def _remove(self, worker: _WorkerHandle, error: Exception) -> None:
        """Take a worker away that failed, and let its machine rest."""
        self._workers.remove(worker)
        self._checked_at = -math.inf
        self.traffic.died += 1
        if any(each["NodeID"] == worker.node and not each["Alive"] for each in self._ray.nodes()):
            return  # it has left
        if self._faults.setdefault(worker.node, _Faults()).add(time.monotonic()):
            _logger.warning("%s failed and rests for a while: %s", self.host(worker.node), _reason(error))

    def _drop(self, worker: _WorkerHandle) -> None:
        """Take a worker away that has not begun, for another one."""
        self._workers.remove(worker)
        self._kill(worker)

    def _kill(self, worker: _WorkerHandle) -> None:
        with suppress(self._ray.exceptions.RayError):  # of a worker that has not begun, or whose node is gone
            self._ray.kill(worker.actor)

    def count_result(self, items: int, repeated: int, size: int) -> None:
        """Count a result."""
        with self._lock:
            self._failures = 0
            self.traffic.items += items
            self.traffic.repeated += repeated
            self.traffic.bytes += size


def _reason(error: Exception) -> str:
    """An error in one line. One of Ray's tasks tells what was raised there, as does the last line of a failed start."""
    if (cause := getattr(error, "cause", None)) is not None:
        return f"{type(cause).__name__}: {cause}"
    first, *others = str(error).strip().splitlines() or [type(error).__name__]
    return others[-1] if others and "creation task" in first else first


@dataclass
class _Assignment(Generic[T]):
    """The running call of a worker (None: it is idle), and the items that it has, each with the time it got them.

    `heard` is when the call began or gave its last result, `ping` whether the worker lives, which is asked after a long
    silence, at the time `asked`.
    """

    stream: Any = None
    missing: OrderedDict[T, float] = field(default_factory=OrderedDict)
    heard: float = 0.0
    ping: Any = None
    asked: float = 0.0
    warned: bool = False

    def hear(self) -> None:
        self.heard, self.ping, self.warned = time.monotonic(), None, False


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
        # Errors of the work since its last result, each with its time and machine.
        self._errors: list[tuple[float, str, Exception]] = []
        self._exhausted = False
        self._finished = 0
        self._total_seconds = 0.0

    def results(self, stop: Callable[[], bool], drain: bool) -> Generator[tuple[list[T], R], None, None]:
        """See `Cluster.run`."""
        while not stop():
            ready, starting = self._cluster.scale_up(self._unassigned())
            for worker in ready:
                self._assignments.setdefault(worker, _Assignment())
            self._check_errors()
            self._check_silence()
            # Workers that wait for a machine get no share: none may ever come.
            self._hand_out(max(len(ready), min(len(ready) + len(starting), self._cluster.capacity)))
            if self._exhausted and not self._returned and not self._unfinished:
                return
            yield from self._collect(starting)
        if drain:
            self._cluster.end(self.key)
            while any(given.stream is not None for given in self._assignments.values()):
                yield from self._collect([])
            for *_, error in self._errors:  # no other worker does it now
                raise error from None

    def _collect(self, starting: list[_WorkerHandle]) -> Iterator[tuple[list[T], R]]:
        for worker in self._workers_with_results(starting):
            try:
                received = self._receive(worker)
            except self._ray.exceptions.RayTaskError as error:
                self._return_items(self._assignments.pop(worker))
                found = error.cause if isinstance(error.cause, TengenError) else error
                self._errors.append((time.monotonic(), worker.node, found))
                self._cluster.give_up(worker, found)
                continue
            except self._ray.exceptions.RayError as error:
                self._return_items(self._assignments.pop(worker))
                self._cluster.worker_died(worker, error)
                continue
            if received is not None:
                self._errors.clear()
                yield received

    def _check_errors(self) -> None:
        """Raise the first error of the work since its last result, where no worker is at it and none may do better."""
        if not self._errors or any(given.stream is not None for given in self._assignments.values()):
            return
        nodes, (since, _, first) = {node for _, node, _ in self._errors}, self._errors[0]
        seconds = time.monotonic() - since
        if self._finished:  # it can be done: machines that are away may come back, and those that fail may recover
            hopeless = len(self._errors) > MAX_FAILURES or seconds > _RETRY_SECONDS
        else:
            others = self._cluster.has_others(nodes)  # which other programs may occupy
            hopeless = len(nodes) >= MAX_MACHINES or not others or seconds > JOIN_SECONDS
        if hopeless:
            raise first from None

    def _check_silence(self) -> None:
        """Warn of workers that give no result for long, and give up those that do not even answer."""
        now, mean = time.monotonic(), self._total_seconds / self._finished if self._finished else SILENCE / 2
        patience = max(SILENCE, 10 * mean)
        for worker, given in list(self._assignments.items()):
            silent = now - given.heard
            if not given.missing or silent < patience:
                continue
            if given.ping is None:
                given.ping, given.asked = worker.actor.version.remote(), now
            elif self._ray.wait([given.ping], timeout=0)[0]:
                if not given.warned:
                    words = self._cluster.host(worker.node), silent, len(given.missing), str(next(iter(given.missing)))
                    _logger.warning(
                        "%s gives no result for %.0f s though it answers: it has %d items, first %.60s", *words
                    )
                given.warned = True
            elif (waited := now - given.asked) > SILENCE / 2:
                why = f"a worker with {len(given.missing)} items has not answered for {waited:.0f} s"
                self._return_items(self._assignments.pop(worker))
                self._cluster.give_up(worker, ClusterError(why))

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
        # Machines where the work has raised wait for a result of the others.
        failed = {node for _, node, _ in self._errors}
        usable = {worker: given for worker, given in self._assignments.items() if worker.node not in failed}
        usable = usable or self._assignments
        new = self._distribute(usable, self._next_item, max(1, min(self._ahead, fair)))
        if self._exhausted and self._finished:
            idle = {worker: given for worker, given in usable.items() if given.stream is None}
            late = iter(self._late_items() if idle else ())
            new += self._distribute(idle, lambda: next(late, None), self._ahead)
        for worker, items in new:
            assignment = self._assignments[worker]
            if assignment.stream is None:
                run = worker.actor.run.options(num_returns="streaming")
                assignment.hear()
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
        assignment.hear()
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
