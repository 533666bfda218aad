"""Searches in the background: each finds what it finds alone; priorities, stopping, failures."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from concurrent.futures import CancelledError

import numpy as np
import pytest
from checksum import Checksum

from tengen.engine import Engine, Limits, MoveRestriction, SearchParams
from tengen.engine.params import playout_params
from tengen.engine.queue import SearchQueue
from tengen.engine.result import SearchResult
from tengen.engine.search import TreeSearch
from tengen.engine.task import SearchTask
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators import BySizeEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.game import BLACK, Game

FEW, MANY = Limits(visits=40), Limits(visits=1_000_000)


def found(result: SearchResult) -> tuple[object, ...]:
    assert result.ownership is not None
    columns = [(c.point, c.visits, c.winrate, c.score, c.pv) for c in result.candidates]
    return result.move, result.winrate, result.score, result.visits, columns, result.ownership.tobytes()


def alone(game: Game, visits: int = 40) -> tuple[object, ...]:
    """By an engine of its own, without what passing and resigning have to say."""
    engine = Engine(Checksum())
    engine.set_position(game)
    return found(engine.think(Limits(visits=visits), decide=False))


def positions() -> list[Game]:
    games = [Game(size, komi=0.5 + i) for i, size in enumerate((5, 7, 5, 5, 7, 6))]
    return [game.play("C3") if i % 2 else game for i, game in enumerate(games)]


class Gate(Checksum):
    """Waits before each batch until it is opened; remembers how many positions of each size came together."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.opened = threading.Event(), threading.Event()
        self.seen: list[tuple[int, int]] = []  # rows, board size

    def infer(self, batch: InputBatch) -> Evaluation:
        self.reached.set()
        assert self.opened.wait(20)
        self.seen.append((len(batch), int(batch.sizes[0])))
        return super().infer(batch)


@pytest.mark.parametrize(("order", "tree_threads"), [(1, 1), (-1, 1), (1, 3)])
def test_each_search_finds_what_it_finds_alone_in_any_order(order: int, tree_threads: int) -> None:
    games = positions()[::order]
    with SearchQueue(Checksum(), at_once=4, tree_threads=tree_threads) as queue:
        tasks = [queue.start(game, FEW, priority=i % 2) for i, game in enumerate(games)]
        results = [task.wait(60) for task in tasks]
    assert [found(result) for result in results] == [alone(game) for game in games]
    assert all(task.done and task.poll() is result for task, result in zip(tasks, results, strict=True))


def test_positions_share_batches_and_higher_ones_come_first_with_half_of_the_time() -> None:
    gate = Gate()
    with SearchQueue(gate, batch=4, at_once=8) as queue:
        first = queue.start(Game(5), FEW)
        assert gate.reached.wait(20)  # its first batch, so that the next one has all others to choose from
        low = [queue.start(Game(5, komi=i), FEW) for i in range(2)]
        high = [queue.start(Game(7, komi=i), FEW, priority=2.5) for i in range(3)]
        assert first.begun and first.poll() is None  # it has found nothing yet
        assert len(queue) == 6
        gate.opened.set()
        for task in (first, *low, *high):
            assert task.wait(60).visits == 40
    sizes = [size for _, size in gate.seen]
    # Once the three higher ones are there, the three others have no more batches than they, until they are over.
    until_over = sizes[sizes.index(7) : len(sizes) - sizes[::-1].index(7)]
    assert sizes.index(7) <= 2 and until_over.count(7) > 2 and until_over.count(5) <= until_over.count(7)
    assert max(rows for rows, size in gate.seen if size == 7) == 12
    assert max(rows for rows, size in gate.seen if size == 5) == 12


@pytest.mark.parametrize("at_once", [2, 8])
def test_an_endless_search_of_a_high_priority_does_not_stop_the_others(at_once: int) -> None:
    """As when KaTrain ponders while it analyzes a game."""
    with SearchQueue(Checksum(), at_once=at_once) as queue:
        endless = queue.start(Game(7), MANY, priority=101)
        low = [queue.start(Game(5, komi=i), FEW, priority=-99 - i) for i in range(3)]
        assert [task.wait(60).visits for task in low] == [40, 40, 40] and not endless.done
        # A search whose turn has not come begins once a place is free.
        assert all(low[i]._started < low[i + 1]._started for i in range(2))  # type: ignore[operator]


