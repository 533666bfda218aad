"""A search of one position: one thread drives it, others may poll, wait for and stop it."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

from tengen.engine.limits import Budget
from tengen.engine.result import SearchResult
from tengen.engine.search import PV_LENGTH, TreeSearch
from tengen.game import Game

Progress = Callable[[SearchResult], None]

_MAX_STEPS = 1 << 30  # simulations of a batch, where nothing else limits them
_NUMBERS = itertools.count()  # of searches, in the order in which they were made


class BatchCost(NamedTuple):
    """What a batch of a search cost: its wall time, which a clock may be too coarse to tell, and its evaluations."""

    seconds: float
    rows: int


class SearchTask:
    """A search of one position within a budget. One thread drives it; any may poll, wait and stop.

    `make_search` is called for the tree before the first batch. `until`, asked after each batch, ends the search.
    `on_progress` gets the state each `every` seconds (the first time after `first` seconds), `on_end` the task when the
    search is over, while its tree still exists; they are called in the thread that drives. `on_stop` gets the task in
    the thread that stops it. Principal variations have `pv_length` moves at most. `earlier_batch` is the cost of a
    batch of an earlier search, for the first one of a kept tree under a time limit.
    """

    def __init__(
        self,
        make_search: Callable[[], TreeSearch],
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
        earlier_batch: BatchCost | None = None,
    ) -> None:
        self.game = game
        self.number = next(_NUMBERS)
        self._make_search = make_search
        self._search: TreeSearch | None = None  # from the first batch to the end
        self.priority = priority
        self._budget = budget
        self._on_progress, self._until, self._every = on_progress, until, every
        self._next_report = every if first is None else first
        self._on_end, self._on_stop, self._pv_length = on_end, on_stop, pv_length
        self._visits_before, self._evaluations_before = 0, 0
        self._started: float | None = None  # when its first batch began, in seconds of the monotonic clock
        self._ended: float | None = None
        self._earlier_batch = earlier_batch
        self.last_batch: BatchCost | None = None  # the last one that evaluated positions, or the first one
        self._evaluations_seen = 0  # up to its end
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
        """What the search has found so far; None before it has a visit. Raises what ended it, if it failed."""
        self._raise_error()
        search = self._search
        if search is None or self._started is None or self._result is not None or not search.visits:
            return self._result
        return self._report(search)

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
    def begun(self) -> bool:
        """Whether its first batch was begun."""
        return self._started is not None

    @property
    def seconds(self) -> float:
        """Wall time since the first batch began."""
        if self._started is None:
            return 0.0
        return (time.monotonic() if self._ended is None else self._ended) - self._started

    @property
    def position_seconds(self) -> float:
        """Wall time of one evaluation in the last batch."""
        return 0.0 if self.last_batch is None else self.last_batch.seconds / max(self.last_batch.rows, 1)

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
                self.record_batch(time.monotonic() - began)
        except BaseException as error:
            self.end(error)
            raise
        self.end()
        return self.wait()

    def next_limit(self) -> int:
        """Simulations that its next batch may have; 0 when the search is over. At least one batch is searched."""
        if self._started is None:
            search = self._search = self._make_search()
            self._started = time.monotonic()
            self._visits_before, self._evaluations_before = search.visits, search.evaluations
            self._evaluations_seen = search.evaluations
            planned = self._budget.left(search.visits, 0, 0, None)
            search.plan(int(planned) if math.isfinite(planned) else 0)
        elif self._stopped.is_set() or (self._until is not None and self._until()):
            return 0
        elif self._on_progress is not None and self.seconds >= self._next_report:
            self._next_report = self.seconds + self._every
            self._on_progress(self._report(self.search))
        return int(min(self._left(), self._fitting(), _MAX_STEPS))

    def record_batch(self, seconds: float) -> None:
        """Record the time that the last batch took."""
        evaluations = self.search.evaluations
        rows, self._evaluations_seen = evaluations - self._evaluations_seen, evaluations
        if rows or self.last_batch is None:  # one that ended in finished games alone says nothing of the next one
            self.last_batch = BatchCost(seconds, rows)

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
        game, candidates, root = self.game, search.candidates(self._pv_length), search.root_means()
        return SearchResult(
            move=candidates[0].point if candidates else game.pass_point,
            resign=False,
            to_play=game.to_play,
            candidates=candidates,
            winrate=(root.value + 1) / 2,
            score=root.score if search.has_score else None,
            ownership=search.ownership,
            visits=search.visits,
            evaluations=search.evaluations - self._evaluations_before,
            seconds=self.seconds,
            utility=root.utility,
            weight=root.weight,
            lead=root.lead,
            score_stdev=root.score_stdev,
            no_result=root.no_result,
            raw=search.root_evaluation(),
        )

    def _left(self) -> float:
        """Simulations that this search may still make; 0 once the best move is clear."""
        visits, elapsed = self.search.visits, self.seconds
        playouts = visits - self._visits_before
        left = self._budget.left(
            visits, playouts, elapsed, None if self.last_batch is None else self.last_batch.seconds
        )
        if self.last_batch is None:
            return max(left, 1)
        if self._budget.early_stop and left > 0 and self._may_end_early():
            moves = self.search.stats()
            if len(moves.point) == 1 and playouts:
                return 0
            first, second = [*moves.visits[:2].tolist(), 0, 0][:2]
            clear = first > 0 and self.search.choose(0) == moves.point[0]
            if clear and self._budget.decided(first - second, left, playouts, elapsed):
                return 0
        return left

    def _fitting(self) -> float:
        """Positions that the next batch may have to end in time."""
        if not self.search.visits:
            return math.inf  # the root goes out alone
        if (
            batch := self.last_batch or self._earlier_batch
        ) is None:  # a kept tree would fill a batch that nothing is known of
            return math.inf if self._budget.seconds is None else 1
        return self._budget.fitting(self.seconds, batch.seconds, batch.rows) if batch.rows else math.inf

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
