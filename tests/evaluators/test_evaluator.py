"""Evaluators of a program of one's own: what they give is checked, and errors name it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tengen import Game
from tengen.engine import Engine, Limits, MoveRestriction, SearchQueue
from tengen.engine.pool import SearchPool
from tengen.errors import NetworkError
from tengen.evaluators import BatchEvaluator, BySizeEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.game import BLACK


class Changed(BatchEvaluator):
    """The results of UniformEvaluator, changed by a function."""

    name = "mine"

    def __init__(self, change: Callable[[Evaluation], Evaluation]) -> None:
        self.change = change

    def infer(self, batch: InputBatch) -> Evaluation:
        return self.change(UniformEvaluator().infer(batch))


FAULTS: dict[str, Callable[[Evaluation], Evaluation]] = {
    r"policy has the shape \(1, 81\), not \(1, 82\)": lambda e: replace(e, policy=e.policy[:, :-1]),
    r"policy has the shape \(2, 82\), not \(1, 82\)": lambda e: replace(e, policy=np.repeat(e.policy, 2, axis=0)),
    r"value has the shape \(1, 1\), not \(1,\)": lambda e: replace(e, value=e.value[:, None]),
    r"score has the shape \(\), not \(1,\)": lambda e: replace(e, score=np.float32(3)),
    r"ownership has the shape \(1, 81\), not \(1, 9, 9\)": lambda e: replace(e, ownership=e.ownership.reshape(1, 81)),
    r"lead has the shape \(1, 1\), not \(1,\)": lambda e: replace(e, lead=e.value[:, None]),
    r"policy has -4.4067\d*, which is no probability": lambda e: replace(e, policy=np.log(e.policy)),
    r"a value is 5 away from 0": lambda e: replace(e, value=e.value - 5),
    r"infer gives None, no Evaluation": lambda e: None,
}


def think(evaluator: BatchEvaluator) -> None:
    engine = Engine(evaluator, limits=Limits(visits=1))
    engine.set_position(Game(9))
    engine.think()


def wait(evaluator: BatchEvaluator) -> None:
    with SearchQueue(evaluator) as queue:
        restrictions = [MoveRestriction(BLACK, [0])]
        tasks = [queue.start(Game(9), Limits(visits=1), restrictions=given) for given in ([], restrictions)]
        tasks[1].wait(20)
        tasks[0].wait(20)


def step(evaluator: BatchEvaluator) -> None:
    pool = SearchPool(evaluator, games=1)
    pool.set_root(0, Game(9))
    pool.step()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("use", [lambda evaluator: evaluator.evaluate([Game(9)]), think, step])
def test_results_that_cannot_be_right_are_named(use: Callable[[BatchEvaluator], object], fault: str) -> None:
    with pytest.raises(NetworkError, match=f"evaluator mine: .*{fault}"):
        use(Changed(FAULTS[fault]))


def test_a_queue_names_results_that_cannot_be_right() -> None:
    with pytest.raises(NetworkError, match="evaluator mine: value has the shape"):
        wait(Changed(lambda e: replace(e, value=e.value[:, None])))


def test_a_value_may_be_rounded_and_what_is_not_predicted_is_none() -> None:
    evaluator = Changed(lambda e: Evaluation(e.policy, e.value + np.float32(1 + 1e-6)))
    found = evaluator.evaluate([Game(9)])
    assert found.value.tolist() == pytest.approx([1]) and found.score is None and found.ownership is None
    think(evaluator)


def test_the_arrays_of_an_evaluator_stay_as_they_are() -> None:
    stored = np.full((1, 82), 1 / 82, np.float32)
    stored.flags.writeable = False
    evaluator = Changed(lambda e: replace(e, policy=np.broadcast_to(stored, e.policy.shape)))
    found = evaluator.evaluate([Game(9).play(40)])
    assert found.policy[0, 40] == 0 and found.policy.sum() == pytest.approx(1) and stored[0, 40] > 0
    evaluator.evaluate([Game(9), Game(9)])


def test_no_position_is_an_error_in_words() -> None:
    with pytest.raises(ValueError, match="there is no position to evaluate"):
        UniformEvaluator().evaluate([])


def test_a_wrapper_of_several_networks_says_how_to_wrap_them() -> None:
    several = BySizeEvaluator(UniformEvaluator(), {9: UniformEvaluator})
    with pytest.raises(TypeError, match=r"use evaluator.wrapped\(SymmetricEvaluator\)"):
        SymmetricEvaluator(several)  # type: ignore[arg-type]
    assert several.wrapped(SymmetricEvaluator).evaluate([Game(9), Game(5)]).value.tolist() == [0, 0]
