"""Searches that run in the background: start, poll, stop; many positions at once, by priority."""

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
from dataclasses import dataclass, fields
from types import TracebackType

from tengen.engine.limits import Budget, Limits
from tengen.engine.params import SearchParams
from tengen.engine.result import Candidate, SearchResult
from tengen.engine.search import MoveRestriction, TreeSearch, check_seed, new_inputs
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.game import Game
from tengen.machine import core_count, start_background

Progress = Callable[[SearchResult], None]

MAX_STEPS = 1 << 30
PV_LENGTH = 20
_NUMBERS = itertools.count()  # of searches, in the order in which they were made
_CORES_PER_TREE_THREAD = 4  # of a CPU that evaluates too


class SearchTask:
    """A search of one position within a budget. One thread drives it; any may poll, wait and stop.

    `tree` is called for the tree before the first batch. `until`, asked after each batch, ends the search.
    `on_progress` gets the state each `every` seconds (the first time after `first` seconds), `on_end` the task when the
    search is over, while its tree still exists; they are called in the thread that drives. `on_stop` gets the task in
    the thread that stops it. Principal variations have `pv_length` moves at most.
    """

    def __init__(
        self,
        tree: Callable[[], TreeSearch],
        game: Game,
        budget: Budget,
        *,
        priority: float = 0,
        on_progress: Progress | None = None,
        until: Callable[[], bool] | None = None,
        every: float = 0.25,
        first: float | None = None,
        on_end: Callable[[SearchTask], None] | None = None,
        on_stop: Callable[[SearchTask], None] | None = None,
        pv_length: int = PV_LENGTH,
    ) -> None:
        self.game = game
        self.number = next(_NUMBERS)
        self._tree = tree
        self._search: TreeSearch | None = None  # from the first batch to the end
        self.priority = priority
        self._budget = budget
        self._on_progress, self._until, self._every = on_progress, until, every
        self._next_report = every if first is None else first
        self._on_end, self._on_stop, self._pv_length = on_end, on_stop, pv_length
        self._visits_before, self._evaluations_before = 0, 0
        self._started: float | None = None  # when its first batch began, in seconds of the monotonic clock
        self._ended: float | None = None
        self._step_seconds: float | None = None  # of the last batch; a clock may be too coarse to time one
        self._stopped = threading.Event()
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None
        self._result: SearchResult | None = None

    # --- Any thread

    @property
    def done(self) -> bool:
        """Whether the search is over."""
        return self._done.is_set()

    def poll(self) -> SearchResult | None:
        """What the search has found so far; None before its first batch. Raises what ended it, if it failed."""
        self._raise_error()
        search = self._search
        return self._result if search is None or self._started is None else self._report(search)

    def wait(self, timeout: float | None = None) -> SearchResult:
        """The result, once the search is over.

        Raises what ended it if it failed, CancelledError if it was stopped in a queue before it began, and TimeoutError
        after `timeout` seconds.
        """
        if not self._done.wait(timeout):
            raise TimeoutError(f"the search is not over after {timeout:g} seconds")
        self._raise_error()
        assert self._result is not None
        return self._result

    def stop(self) -> None:
        """End the search after its batch; in a queue, at once if it waits."""
        self._stopped.set()
        if self._on_stop is not None:
            self._on_stop(self)

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    @property
    def begun(self) -> bool:
        """Whether its first batch was begun."""
        return self._started is not None

    @property
    def seconds(self) -> float:
        """Wall time since the first batch began."""
        if self._started is None:
            return 0.0
        return (time.monotonic() if self._ended is None else self._ended) - self._started

    # --- The driving thread

    @property
    def search(self) -> TreeSearch:
        """The tree, from the first batch until the search is over."""
        if self._search is None:
            raise RuntimeError("a search has its tree from its first batch until it is over")
        return self._search

    def run(self) -> SearchResult:
        """Search to the end in this thread."""
        try:
            while limit := self.next_limit():
                began = time.monotonic()
                self.search.step(limit)
                self.stepped(time.monotonic() - began)
        except BaseException as error:
            self.end(error)
            raise
        self.end()
        return self.wait()

    def next_limit(self) -> int:
        """Simulations that its next batch may have; 0 when the search is over. At least one batch is searched."""
        if self._started is None:
            search = self._search = self._tree()
            self._started = time.monotonic()
            self._visits_before, self._evaluations_before = search.visits, search.evaluations
            planned = self._budget.left(search.visits, 0, 0, 0)
            search.plan(int(planned) if math.isfinite(planned) else 0)
        elif self._stopped.is_set() or (self._until is not None and self._until()):
            return 0
        elif self._on_progress is not None and self.seconds >= self._next_report:
            self._next_report = self.seconds + self._every
            self._on_progress(self._report(self.search))
        return int(min(self._left(), MAX_STEPS))

    def stepped(self, seconds: float) -> None:
        """Note that a batch took so long."""
        self._step_seconds = seconds

    def end(self, error: BaseException | None = None) -> None:
        """The search is over; `error` is what `poll` and `wait` raise from now on. The tree is released."""
        self._ended = time.monotonic()
        try:
            if error is None:
                self._result = self._report(self.search)
        except BaseException as failure:
            error = failure
        self._keep_error(error)
        try:
            if self._on_end is not None:
                self._on_end(self)
        except BaseException as failure:
            self._keep_error(failure)
        finally:
            self._search = None
            self._done.set()

    def _keep_error(self, error: BaseException | None) -> None:
        self._traceback = error.__traceback__ if error is not None else None
        self._error = error

    def _raise_error(self) -> None:
        """Raise what ended the search, with its first traceback: each raise adds its frames to the last one."""
        if self._error is not None:
            raise self._error.with_traceback(self._traceback)

    def _report(self, search: TreeSearch) -> SearchResult:
        """The state of the search, with the move that stands best."""
        game = self.game
        candidates, root = search_candidates(search, self._pv_length), search.root_moments()
        value, score = root.pop("value"), root.pop("score")
        return SearchResult(
            move=candidates[0].point if candidates else game.size**2,
            resign=False,
            to_play=game.to_play,
            candidates=candidates,
            winrate=(value + 1) / 2,
            score=score if search.has_score else None,
            ownership=search.ownership,
            visits=search.visits,
            evaluations=search.evaluations - self._evaluations_before,
            seconds=self.seconds,
            raw=search.root_evaluation(),
            **root,
        )

    def _left(self) -> float:
        """Simulations that this search may still make; 0 once the best move is clear."""
        visits, elapsed = self.search.visits, self.seconds
        playouts = visits - self._visits_before
        left = self._budget.left(visits, playouts, elapsed, self._step_seconds or 0)
        if self._step_seconds is None:
            return max(left, 1)
        if self._budget.early_stop and left > 0 and self._may_end_early():
            moves = self.search.stats()
            top = moves.visits[:2].tolist()
            clear = len(top) == 2 and self.search.choose(0) == moves.point[0]
            if clear and self._budget.decided(top[0] - top[1], left, playouts, elapsed):
                return 0
        return left

    def _may_end_early(self) -> bool:
        """Whether a lead in visits says which move is played; under a time limit a bound may seldom say otherwise.

        Gumbel counts the visits of its plan alone, a simulation to the end makes many visits, and a search that stops
        early leaves the second move fewer visits than the rule of diversity compares.
        """
        params = self.search.params
        if params.selection == "gumbel" or params.simulate_to_end or params.diversity:
            return False
        by_visits = not params.lcb and params.selection != "puct-katago"
        return by_visits or self._budget.seconds is not None