@pytest.mark.parametrize("priority", [0, 1])
def test_endless_searches_by_playouts_do_not_stop_the_others(priority: float) -> None:
    with SearchQueue(UniformEvaluator(), playout_params()) as queue:
        endless = [queue.start(Game(5), Limits(), priority) for _ in range(3)]
        others = [queue.start(Game(5), FEW) for _ in range(2)]
        assert all(task.wait(20).visits >= 40 for task in others)
        assert all(task.begun and not task.done for task in endless)


def test_with_one_place_the_highest_priority_alone_is_searched() -> None:
    with SearchQueue(Checksum(), at_once=1) as queue:
        endless, low = queue.start(Game(7), MANY, priority=1), queue.start(Game(5), FEW)
        with pytest.raises(TimeoutError):
            low.wait(0.2)
        endless.stop()
        assert low.wait(20).visits == 40


def test_a_waiting_search_is_stopped_at_once_and_the_end_is_told_while_the_tree_lives() -> None:
    gate, ends = Gate(), []
    with SearchQueue(gate, at_once=1) as queue:
        running = queue.start(Game(5), FEW, priority=1)
        waiting = queue.start(Game(5), FEW, on_end=ends.append)
        waiting.stop()
        gate.opened.set()
        assert running.wait(20).visits == 40
        with pytest.raises(CancelledError, match="before it began"):
            waiting.wait(20)
        assert ends == [waiting] and not waiting.begun

        lines: list[int] = []

        def look(task: SearchTask) -> None:
            lines.append(task.search.visits)

        reports: list[float] = []
        task = queue.start(
            Game(5), Limits(visits=60), on_end=look, pv_length=2,
            on_progress=lambda result: reports.append(result.seconds), first=0.0, every=1000.0,
            params=SearchParams(c_puct=3.0),
        )  # fmt: skip
        found = task.wait(20)
        assert lines == [60] and len(reports) == 1 and max(len(c.pv) for c in found.candidates) == 2
        engine = Engine(Checksum(), SearchParams(c_puct=3.0))
        engine.set_position(Game(5))
        assert [c.visits for c in found.candidates] == [c.visits for c in engine.think(Limits(visits=60)).candidates]


def test_closing_stops_what_runs_and_takes_no_more() -> None:
    queue = SearchQueue(Checksum())
    task, waiting = queue.start(Game(7), MANY, priority=1), queue.start(Game(7), MANY)
    queue.close()
    assert task.done and waiting.done and len(queue) == 0
    with pytest.raises(RuntimeError, match="closed"):
        queue.start(Game(5), FEW)
    queue.close()


_LEFT_RUNNING = """
import time
from tengen.engine import Limits, SearchQueue, load_engine
from tengen.engine.params import playout_params
from tengen.evaluators import UniformEvaluator
from tengen.game import Game

def ponder():
    engine = load_engine("none", threads=1)
    engine.set_position(Game(9))
    engine.ponder()
    return engine

def search(params=None):
    queue = SearchQueue(UniformEvaluator(), params)
    tasks = [queue.start(Game(9), Limits()) for _ in range(2)]
    while not all(task.begun for task in tasks):
        time.sleep(0.01)
    return queue

running = RUNNING
time.sleep(0.1)
"""


@pytest.mark.parametrize("running", ["ponder()", "search()", "search(playout_params())"])
def test_a_program_may_end_while_it_searches(running: str) -> None:
    """Such a program was ended by SIGABRT: Python stopped the thread on its way out of the native core."""
    script = _LEFT_RUNNING.replace("RUNNING", running)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_failing_evaluator_ends_its_searches_and_no_others() -> None:
    failing = Checksum(fail_after=0)
    with SearchQueue(BySizeEvaluator(Checksum(), {5: lambda: failing})) as queue:
        bad, good = [queue.start(Game(5), FEW) for _ in range(2)], queue.start(Game(7), FEW)
        for task in bad:
            with pytest.raises(OSError, match="had enough"):
                task.wait(20)
            with pytest.raises(OSError, match="had enough"):
                task.poll()
        assert good.wait(20).visits == 40


