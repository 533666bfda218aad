"""The one suite that every evaluator passes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_network import SmallNet, random_inputs

from tengen.evaluators import CachedEvaluator, Evaluation, Evaluator, SymmetricEvaluator, UniformEvaluator
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.evaluators.torch import TorchEvaluator, TorchFileEvaluator


def padded(path: Path) -> Evaluator:
    """ONNX Runtime with batches cut and padded, as on a graphics card."""
    evaluator = OnnxRuntimeEvaluator(path, threads=1, max_batch=4)
    evaluator.provider = "CUDAExecutionProvider"
    return evaluator


Make = Callable[[Path], Evaluator]
KINDS: dict[str, Make] = {
    "uniform": lambda path: UniformEvaluator(),
    "openvino f32": lambda path: OpenVinoEvaluator(path, precision="f32"),
    "openvino auto": lambda path: OpenVinoEvaluator(path),
    "openvino small batches": lambda path: OpenVinoEvaluator(path, max_batch=2),
    "torch module": lambda path: TorchEvaluator(SmallNet(), name="small", device="cpu"),
    "torch file": lambda path: TorchFileEvaluator(path, device="cpu"),
    "torch file, small batches": lambda path: TorchFileEvaluator(path, device="cpu", max_batch=2),
    "onnxruntime": lambda path: OnnxRuntimeEvaluator(path),
    "onnxruntime padded": padded,
    "cached": lambda path: CachedEvaluator(OpenVinoEvaluator(path, precision="f32"), 100),
    "tiny cache": lambda path: CachedEvaluator(OpenVinoEvaluator(path, precision="f32"), 1),
    "random symmetry": lambda path: SymmetricEvaluator(OpenVinoEvaluator(path, precision="f32"), "random", seed=3),
    "average symmetry": lambda path: SymmetricEvaluator(OpenVinoEvaluator(path, precision="f32"), "average"),
    "cached symmetry": lambda path: CachedEvaluator(SymmetricEvaluator(UniformEvaluator(), "random"), 10),
}


@pytest.fixture(params=list(KINDS), scope="module")
def evaluator(request: pytest.FixtureRequest, network: Path) -> Evaluator:
    return KINDS[request.param](network)


def same(a: Evaluation, b: Evaluation, tolerance: float = 1e-5) -> bool:
    pairs = ((a.policy, b.policy), (a.value, b.value), (a.score / 20, b.score / 20), (a.ownership, b.ownership))
    return all(np.allclose(x, y, atol=tolerance) for x, y in pairs)


def test_is_an_evaluator(evaluator: Evaluator) -> None:
    assert isinstance(evaluator, Evaluator)
    assert evaluator.name and evaluator.plane_set == "tengen"


@pytest.mark.parametrize("sizes, edge", [([9, 9, 9], 9), ([5, 7, 9, 6, 8], 9), ([5], 5)])
def test_shapes_ranges_and_sums(evaluator: Evaluator, sizes: list[int], edge: int) -> None:
    inputs = random_inputs(sizes, edge)
    result = evaluator.infer(inputs)
    batch = len(sizes)
    assert len(result) == batch
    assert result.policy.shape == (batch, edge * edge + 1)
    assert result.value.shape == result.score.shape == (batch,)
    assert result.ownership.shape == (batch, edge, edge)
    assert all(a.dtype == np.float32 for a in (result.policy, result.value, result.score, result.ownership))
    assert np.allclose(result.policy.sum(axis=1), 1, atol=1e-5)
    assert (result.policy >= 0).all()
    assert not result.policy[:, :-1][inputs.mask.reshape(batch, -1) == 0].any()
    assert np.abs(result.value).max() <= 1 and np.abs(result.ownership).max() <= 1
    assert not result.ownership[inputs.mask == 0].any()
    assert np.isfinite(result.score).all()


def test_no_position_has_no_result(evaluator: Evaluator) -> None:
    result = evaluator.infer(random_inputs([9], 9)[:0])
    assert (result.policy.shape, result.value.shape) == ((0, 82), (0,))
    assert result.ownership is not None and result.ownership.shape == (0, 9, 9)


def test_a_row_does_not_depend_on_its_neighbours(evaluator: Evaluator) -> None:
    inputs = random_inputs([9, 7, 9, 5, 9, 6, 9], 9, seed=1)
    together = evaluator.infer(inputs)
    for row in range(len(inputs)):
        part = slice(row, row + 1)
        alone = evaluator.infer(inputs[part])
        assert same(alone, together.rows(part), 0.01)


def test_a_row_does_not_depend_on_the_edge_of_the_tensor(evaluator: Evaluator) -> None:
    small, large = random_inputs([9] * 8, 9, seed=6), random_inputs([9] * 8 + [13], 13)
    large.planes[:8] = 0
    large.planes[:8, :, :9, :9] = small.planes
    large.scalars[:8] = small.scalars
    alone, together = evaluator.infer(small), evaluator.infer(large).rows(slice(0, 8))
    points = together.policy[:, :-1].reshape(8, 13, 13)[:, :9, :9].reshape(8, 81)
    assert together.ownership is not None
    cut = replace(
        together,
        policy=np.concatenate([points, together.policy[:, -1:]], axis=1),
        ownership=together.ownership[:, :9, :9],
    )
    assert same(alone, cut, 0.01)


def test_the_same_again(evaluator: Evaluator) -> None:
    inputs = random_inputs([9, 9], 9, seed=2)
    first = evaluator.infer(inputs)
    evaluator.infer(random_inputs([9, 9], 9, seed=3))
    assert same(evaluator.infer(inputs), first, 0)


def test_results_belong_to_the_caller(evaluator: Evaluator) -> None:
    inputs = random_inputs([9], 9, seed=4)
    before = [part.copy() for part in inputs.arrays]
    first = evaluator.infer(inputs)
    kept = first.policy.copy()
    assert all(np.array_equal(a, b) for a, b in zip(inputs.arrays, before, strict=True))
    first.policy[:] = -1
    first.value[:] = 5
    assert np.array_equal(evaluator.infer(inputs).policy, kept)


def test_backends_agree(network: Path) -> None:
    inputs = random_inputs([9, 5, 7, 9], 9, seed=5)
    reference = TorchEvaluator(SmallNet(), name="small", device="cpu").infer(inputs)
    assert same(OpenVinoEvaluator(network, precision="f32").infer(inputs), reference)
    assert same(OnnxRuntimeEvaluator(network).infer(inputs), reference)
    assert same(TorchFileEvaluator(network, device="cpu").infer(inputs), reference)
    assert same(OpenVinoEvaluator(network).infer(inputs), reference, 0.03)
