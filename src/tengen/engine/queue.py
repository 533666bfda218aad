"""Searches of many positions in the background, which share the batches of an evaluator, by priority."""

from __future__ import annotations

import itertools
import math
import threading
import time
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams
from tengen.engine.search import PV_LENGTH, MoveRestriction, TreeSearch, check_seed, new_inputs
from tengen.engine.task import Progress, SearchTask
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.game import Game
from tengen.machine import core_count, start_background

_CORES_PER_TREE_THREAD = 4  # of a CPU that evaluates too

Member = tuple[SearchTask, int]
"""A search and the simulations that its next batch may have."""


class SearchQueue:
    """Searches positions in a thread of its own, those of the highest priority first.

    Up to `at_once` positions share the batches of the evaluator, `batch` positions of each. Half of them are evaluated
    while the trees of the other half are searched. Besides those of the highest priority, at most as many others are
    searched: an urgent position has half of the time at least, and an endless one does not stop the others. A search
    that must rest keeps its tree. Each has a tree of its own and the same seed, so its result at given visits depends
    neither on the others nor on the order in which they come:

        with SearchQueue(load_evaluator()) as queue:
            tasks = [queue.start(game, Limits(visits=200)) for game in games]
            urgent = queue.start(other, Limits(visits=50), priority=1)
            results = [task.wait() for task in tasks]

    `threads` search a position without a network. `tree_threads` work on the trees of a shared batch, 0 is one for each
    four cores: one thread gives a device about 7,000 positions a second on 19x19 (benchmarks/scaling.py).
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        *,
        batch: int = 8,
        at_once: int = 16,
        seed: int = 0,
        threads: int = 1,
        tree_threads: int = 0,
    ) -> None:
        if at_once < 1:
            raise ValueError(f"{at_once} searches at once are impossible: give 1 or more")
        check_seed(seed)
        self._tree_threads = tree_threads or max(1, core_count() // _CORES_PER_TREE_THREAD)
        self._trees: ThreadPoolExecutor | None = None
        self.evaluator = evaluator
        self._asked = params or SearchParams()
        self._batch, self._at_once, self._seed, self._threads = batch, at_once, seed, threads
        self._tasks: list[SearchTask] = []  # that are not over, by priority, then in the order in which they came
        self._stops: deque[SearchTask] = deque()  # that were stopped since the last round
        self._changed = threading.Condition()
        self._closed = False
        self._failure: BaseException | None = None  # that ended the thread
        self._worker: threading.Thread | None = None
        self._inputs: dict[tuple[BatchEvaluator, int], list[InputBatch]] = {}  # that no batch in flight uses
        self._in_flight: _BatchInFlight | None = None
        self._latest: list[SearchTask] = []  # the searches of the last batch

    def start(
        self,
        game: Game,
        limits: Limits,
        priority: float = 0,
        *,
        restrictions: Sequence[MoveRestriction] = (),
        params: SearchParams | None = None,
        on_progress: Progress | None = None,
        every: float = 0.25,
        first: float | None = None,
        on_end: Callable[[SearchTask], None] | None = None,
        pv_length: int = PV_LENGTH,
    ) -> SearchTask:
        """Search a position within the limits; returns at once.

        The time that the limits allow begins with its first batch. `restrictions` are those of TreeSearch.set_root,
        `params` (by default those of the queue) the settings of this search; the rest as for SearchTask. Raises
        NetworkError for a board that the evaluator does not know, ValueError where no move is left or the priority is
        NaN, RuntimeError after close and after an error of the queue itself.
        """
        if math.isnan(priority):
            raise ValueError(f"priority must be a number, not {priority}")  # a NaN has no place in the order
        params = (params or self._asked).advised(self.evaluator.on(game.size).advice)
        params = params.model_copy(update={"ownership": True})
        position, restrictions = game.copy(), tuple(restrictions)

        def make_search() -> TreeSearch:
            search = TreeSearch(self.evaluator, params, self._batch, self._seed, self._threads)
            search.set_root(position, restrictions=restrictions)
            return search

        make_search()  # raises what is wrong with the position; not kept, as thousands may wait
        budget = limits.budget(game.size, game.move_number)
        task = SearchTask(
            make_search,
            position,
            budget,
            priority=priority,
            on_progress=on_progress,
            every=every,
            first=first,
            on_end=on_end,
            on_stop=self._stops.append,
            pv_length=pv_length,
        )
        with self._changed:
            if self._failure is not None:
                raise RuntimeError(f"the queue has failed: {self._failure!r}") from self._failure
            if self._closed:
                raise RuntimeError("the queue is closed")
            if self._worker is None:
                self._worker = start_background(self._work, self._end, "search queue")
            insort(self._tasks, task, key=_order)
            self._changed.notify()
        return task

    def has_value(self, size: int) -> bool:
        """Whether searches on boards of this size have a value: that of the network, or of playouts."""
        return self._asked.has_value(self.evaluator.on(size))

    def __len__(self) -> int:
        """Searches that are not over."""
        return sum(not task.done for task in list(self._tasks))

    def close(self) -> None:
        """Stop all searches, and wait for the thread to end."""
        self._end()
        if self._worker is not None and self._worker is not threading.current_thread():
            self._worker.join()

    def _end(self) -> None:
        """Have the thread end, after its batch."""
        with self._changed:
            self._closed = True
            for task in self._tasks:
                task.stop()
            self._changed.notify()

    def __enter__(self) -> SearchQueue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _work(self) -> None:
        with ExitStack() as stack:
            self._evaluation = stack.enter_context(ThreadPoolExecutor(1, "evaluation"))
            if self._tree_threads > 1:
                self._trees = stack.enter_context(ThreadPoolExecutor(self._tree_threads, "trees"))
            try:
                while self._wait_for_tasks():
                    self._end_stopped()
                    tasks = self._next_tasks()
                    touched = [*tasks, *self._tasks_in_flight()]
                    self._round(tasks)
                    self._forget_done(touched)
            except BaseException as error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """End all searches with an error that is none of theirs, such as memory that is full; none is begun again."""
        with self._changed:
            self._failure = error
            open_, self._tasks = [task for task in self._tasks if not task.done], []
        for task in open_:
            task.end(error)

    def _wait_for_tasks(self) -> bool:
        """Wait until there are searches; False once the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._tasks or self._closed)
            return bool(self._tasks)

    def _end_stopped(self) -> None:
        """End the searches that were stopped, but those in flight."""
        stopped = [self._stops.popleft() for _ in range(len(self._stops))]
        for task in stopped:
            if task in self._tasks_in_flight():
                self._stops.append(task)
            elif not task.done:
                task.end(None if task.begun else CancelledError("the search was stopped before it began"))
        self._forget_done(stopped)

    def _forget_done(self, touched: Iterable[SearchTask]) -> None:
        """Take those of these searches that are over from the list."""
        with self._changed:
            for task in touched:
                place = bisect_left(self._tasks, _order(task), key=_order)
                if task.done and self._tasks[place : place + 1] == [task]:
                    del self._tasks[place]

    def _tasks_in_flight(self) -> list[SearchTask]:
        """The searches whose positions are being evaluated."""
        return list(self._in_flight.tasks) if self._in_flight else []

    def _next_tasks(self) -> list[SearchTask]:
        """The searches of the next batch: half of those that share, so that the others can be evaluated meanwhile."""
        with self._changed:
            open_ = self._tasks[: self._at_once]
        urgent = sum(task.priority == open_[0].priority for task in open_)
        sharing = open_[: min(2 * urgent, self._at_once)]
        busy = self._tasks_in_flight()
        waiting = [task for task in sharing if task not in busy]
        # Searches that share no batch take turns too: those by playouts, and boards of several sizes.
        self._latest = sorted(waiting, key=self._latest.__contains__)[: (len(sharing) + 1) // 2]
        return self._latest

    def _round(self, tasks: Sequence[SearchTask]) -> None:
        """One batch of each of the searches; those that are over or fail end."""
        alone: list[Member] = []  # searches by playouts, and one that shares with none
        groups: dict[tuple[BatchEvaluator, int], list[Member]] = {}
        for task in tasks:
            try:
                limit = task.next_limit()
            except BaseException as error:  # of a callback
                task.end(error)
                continue
            if not limit:
                task.end()
            elif task.search.params.uses_network and len(self._tasks) > 1:
                network = self.evaluator.on(task.game.size)
                groups.setdefault((network, task.game.size), []).append((task, limit))
            else:
                alone.append((task, limit))
        for task, limit in alone:
            began = time.monotonic()
            _stepped(task, began, _try_step(task, limit))
        # The tree work of one batch is done while the other is evaluated.
        for key, together in groups.items():
            submitted = self._submit(key, together)
            self._finish_in_flight()
            self._in_flight = submitted
        if not groups:
            self._finish_in_flight()

    def _submit(self, key: tuple[BatchEvaluator, int], members: Sequence[Member]) -> _BatchInFlight | None:
        """Begin the evaluation of a shared batch of searches on boards of one size; None where that failed."""
        network, size = key
        buffers, began = self._inputs.setdefault(key, []), time.monotonic()
        try:
            inputs = buffers.pop() if buffers else new_inputs(network, self._at_once * self._batch, size)
            gathered = self._gather(inputs, members)
            counts = [count for count in gathered if isinstance(count, int)]
            ends = list(itertools.accumulate(counts, initial=0))
            result = self._evaluation.submit(network.infer_checked, inputs[: ends[-1]]) if ends[-1] else None
        except BaseException as failure:
            for task, _ in members:
                _failed(task, began, failure)
            return None
        sharing = []
        for (task, _), count in zip(members, gathered, strict=True):
            if isinstance(count, int):
                sharing.append(task)
            else:
                _failed(task, began, count)
        return _BatchInFlight(key, sharing, inputs, ends, result, began)

    def _gather(self, inputs: InputBatch, members: Sequence[Member]) -> list[int | BaseException]:
        """Write the positions of the members one after the other; for each how many they are, or why it failed."""
        filled = 0
        counts: list[int | BaseException] = []
        if self._trees is None:
            for task, limit in members:
                counts.append(count := _try_gather(task, inputs[filled : filled + min(limit, self._batch)]))
                filled += count if isinstance(count, int) else 0
            return counts
        # Each member has room for all that it may write. Then the rows move up to where they are without the gaps.
        places = list(itertools.accumulate((min(limit, self._batch) for _, limit in members), initial=0))
        parts = [inputs[start:end] for start, end in itertools.pairwise(places)]
        counts += self._trees.map(_try_gather, [task for task, _ in members], parts)
        for start, count in zip(places, counts, strict=False):
            if isinstance(count, int):
                inputs.move(start, filled, count)
                filled += count
        return counts

    def _finish_in_flight(self) -> None:
        """Hand the batch in flight back to its searches, if there is one; those that fail end."""
        batch, self._in_flight = self._in_flight, None
        if batch is None:
            return
        try:
            result = batch.result.result() if batch.result else None
        except BaseException as failure:
            for task in batch.tasks:
                _failed(task, batch.began, failure)
            return
        parts = [
            result.rows(slice(begin, end)) if result is not None and begin < end else None
            for begin, end in itertools.pairwise(batch.ends)
        ]
        map_trees = self._trees.map if self._trees else map
        for task, fault in zip(batch.tasks, map_trees(_try_scatter, batch.tasks, parts), strict=True):
            _stepped(task, batch.began, fault)
        self._inputs[batch.key].append(batch.inputs)


@dataclass(frozen=True)
class _BatchInFlight:
    """A shared batch whose evaluation is under way; rows ends[i] to ends[i + 1] are those of task i."""

    key: tuple[BatchEvaluator, int]
    tasks: Sequence[SearchTask]
    inputs: InputBatch
    ends: Sequence[int]
    result: Future[Evaluation] | None  # None where no position waits
    began: float


def _order(task: SearchTask) -> tuple[float, int]:
    """The key by which a queue sorts its searches."""
    return -task.priority, task.number


def _stepped(task: SearchTask, began: float, failure: BaseException | None) -> None:
    """Note the time of a batch of a search; one that failed is over."""
    task.record_batch(time.monotonic() - began)
    if failure is not None:
        task.end(failure)


def _failed(task: SearchTask, began: float, failure: BaseException) -> None:
    """End a search whose batch failed while its positions waited."""
    task.search.forget_waiting()
    _stepped(task, began, failure)


# Each returns what went wrong, so that a search that fails leaves the others of its batch alone.


def _try_step(task: SearchTask, limit: int) -> BaseException | None:
    try:
        task.search.step(limit)
    except BaseException as error:
        return error
    return None


def _try_gather(task: SearchTask, free: InputBatch) -> int | BaseException:
    try:
        return task.search.gather(free, len(free))
    except BaseException as error:
        return error


def _try_scatter(task: SearchTask, result: Evaluation | None) -> BaseException | None:
    try:
        if result is not None:
            task.search.scatter(result)
    except BaseException as error:
        return error
    return None
