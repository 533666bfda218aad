"""Winograd's algorithm against the plain sum of products, and in whole networks."""

from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from tengen import _native
from tengen.evaluators import load_evaluator
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import Game


@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("batch, inputs, outputs, edge", [(1, 3, 5, 5), (3, 17, 40, 9), (2, 32, 16, 19)])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("instructions", ["plain", "avx2", "avx512"])
def test_a_convolution(
    kernel: int, batch: int, inputs: int, outputs: int, edge: int, whole: bool, instructions: str
) -> None:
    if instructions not in _native.Winograd.available():
        pytest.skip(f"this processor has no {instructions}")
    random = np.random.default_rng(kernel + edge)
    planes = random.standard_normal((batch, inputs, edge, edge)).astype(np.float32)
    weights = random.standard_normal((outputs, inputs, kernel, kernel)).astype(np.float32)
    bias = random.standard_normal(outputs).astype(np.float32)
    residual = random.standard_normal((batch, outputs, edge, edge)).astype(np.float32) if whole else None
    border = kernel // 2
    windows = sliding_window_view(
        np.pad(planes.astype(float), [(0, 0), (0, 0), (border, border), (border, border)]), (kernel, kernel), (2, 3)
    )
    expected = np.einsum("bcyxij,kcij->bkyx", windows, weights) + bias[:, None, None]
    if residual is not None:
        expected = np.maximum(expected + residual, 0)
    found = np.empty((batch, outputs, edge, edge), np.float32)
    _native.Winograd(weights, bias, instructions).run(planes, found, residual, whole)
    assert np.abs(found - expected).max() < 2e-5 * np.abs(expected).max()


def test_the_instructions_that_fuse_sums_agree_to_the_last_bit() -> None:
    """Of the same lanes in the same order: a network plays the same games on every processor with AVX2."""
    fused = [name for name in _native.Winograd.available() if name != "plain"]
    if len(fused) < 2:
        pytest.skip("this processor has one such set at most")
    random = np.random.default_rng(1)
    planes, weights = (random.standard_normal(shape).astype(np.float32) for shape in ((2, 24, 19, 19), (40, 24, 3, 3)))
    found = [np.empty((2, 40, 19, 19), np.float32) for _ in fused]
    for name, out in zip(fused, found, strict=True):
        _native.Winograd(weights, np.zeros(40, np.float32), name).run(planes, out, None, True)
    assert np.array_equal(found[0], found[1])


def test_the_processor_chooses_the_instructions() -> None:
    flags, available = set(_native.processor_flags()), _native.Winograd.available()
    needs = {"avx512": {"avx512f", "fma"}, "avx2": {"avx2", "fma"}, "plain": set()}
    assert available == [name for name, needed in needs.items() if needed <= flags]
    with pytest.raises(ValueError, match="no instructions sse5"):
        _native.Winograd(np.zeros((8, 8, 3, 3), np.float32), np.zeros(8, np.float32), "sse5")


def test_arrays_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="3x3 or 5x5"):
        _native.Winograd(np.zeros((8, 8, 4, 4), np.float32), np.zeros(8, np.float32))
    kernel = _native.Winograd(np.zeros((8, 4, 3, 3), np.float32), np.zeros(8, np.float32))
    with pytest.raises(ValueError, match="4 inputs and 8 outputs"):
        kernel.run(np.zeros((2, 4, 9, 9), np.float32), np.zeros((1, 8, 9, 9), np.float32), None, False)


def test_a_network_gives_the_same_with_it() -> None:
    """Every convolution of the default network, on a full board and on a smaller one in the same tensor."""
    shipped = Path(load_evaluator("default").on(19).path)  # type: ignore[attr-defined]
    positions = [Game(size) for size in (19, 13, 19)]
    for game in positions:
        for point in (60, 61, 40, 62):
            game.play(point)
    plain, winograd = (
        OpenVinoEvaluator(shipped, precision="f32", threads=2, winograd=use, remember=False).evaluate(positions)
        for use in (False, True)
    )
    assert 0 < np.abs(plain.policy - winograd.policy).max() < 1e-5
    assert np.abs(plain.value - winograd.value).max() < 1e-5
    assert plain.score is not None and winograd.score is not None
    assert np.abs(plain.score - winograd.score).max() < 1e-3


def test_boards_and_batches_that_gain_nothing_stay_plain() -> None:
    evaluator = OpenVinoEvaluator(load_evaluator("default").on(19).path, precision="f32", threads=8, winograd=True)  # type: ignore[attr-defined]
    for rows, edge in ((1, 19), (32, 9), (32, 19)):
        evaluator.infer(evaluator.encoded([Game(edge)] * rows))
    made = [(rows, edge, layout.winograd) for rows, edge, layout in evaluator._requests]
    assert sorted(made) == [(1, 19, False), (4, 19, True), (32, 9, False)]
