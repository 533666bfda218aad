"""The optional outputs of a network: they reach the search, and what it says of the root."""

from __future__ import annotations

import pickle
import sys
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import numpy as np
import pytest
from known_answers import Noise

from tengen.engine.params import SearchParams
from tengen.engine.result import Candidate
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.evaluation import Floats
from tengen.game import Game

OUTPUTS = {
    "no_result": 0.125,
    "lead": 3.5,
    "score_stdev": 9.0,
    "value_error": 0.25,
    "score_error": 2.0,
    "time_left": 40.0,
}


@dataclass(frozen=True, eq=False)
class WideEvaluation(Evaluation):
    """An evaluation with all outputs, and one that no search knows."""

    no_result: Floats | None = None
    lead: Floats | None = None
    score_stdev: Floats | None = None
    value_error: Floats | None = None
    score_error: Floats | None = None
    time_left: Floats | None = None


class WideEvaluator(UniformEvaluator):
    def infer(self, batch: InputBatch) -> Evaluation:
        plain = super().infer(batch)
        columns = {name: np.full(len(batch), value, np.float32) for name, value in OUTPUTS.items()}
        return WideEvaluation(**{f.name: getattr(plain, f.name) for f in fields(plain)} | columns)


def test_the_optional_outputs_of_the_root_are_kept() -> None:
    search = TreeSearch(WideEvaluator(), batch=2)
    search.set_root(Game(5))
    search.run(8)
    found = search.root_evaluation()
    assert found is not None and {name: getattr(found, name) for name in OUTPUTS} == OUTPUTS


@pytest.mark.parametrize(("selection", "is_known"), [("puct", False), ("puct-katago", True)])
def test_candidates_are_as_their_constructor_makes_them(selection: str, is_known: bool) -> None:
    search = TreeSearch(WideEvaluator(), SearchParams(selection=selection), batch=2)  # type: ignore[arg-type]
    search.set_root(Game(5))
    search.run(8)
    found, names = search.candidates(), [field.name for field in fields(Candidate)]
    assert found == tuple(Candidate(*(getattr(move, name) for name in names)) for move in found)
    assert pickle.loads(pickle.dumps(found)) == found
    stats, best = search.stats(), found[0]
    row = stats.point.tolist().index(best.point)
    assert best.winrate == (float(stats.value[row]) + 1) / 2 and best.lcb == (float(stats.value_lcb[row]) + 1) / 2
    assert {value is not None for value in (best.lead, best.score_stdev, best.no_result)} == {is_known}
    assert replace(best, visits=99).visits == 99
    with pytest.raises(FrozenInstanceError):
        best.visits = 99  # type: ignore[misc]


def test_candidates_of_a_large_board_take_few_calls_of_python() -> None:
    """The candidates of an empty 19x19 board took 5 ms each time that a search was asked for them."""
    search = TreeSearch(UniformEvaluator())
    search.set_root(Game(19))
    search.run(1)
    calls, before = [], sys.getprofile()
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = search.candidates()
    finally:
        sys.setprofile(before)
    assert len(found) == 362 and len(calls) < 6 * 362


def test_outputs_that_cannot_be_right_are_refused_and_the_leaf_still_waits() -> None:
    evaluator = WideEvaluator()
    search = TreeSearch(evaluator)
    search.set_root(Game(5))
    inputs = evaluator.new_batch(1, 5)
    assert search.gather(inputs, 1) == 1
    result = evaluator.infer(inputs)
    native = search._native
    arrays = (result.policy, result.value, result.score, result.ownership, 1)
    with pytest.raises(ValueError, match="unknown name"):
        native.scatter(*arrays, {"luck": result.value})
    with pytest.raises(ValueError, match="more than the arrays have rows"):
        native.scatter(*arrays, {"lead": result.value[:0]})
    with pytest.raises(ValueError, match="not finite"):
        native.scatter(*arrays, {"lead": result.value * np.nan})
    native.scatter(*arrays, {"lead": result.value})
    assert search.visits == 1


def test_results_for_no_leaf_say_nothing_of_the_network() -> None:
    search = TreeSearch(UniformEvaluator(), batch=1)
    search.set_root(Game(5))
    search.run(20)
    nothing = np.zeros(0, np.float32)
    search._native.scatter(np.zeros((0, 26), np.float32), nothing, None, None, 0)
    assert search.has_score
    search.set_root(Game(5))
    assert 25 in search.stats().point, "a network without a pass logit passes by rule"


def test_a_root_has_the_outputs_that_all_of_its_evaluations_have() -> None:
    class Forgetful(WideEvaluator):
        rows = 0

        def infer(self, batch: InputBatch) -> Evaluation:
            self.rows += 1
            whole = super().infer(batch)
            return whole if self.rows == 1 else replace(whole, lead=None, ownership=None)  # type: ignore[call-arg]

    search = TreeSearch(Forgetful(), SearchParams(root_symmetries=2), batch=1)
    search.set_root(Game(5))
    search.run(3)
    found = search.root_evaluation()
    assert found is not None and found.lead is None and found.ownership is None
    assert found.time_left == OUTPUTS["time_left"]


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_visits_of_a_position_are_those_of_its_move_at_least(selection: str) -> None:
    """In a tree that shares positions, and keeps the ownership of each."""
    params = SearchParams(selection=selection, transpositions=True, node_ownership=True)  # type: ignore[arg-type]
    search = TreeSearch(Noise(), params, 1)
    search.set_root(Game(3))
    search.run(1000)
    stats = search.stats()
    assert (stats.node_visits >= stats.visits).all()
    _, visits, below = zip(*search.line(int(stats.point[0])), strict=True)
    assert all(of_position >= of_move > 0 for of_position, of_move in zip(below, visits, strict=True))