Member = tuple[SearchTask, int]
"""A search and the simulations that its next batch may have."""


class SearchQueue:
    """Searches positions in a thread of its own, those of the highest priority first.

    Up to `at_once` positions share the batches of the evaluator, `batch` positions of each. Half of them are evaluated
    while the trees of the other half are searched. Beside those of the highest priority at most as many others are
    searched: an urgent position has half of the time at least, and an endless one does not stop the others. A search
    that must rest keeps its tree. Each has a tree of its own and the same seed, so its result at given visits depends
    neither on the others nor on the order in which they come::

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
        self._flight: _Flight | None = None
        self._latest: list[SearchTask] = []  # the searches of the last batch

    def start(
        self,
        game: Game,
        limits: Limits,
        priority: float = 0,
        *,
        allow: Sequence[int] = (),
        avoid: Sequence[int] = (),
        restrictions: Sequence[MoveRestriction] = (),
        params: SearchParams | None = None,
        on_progress: Progress | None = None,
        every: float = 0.25,
        first: float | None = None,
        on_end: Callable[[SearchTask], None] | None = None,
        pv_length: int = PV_LENGTH,
    ) -> SearchTask:
        """Search a position within the limits; returns at once.

        The time that the limits allow begins with its first batch. `allow` (if not empty), `avoid` and `restrictions`
        are those of TreeSearch.set_root, `params` (by default those of the queue) the settings of this search; the rest
        as for SearchTask. Raises NetworkError for a board that the evaluator does not know, ValueError where no move is
        left, RuntimeError after close and after an error of the queue itself.
        """
        params = (params or self._asked).advised(self.evaluator.on(game.size).advice)
        params = params.model_copy(update={"ownership": True})
        position, allow, avoid, restrictions = game.copy(), tuple(allow), tuple(avoid), tuple(restrictions)

        def tree() -> TreeSearch:
            search = TreeSearch(self.evaluator, params, self._batch, self._seed, self._threads)
            search.set_root(position, allow, avoid, restrictions)
            return search

        tree()  # raises what is wrong with the position; not kept, as thousands may wait
        budget = limits.budget(game.size, game.move_number)
        task = SearchTask(
            tree,
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
                    touched = [*tasks, *self._in_flight()]
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
            if task in self._in_flight():
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

    def _in_flight(self) -> list[SearchTask]:
        """The searches whose positions are being evaluated."""
        return list(self._flight.tasks) if self._flight else []

    def _next_tasks(self) -> list[SearchTask]:
        """The searches of the next batch: half of those that share, so that the others can be evaluated meanwhile."""
        with self._changed:
            open_ = self._tasks[: self._at_once]
        urgent = sum(task.priority == open_[0].priority for task in open_)
        sharing = open_[: min(2 * urgent, self._at_once)]
        busy = self._in_flight()
        waiting = [task for task in sharing if task not in busy]
        # Searches that are in no flight take turns too: those by playouts, and boards of several sizes.
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
            elif task.search.params.asks_network and len(self._tasks) > 1:
                network = self.evaluator.on(task.game.size)
                groups.setdefault((network, task.game.size), []).append((task, limit))
            else:
                alone.append((task, limit))
        for task, limit in alone:
            began = time.monotonic()
            _stepped(task, began, _step(task, limit))
        # The tree work of one batch is done while the other is evaluated.
        for key, together in groups.items():
            launched = self._launch(key, together)
            self._land()
            self._flight = launched
        if not groups:
            self._land()

    def _launch(self, key: tuple[BatchEvaluator, int], members: Sequence[Member]) -> _Flight | None:
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
                task.search.forget_waiting()
                _stepped(task, began, failure)
            return None
        sharing = []
        for (task, _), count in zip(members, gathered, strict=True):
            if isinstance(count, int):
                sharing.append(task)
            else:
                task.search.forget_waiting()
                _stepped(task, began, count)
        return _Flight(key, sharing, inputs, ends, result, began)

    def _gather(self, inputs: InputBatch, members: Sequence[Member]) -> list[int | BaseException]:
        """Write the positions of the members one after the other; for each how many they are, or why it failed."""
        filled = 0
        counts: list[int | BaseException] = []
        if self._trees is None:
            for task, limit in members:
                counts.append(count := _gather(task, inputs[filled : filled + min(limit, self._batch)]))
                filled += count if isinstance(count, int) else 0
            return counts
        # Each member has room for all that it may write. Then the rows move up to where they are without the gaps.
        places = list(itertools.accumulate((min(limit, self._batch) for _, limit in members), initial=0))
        parts = [inputs[start:end] for start, end in itertools.pairwise(places)]
        counts += self._trees.map(_gather, [task for task, _ in members], parts)
        for start, count in zip(places, counts, strict=False):
            if isinstance(count, int):
                inputs.move(start, filled, count)
                filled += count
        return counts

    def _land(self) -> None:
        """Hand the batch in flight back to its searches, if there is one; those that fail end."""
        flight, self._flight = self._flight, None
        if flight is None:
            return
        try:
            result = flight.result.result() if flight.result else None
        except BaseException as failure:
            for task in flight.tasks:
                task.search.forget_waiting()
                _stepped(task, flight.began, failure)
            return
        parts = [
            result.rows(slice(begin, end)) if result is not None and begin < end else None
            for begin, end in itertools.pairwise(flight.ends)
        ]
        over = self._trees.map if self._trees else map
        for task, fault in zip(flight.tasks, over(_scatter, flight.tasks, parts), strict=True):
            _stepped(task, flight.began, fault)
        self._inputs[flight.key].append(flight.inputs)


@dataclass(frozen=True)
class _Flight:
    """A shared batch whose evaluation is under way; rows ends[i] to ends[i + 1] are those of task i."""

    key: tuple[BatchEvaluator, int]
    tasks: Sequence[SearchTask]
    inputs: InputBatch
    ends: Sequence[int]
    result: Future[Evaluation] | None  # None where no position waits
    began: float


def _order(task: SearchTask) -> tuple[float, int]:
    """By which the searches of a queue are sorted."""
    return -task.priority, task.number


def _stepped(task: SearchTask, began: float, failure: BaseException | None) -> None:
    task.stepped(time.monotonic() - began)
    if failure is not None:
        task.end(failure)


def _step(task: SearchTask, limit: int) -> BaseException | None:
    try:
        task.search.step(limit)
    except BaseException as error:
        return error
    return None


def _gather(task: SearchTask, free: InputBatch) -> int | BaseException:
    try:
        return task.search.gather(free, len(free))
    except BaseException as error:
        return error


def _scatter(task: SearchTask, result: Evaluation | None) -> BaseException | None:
    try:
        if result is not None:
            task.search.scatter(result)
    except BaseException as error:
        return error
    return None


def search_candidates(search: TreeSearch, pv_length: int = PV_LENGTH) -> tuple[Candidate, ...]:
    """The legal moves: the search's choice, then by the weights to play them, visits and the network's prior."""
    moves = search.stats()
    chosen, knows_score = search.choose(0), search.has_score
    columns = {field.name: getattr(moves, field.name).tolist() for field in fields(moves)}
    lines = {point: search.line(point, pv_length) for point in columns["point"]}
    found = [
        Candidate(
            point=move["point"],
            visits=move["visits"],
            winrate=(move["value"] + 1) / 2,
            score=move["score"] if knows_score else None,
            prior=move["prior"],
            lcb=(move["value_lcb"] + 1) / 2,
            pv=tuple(point for point, _, _ in lines[move["point"]]),
            pv_visits=tuple(visits for _, visits, _ in lines[move["point"]]),
            utility=move["utility"],
            utility_lcb=move["lcb"],
            weight=move["weight"],
            lead=_known(move["lead"]),
            score_stdev=_known(move["score_stdev"]),
            no_result=_known(move["no_result"]),
            play_weight=move["play_weight"],
            node_visits=move["node_visits"],
            node_weight=move["node_weight"],
            pv_node_visits=tuple(visits for _, _, visits in lines[move["point"]]),
        )
        for move in (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    ]
    return tuple(sorted(found, key=lambda c: (c.point != chosen, -c.play_weight, -c.visits, -c.prior)))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
