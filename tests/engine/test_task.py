"""A search in the background that is polled and stopped, that fails, and what its callbacks get."""

from __future__ import annotations

import pytest
from checksum import Checksum

from tengen.engine import Limits, SearchResult
from tengen.engine.params import SearchParams
from tengen.engine.queue import SearchQueue
from tengen.engine.search import LineMove, TreeSearch
from tengen.engine.task import BatchCost, SearchTask
from tengen.game import Game

FEW, MANY = Limits(visits=40), Limits(visits=1_000_000)


def test_a_search_is_polled_and_stopped_while_it_runs() -> None:
    with SearchQueue(Checksum()) as queue:
        progress: list[int] = []
        task = queue.start(Game(7), MANY, on_progress=lambda result: progress.append(result.visits), every=0.0)
        with pytest.raises(TimeoutError, match=r"not over after 0\.01 seconds"):
            task.wait(0.01)
        while (state := task.poll()) is None or state.visits < 30:
            assert not task.done
        task.stop()
        result = task.wait(20)
        assert task.done and result.visits >= state.visits and result.move == result.candidates[0].point
        assert progress == sorted(progress) and progress[-1] > 0
        other = queue.start(Game(5), FEW)
        assert other.wait(20).visits == 40


def test_polling_a_failed_search_adds_nothing_to_its_error() -> None:
    """Each raise added its frames to the traceback, which keeps the variables of all of them."""
    with SearchQueue(Checksum(fail_after=0)) as queue:
        task = queue.start(Game(5), FEW)
        depths = []
        for ask in [task.wait] + 20 * [task.poll]:
            with pytest.raises(OSError, match="had enough") as caught:
                ask()
            depths.append(len(caught.traceback))
    assert len(set(depths)) == 1


def test_a_report_that_fails_ends_its_search_and_tells_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def report(search: object, length: int) -> list[object]:
        raise MemoryError("no memory for a report")

    ends: list[SearchTask] = []
    with SearchQueue(Checksum()) as queue:
        monkeypatch.setattr(TreeSearch, "candidates", report)
        task = queue.start(Game(5), FEW, on_end=ends.append)
        with pytest.raises(MemoryError, match="a report"):
            task.wait(20)
        assert ends == [task]
        monkeypatch.undo()
        assert queue.start(Game(5), FEW).wait(20).visits == 40


def test_who_polls_a_search_at_its_end_gets_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole report was made a second time, for each position of `tengen analysis`."""
    made, candidates = [], TreeSearch.candidates

    def report(search: TreeSearch, length: int) -> object:
        made.append(search)
        return candidates(search, length)

    monkeypatch.setattr(TreeSearch, "candidates", report)
    polled: list[SearchResult | None] = []
    with SearchQueue(Checksum()) as queue:
        result = queue.start(Game(5), FEW, on_end=lambda task: polled.append(task.poll())).wait(20)
    assert polled == [result] and len(made) == 1


def test_the_lines_of_moves_without_visits_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    search, asked, line = kept_tree(5), [], TreeSearch.line

    def counted(search: TreeSearch, point: int, length: int) -> list[LineMove]:
        asked.append(point)
        return line(search, point, length)

    monkeypatch.setattr(TreeSearch, "line", counted)
    found = search.candidates()
    visited = {move.point for move in found if move.visits}
    assert set(asked) == visited == {move.point for move in found if move.pv} and 0 < len(visited) < len(found)


def test_a_callback_that_fails_ends_its_search() -> None:
    def fail(result: SearchResult) -> None:
        raise KeyError("progress")

    with SearchQueue(Checksum()) as queue:
        task, other = queue.start(Game(5), MANY, on_progress=fail, every=0.0), queue.start(Game(5), FEW)
        with pytest.raises(KeyError, match="progress"):
            task.wait(20)
        assert other.wait(20).visits == 40


def kept_tree(visits: int, memory: int = 1 << 24) -> TreeSearch:
    search = TreeSearch(Checksum(), SearchParams(memory=memory), 8)
    search.set_root(Game(9))
    search.run(visits)
    return search


def test_the_first_batch_of_a_kept_tree_follows_what_an_earlier_one_cost() -> None:
    limits = []
    for earlier in (None, BatchCost(4.0, 8), BatchCost(0.001, 8), BatchCost(0.001, 0)):
        search = kept_tree(30)
        budget = Limits(seconds=5, early_stop=False).budget(9, 0)
        limits.append(SearchTask(lambda search=search: search, Game(9), budget, earlier_batch=earlier).next_limit())
    assert limits[0] == 1 and 8 < limits[1] <= 10 and limits[2] > 100 and limits[3] > 100


def test_batches_that_evaluate_nothing_are_whole() -> None:
    """One that the full memory left without a position was taken for the measure of all that followed."""
    search = kept_tree(20_000, 1 << 20)
    assert search.is_full
    task = SearchTask(lambda: search, Game(9), Limits(seconds=60, early_stop=False).budget(9, 0))
    limits = []
    for _ in range(4):
        limits.append(task.next_limit())
        search.step(limits[-1])
        task.record_batch(0.001)
    assert limits[0] == 1 and min(limits[1:]) > 100