@pytest.mark.parametrize("tree_threads", [1, 3])
def test_a_tree_that_cannot_grow_ends_its_own_search_alone(monkeypatch: pytest.MonkeyPatch, tree_threads: int) -> None:
    """The searches of the same batch ended with its error."""
    gate = Gate()
    gather = TreeSearch.gather

    def limited(search: TreeSearch, inputs: InputBatch, limit: int) -> int:
        if search.visits > 8 and search is tasks[1]._search:
            raise MemoryError("no memory for a tree")
        return gather(search, inputs, limit)

    monkeypatch.setattr(TreeSearch, "gather", limited)
    games = [Game(5, komi=komi) for komi in (0.5, 7.5, 1.5)]
    with SearchQueue(gate, tree_threads=tree_threads) as queue:
        tasks = [queue.start(game, FEW) for game in games]
        gate.opened.set()
        with pytest.raises(MemoryError, match="for a tree"):
            tasks[1].wait(20)
        results = {i: tasks[i].wait(20) for i in (0, 2)}
    monkeypatch.undo()
    assert {i: found(result) for i, result in results.items()} == {i: alone(games[i]) for i in (0, 2)}


class Small(Gate):
    """Has no memory for batches that several searches share."""

    def new_batch(self, rows: int, edge: int) -> InputBatch:
        if rows > 8:
            raise MemoryError("no memory for a shared batch")
        return super().new_batch(rows, edge)


def test_a_shared_batch_without_memory_costs_its_searches_alone() -> None:
    small = Small()
    with SearchQueue(BySizeEvaluator(Checksum(), {5: lambda: small})) as queue:
        bad, good = [queue.start(Game(5), FEW) for _ in range(3)], queue.start(Game(7), FEW)
        small.opened.set()
        for task in bad:
            with pytest.raises(MemoryError, match="a shared batch"):
                task.wait(20)
        assert good.wait(20).visits == 40
        assert queue.start(Game(5), FEW).wait(20).visits == 40, "alone it shares none"


