"""The cache and the symmetries: what they add to the evaluator within."""

from dataclasses import replace

import numpy as np
import pytest
from small_network import random_inputs

from tengen.evaluators import BatchEvaluator, CachedEvaluator, Evaluation, InputBatch, SymmetricEvaluator
from tengen.evaluators.symmetric import inverse_transform, transform


class Echo(BatchEvaluator):
    """Answers with its input: the first plane is the policy and the ownership, its sum the score. Counts the rows."""

    name, plane_set = "echo", "tengen"

    def __init__(self) -> None:
        self.rows = 0

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, mask = batch.planes, batch.mask
        self.rows += len(mask)
        first = planes[:, 0]
        weights = np.concatenate([first.reshape(len(mask), -1), np.ones((len(mask), 1), np.float32)], axis=1)
        policy = weights / weights.sum(axis=1, keepdims=True)
        return Evaluation(policy, first[:, 0, 0] * 1.0, first.sum(axis=(1, 2)), first * mask)


def test_transform_follows_the_convention() -> None:
    board = np.arange(9).reshape(3, 3)
    assert transform(board, 1)[0].tolist() == [6, 7, 8]
    assert transform(board, 2)[0].tolist() == [2, 1, 0]
    assert transform(board, 4)[0].tolist() == [0, 3, 6]
    assert transform(board, 5)[0].tolist() == [6, 3, 0]  # rows first, then the transposition
    for s in range(8):
        assert np.array_equal(inverse_transform(transform(board, s), s), board)


@pytest.mark.parametrize("mode", ["random", "average"])
@pytest.mark.parametrize("sizes, edge", [([9, 9], 9), ([5, 7, 9], 9)])
def test_turned_back(mode: str, sizes: list[int], edge: int) -> None:
    inputs = random_inputs(sizes, edge)
    plain, turned = Echo().infer(inputs), SymmetricEvaluator(Echo(), mode).infer(inputs)  # type: ignore[arg-type]
    assert np.allclose(turned.policy, plain.policy)
    assert np.allclose(turned.ownership, plain.ownership)


def test_random_shows_every_symmetry() -> None:
    inputs = random_inputs([9] * 200, 9)
    corners = inputs.planes[:, 0][:, [0, 0, -1, -1], [0, -1, 0, -1]]
    seen = SymmetricEvaluator(Echo(), "random").infer(inputs).value  # the corner that came to lie at the top-left
    assert 0.05 < (seen != corners[:, 0]).mean() < 0.6
    for seed in range(1, 33):
        assert (seen != SymmetricEvaluator(Echo(), "random", seed).infer(inputs).value).mean() > 0.2


def test_average_is_symmetric() -> None:
    inputs = random_inputs([9] * 20, 9)
    corners = inputs.planes[:, 0][:, [0, 0, -1, -1], [0, -1, 0, -1]].mean(axis=1)
    assert len(set(corners.tolist())) > 2, "corners that differ on one board"
    average = SymmetricEvaluator(Echo(), "average")
    value = average.infer(inputs).value
    flipped = average.infer(replace(inputs, planes=np.ascontiguousarray(inputs.planes[..., ::-1]))).value
    assert np.allclose(value, corners)
    assert np.allclose(value, flipped)


class ScoreMoments(Echo):
    """Echo whose score has the standard deviation that a corner gives."""

    def infer(self, batch: InputBatch) -> Evaluation:
        corner = batch.planes[:, 0, 0, 0]
        return replace(super().infer(batch), score=20 * corner, score_stdev=3 + corner)


def test_average_is_the_mixture_of_the_score_distributions() -> None:
    inputs = random_inputs([9], 9)
    inputs.planes[0, 0, [0, 0, -1, -1], [0, -1, 0, -1]] = [0, 0, 0, 1]  # each corner comes to the top-left twice
    found = SymmetricEvaluator(ScoreMoments(), "average").infer(inputs)
    assert found.score == pytest.approx([5])
    assert found.score_stdev == pytest.approx([np.sqrt((3 * 3**2 + 20**2 + 4**2) / 4 - 5**2)])


def test_unknown_mode() -> None:
    with pytest.raises(ValueError, match="'mean'"):
        SymmetricEvaluator(Echo(), "mean")  # type: ignore[arg-type]


def test_cache_asks_once() -> None:
    inner = Echo()
    cached = CachedEvaluator(inner, 10)
    inputs = random_inputs([9, 9, 9], 9)
    first = cached.infer(inputs[np.array([0, 1, 2, 0, 1, 2])])
    assert inner.rows == 3
    again = cached.infer(inputs[::-1])
    assert inner.rows == 3
    assert np.array_equal(again.policy, first.policy[:3][::-1])
    assert (cached.hits, cached.misses) == (3, 6)


def test_cache_sees_every_input() -> None:
    inner = Echo()
    cached = CachedEvaluator(inner, 10)
    inputs = random_inputs([9], 9)
    cached.infer(inputs)
    cached.infer(replace(inputs, scalars=inputs.scalars + 1))
    changed = inputs.planes.copy()
    changed[0, -1, 8, 8] += 1
    cached.infer(replace(inputs, planes=changed))
    cached.infer(replace(inputs, mask=np.tri(9, dtype=np.float32)[None]))
    assert inner.rows == 4


@pytest.mark.parametrize("has_optimism", [True, False])
def test_cache_tells_the_shares_of_the_optimistic_policy_apart_where_there_is_one(has_optimism: bool) -> None:
    inner = Echo()
    inner.has_optimism = has_optimism
    cached = CachedEvaluator(inner, 10)
    inputs = random_inputs([9], 9)
    for share in (None, 0.25, 0.5, 0.25):
        cached.infer(replace(inputs, optimism=None if share is None else np.full(1, share, np.float32)))
    assert inner.rows == (3 if has_optimism else 1)


def test_cache_is_bounded_and_drops_the_oldest() -> None:
    inner = Echo()
    cached = CachedEvaluator(inner, 2)
    rows = [random_inputs([9], 9, seed=seed) for seed in range(3)]
    for row in (rows[0], rows[1], rows[0], rows[2]):
        cached.infer(row)
    assert len(cached) == 2 and inner.rows == 3
    cached.infer(rows[0])
    assert inner.rows == 3
    cached.infer(rows[1])
    assert inner.rows == 4
    cached.clear()
    assert len(cached) == 0
    with pytest.raises(ValueError, match="0 positions"):
        CachedEvaluator(inner, 0)
