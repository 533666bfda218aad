"""What is measured is what the figures say: batches, sizes, visits, playouts."""

import itertools
import time
from typing import Any

import numpy as np
import pytest

from tengen import _native
from tengen.benchmark import playing
from tengen.engine.params import SearchParams
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator


class Watched(UniformEvaluator):
    """Notes the shape of every batch that it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, int]] = []

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, mask = batch.arrays
        assert planes.shape[0] == scalars.shape[0] == len(mask) and np.all(mask == 1)
        self.seen.append((mask.shape[1], len(mask)))
        return super().infer(batch)


def test_a_rate_counts_what_was_done_after_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = itertools.count(0.0, 0.5)  # every look at the clock is half a second later
    monkeypatch.setattr(playing.time, "perf_counter", lambda: next(now))
    done = iter([1000, 3, 4, 5, 6])
    assert playing.rate(lambda: next(done), 1.4) == (3 + 4 + 5) / 1.5
    assert next(done) == 6


def test_evaluations_of_every_size_and_batch() -> None:
    network = Watched()
    rows = list(playing.evaluations(network, 0.0, sizes=(5, 7), batches=(1, 3)))
    assert [(row.size, row.batch) for row in rows] == [(5, 1), (5, 3), (7, 1), (7, 3)]
    assert network.seen == [shape for row in rows for shape in [(row.size, row.batch)] * 2]
    assert all(row.rate > 0 and row.network == "uniform" for row in rows)


def test_visits_in_play_and_in_a_pool() -> None:
    network = Watched()
    one = playing.visits(network, 9, 0.05)
    assert network.seen[:4] == [(9, 1), (9, 2), (9, 4), (9, 8)], "all that is compiled, before the clock runs"
    assert one.rate > 0 and one.games == 1 and set(network.seen) <= {(9, n) for n in range(1, playing.PLAY_BATCH + 1)}
    network.seen.clear()
    many = playing.pool_visits(network, 7, 0.05, games=10)
    assert many.rate > 0 and many.games == 10 and set(network.seen) == {(7, 10)}


def test_the_shares_of_a_search_find_what_limits_it() -> None:
    """An evaluator that sleeps takes its share; without it the search would reach many times as much."""

    class Slow(Watched):
        def infer(self, batch: InputBatch) -> Evaluation:
            time.sleep(0.02)
            return super().infer(batch)

    for measured in (playing.visits(Slow(), 9, 0.2), playing.pool_visits(Slow(), 7, 0.2, games=8)):
        assert measured.limit == "evaluator" and measured.shares["evaluator"] > 0.5
        assert sum(measured.shares.values()) == pytest.approx(1, abs=0.01) and set(measured.shares) == {
            "evaluator",
            "encoder",
            "tree",
        }
        assert measured.ceiling is not None and measured.ceiling > 1.5 * measured.rate
    fast = playing.visits(UniformEvaluator(), 9, 0.2)
    assert fast.limit != "evaluator" and playing.playout_visits(9, 0.05, threads=1).shares == {}


def test_the_encoder_has_a_share_where_the_clock_of_threads_is_coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of Windows steps by 15.6 ms, in which a thousand positions are encoded."""
    monkeypatch.setattr(playing.time, "thread_time", lambda: 0.0)
    assert playing.visits(UniformEvaluator(), 9, 0.05).shares["encoder"] > 0


def test_searches_follow_the_advice_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an engine does."""
    given: list[float] = []

    def watched(search: Any) -> Any:
        def opened(evaluator: Any, params: SearchParams, *rest: Any) -> Any:
            given.append(params.policy_temperature)
            return search(evaluator, params, *rest)

        return opened

    for name in ("TreeSearch", "SearchPool"):
        monkeypatch.setattr(playing, name, watched(getattr(playing, name)))
    network = Watched()
    network.advice = {"policy_temperature": 1.75}
    playing.visits(network, 5, 0.01)
    playing.pool_visits(network, 5, 0.01, games=2)
    assert given == [1.75, 1.75]


def test_a_long_measurement_begins_its_tree_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "_MOVE_VISITS", 50)
    network = Watched()
    playing.visits(network, 5, 0.1)
    assert network.seen.count((5, 1)) > 1, "a root alone, every time"


@pytest.mark.parametrize("policy", _native.playout_policies())
def test_playouts_of_every_policy(policy: str) -> None:
    assert playing.playouts(policy, 5, 0.01).rate > 0
    assert playing.playout_visits(5, 0.01, threads=2).rate > 0


@pytest.mark.parametrize("size", [5, 9, 13, 19])
def test_the_opening_is_four_stones(size: int) -> None:
    game = playing.opening(size)
    assert len(game.moves) == 4 and (game.board != 2).sum() == 4