def test_an_error_of_the_queue_itself_ends_all_searches_and_is_named_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The thread ended, and every caller waited for ever."""

    def fail(queue: SearchQueue) -> list[SearchTask]:
        raise MemoryError("no memory for a list")

    gate = Gate()
    with SearchQueue(gate) as queue:
        tasks = [queue.start(Game(5), FEW) for _ in range(3)]
        monkeypatch.setattr(SearchQueue, "_next_tasks", fail)
        gate.opened.set()
        for task in tasks:
            with pytest.raises(MemoryError, match="a list"):
                task.wait(20)
        assert len(queue) == 0
        with pytest.raises(RuntimeError, match="no memory for a list"):
            queue.start(Game(5), FEW)


def test_a_result_that_cannot_be_right_costs_its_own_search_alone() -> None:
    class Poison(Checksum):
        def infer(self, batch: InputBatch) -> Evaluation:
            result = super().infer(batch)
            result.value[batch.planes.any(axis=(1, 2, 3)) & (batch.scalars == marked).all(axis=1)] = np.nan
            return result

    marked = Poison().encoded([Game(5, komi=3)]).scalars[0]
    with SearchQueue(Poison()) as queue:
        tasks = [queue.start(Game(5, komi=komi), Limits(visits=20)) for komi in (0.5, 3, 7.5)]
        with pytest.raises(NetworkError, match="checksum"):
            tasks[1].wait(20)
        assert [tasks[i].wait(20).visits for i in (0, 2)] == [20, 20]


def test_searches_by_playouts_and_restricted_moves() -> None:
    with SearchQueue(UniformEvaluator(), playout_params()) as queue:
        allowed = MoveRestriction(BLACK, [12, 7], allow=True)
        tasks = [queue.start(Game(5), Limits(visits=200), restrictions=given) for given in ([allowed], [])]
        assert {c.point for c in tasks[0].wait(20).candidates} == {7, 12}
        assert len(tasks[1].wait(20).candidates) == 26
        with pytest.raises(ValueError):
            queue.start(Game(5), FEW, restrictions=[MoveRestriction(BLACK, range(26))])


def test_positions_that_wait_have_no_trees() -> None:
    """Each took 130 kB: a file of 200,000 queries for `tengen analysis` took 26 GB."""
    gate = Gate()
    with SearchQueue(gate, at_once=4) as queue:
        tasks = [queue.start(Game(5), Limits(visits=2)) for _ in range(50)]
        gc.collect()
        trees = [found for found in gc.get_objects() if isinstance(found, TreeSearch)]
        assert sum(found.evaluator is gate for found in trees) <= 4
        gate.opened.set()
        assert [task.wait(20).visits for task in tasks] == 50 * [2]


def test_a_waiting_search_keeps_the_restrictions_that_it_was_given() -> None:
    gate, restrictions = Gate(), [MoveRestriction(BLACK, [0, 1, 2])]
    with SearchQueue(gate, at_once=1) as queue:
        queue.start(Game(5), FEW, priority=1)
        waiting = queue.start(Game(5), FEW, restrictions=restrictions)
        restrictions.clear()
        gate.opened.set()
        assert not {0, 1, 2} & {c.point for c in waiting.wait(20).candidates}


def test_a_search_that_is_over_does_not_count() -> None:
    counted: list[tuple[int, bool]] = []
    with SearchQueue(Checksum()) as queue:
        task = queue.start(Game(5), FEW, on_end=lambda task: counted.append((len(queue), task.done)))
        task.wait(20)
        assert len(queue) == 0
    assert counted == [(1, False)]


def test_what_cannot_work_is_refused() -> None:
    with pytest.raises(ValueError, match="0 searches"):
        SearchQueue(Checksum(), at_once=0)
    with pytest.raises(RecipeError, match=r"seed must lie between 0 and .*, not -1"):
        SearchQueue(Checksum(), seed=-1)
    only = UniformEvaluator()
    only.only_size = 9
    with pytest.raises(NetworkError, match="takes 9x9 boards alone"):
        SearchQueue(only, SearchParams()).start(Game(5), FEW)
    with SearchQueue(Checksum()) as queue:
        # A NaN is neither above nor below the others: the queue would not find the search again, nor end.
        with pytest.raises(ValueError, match="priority must be a number, not nan"):
            queue.start(Game(5), FEW, priority=float("nan"))
        assert queue.start(Game(5), FEW, priority=float("inf")).wait(20).visits == 40


def test_moves_are_restricted_to_any_depth_and_lines_tell_their_visits() -> None:
    avoided = MoveRestriction(1, [12, 6], until_depth=4)
    engine = Engine(Checksum())
    engine.set_position(Game(5), restrictions=[avoided])
    found = engine.think(Limits(visits=400))
    with SearchQueue(Checksum()) as queue:
        queued = queue.start(Game(5), Limits(visits=400), restrictions=[avoided]).wait(20)
        free = queue.start(Game(5), Limits(visits=400)).wait(20)
    assert [(c.point, c.visits, c.pv) for c in found.candidates] == [
        (c.point, c.visits, c.pv) for c in queued.candidates
    ]
    replies = {c.pv[1] for c in found.candidates if len(c.pv) > 1}
    assert replies and not replies & {6, 12}
    assert {c.pv[1] for c in free.candidates if len(c.pv) > 1} & {6, 12}, "they would be played"
    for c in found.candidates:
        assert len(c.pv_visits) == len(c.pv) and list(c.pv_visits) == sorted(c.pv_visits, reverse=True)
        assert not c.visits or c.pv_visits[0] == c.visits
        assert (c.node_visits, c.node_weight, c.pv_node_visits) == (c.visits, c.weight, c.pv_visits)
