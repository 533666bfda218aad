"""The side of the workers: the work that they do, and the Ray actor that does it."""

from __future__ import annotations

import pickle
import threading
from collections import deque
from collections.abc import Generator, Hashable, Iterator
from typing import Any, Generic, Protocol, Self, TypeVar

import tengen
from tengen.cluster.connection import import_ray
from tengen.cluster.files import WorkerFolder
from tengen.errors import TengenError

T = TypeVar("T", bound=Hashable)
R_co = TypeVar("R_co", covariant=True)


class Work(Protocol[T, R_co]):
    """What workers do with items of type T, for results of type R.

    It is sent to each worker once, pickled, and keeps what it opens until `close`.
    """

    def do(self, items: Iterator[T], stop: threading.Event) -> Iterator[tuple[list[T], R_co]]:
        """Results as they come, each with the items that it is of, none for what is said in between; `stop` ends it.

        `items` may have more after it has ended (StopIteration): they are the items that came meanwhile.
        """

    def close(self) -> None: ...


class _Job(Generic[T]):
    """A piece of work in a worker, and the items that wait for it."""

    def __init__(self, work: Work[T, Any]) -> None:
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
        self._leaving = False
        self._lock = threading.Condition()
        self._folder = WorkerFolder()

    def version(self) -> tuple[str, str]:
        """The version of Tengen, and Ray's name of the machine. An answer says that this process is alive, too."""
        return tengen.__version__, import_ray().get_runtime_context().get_node_id()

    def run(self, key: str, work: list[Any], items: list[Any]) -> Generator[bytes, None, None]:
        """Do these items, and what `add` brings meanwhile; give (items, result) pickled."""
        with self._lock:
            if self._leaving or key in self._ended:
                return
            if key not in self._jobs:
                self._jobs[key] = _Job(import_ray().get(work[0]))
            job = self._jobs[key]
            job.items = deque(items)
            job.running += 1
        try:
            for done in job.work.do(job, job.stop):
                yield pickle.dumps(done, protocol=5)
        except Exception as error:
            self._ended.add(key)  # so that it is closed here, before the process is given up
            if isinstance(error, TengenError):  # classes with other arguments cannot be sent
                raise TengenError(str(error)) from None
            raise
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
            self._end(key)

    def leave(self, seconds: float) -> None:
        """Give up all work; return when it has closed what it opened, or after `seconds`."""
        with self._lock:
            self._leaving = True
            for key in list(self._jobs):
                self._end(key)
            closed = self._lock.wait_for(lambda: not self._jobs, seconds)
        if closed:
            self._folder.close()

    def _end(self, key: str) -> None:
        self._ended.add(key)
        if (job := self._jobs.get(key)) is not None:
            job.stop.set()
            self._close(key)

    def _close(self, key: str) -> None:
        job = self._jobs.get(key)
        if job is not None and key in self._ended and not job.running:
            del self._jobs[key]
            self._lock.notify_all()
            job.work.close()
