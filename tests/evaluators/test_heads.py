"""Networks that lack a pass, score, ownership or value head, and positions given to an evaluator."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from torch import Tensor, nn

from tengen.data.planes import plane_set
from tengen.evaluators import (
    BatchEvaluator,
    BySizeEvaluator,
    CachedEvaluator,
    Evaluation,
    InputBatch,
    SymmetricEvaluator,
    UniformEvaluator,
)
from tengen.evaluators.evaluation import evaluation_from_outputs
from tengen.evaluators.network_file import Card
from tengen.evaluators.onnx_runtime import OnnxRuntimeEvaluator
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.evaluators.torch import TorchEvaluator
from tengen.game import Game
from tengen.networks import NetOutput

WIDTHS = len(plane_set("tengen").planes), len(plane_set("tengen").scalars)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of a policy without pass (the sum of the planes) and a scalar value (the sum of the scalars)."""
    number, make = onnx.TensorProto.FLOAT, onnx.helper.make_node
    planes, scalars = WIDTHS
    shapes = {"planes": ["b", planes, "h", "w"], "scalars": ["b", scalars], "mask": ["b", "h", "w"]}
    ones, flat = onnx.helper.make_tensor("one", onnx.TensorProto.INT64, [1], [1]), [0, -1]
    nodes = [
        make("ReduceSum", ["planes", "one"], ["points"], keepdims=0),
        make("Mul", ["points", "mask"], ["on_board"]),
        make("Reshape", ["on_board", "flat"], ["policy"]),
        make("ReduceSum", ["scalars", "one"], ["total"], keepdims=0),
        make("Tanh", ["total"], ["value"]),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "bare",
        [onnx.helper.make_tensor_value_info(name, number, shape) for name, shape in shapes.items()],
        [
            onnx.helper.make_tensor_value_info("policy", number, ["b", "moves"]),
            onnx.helper.make_tensor_value_info("value", number, ["b"]),
        ],
        [ones, onnx.helper.make_tensor("flat", onnx.TensorProto.INT64, [2], flat)],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    card = Card(name="bare", family="none", config={}, plane_set="tengen", board_sizes=[9])
    onnx.helper.set_model_props(model, card.metadata())
    path = tmp_path_factory.mktemp("bare") / "bare.onnx"
    onnx.save(model, path)
    return path


@pytest.fixture(params=["openvino", "onnxruntime"])
def evaluator(request: pytest.FixtureRequest, bare: Path) -> BatchEvaluator:
    return OpenVinoEvaluator(bare, precision="f32") if request.param == "openvino" else OnnxRuntimeEvaluator(bare)


def test_what_a_network_lacks_is_known_and_absent(evaluator: BatchEvaluator) -> None:
    assert (evaluator.has_pass, evaluator.has_score, evaluator.has_ownership) == (False, False, False)
    inputs = evaluator.encoded([Game(9).play("E5"), Game(5)])
    found = evaluator.infer(inputs)
    assert found.score is None and found.ownership is None
    assert not found.policy[:, -1].any() and found.policy.sum(axis=1) == pytest.approx([1, 1])
    logits = inputs.planes.sum(axis=1)[0]
    assert found.policy[0, :-1].reshape(9, 9) == pytest.approx(np.exp(logits) / np.exp(logits).sum(), rel=1e-4)
    assert found.value == pytest.approx(np.tanh(inputs.scalars.sum(axis=1)), rel=1e-4)
    assert not found.policy[1, :-1].reshape(9, 9)[5:].any()


@pytest.mark.parametrize("wrap", [CachedEvaluator, SymmetricEvaluator, lambda e: SymmetricEvaluator(e, "average")])
def test_wrappers_keep_what_is_absent_absent(
    evaluator: BatchEvaluator, wrap: Callable[[BatchEvaluator], BatchEvaluator]
) -> None:
    wrapped = evaluator.wrapped(wrap)
    assert (wrapped.has_pass, wrapped.has_score, wrapped.has_ownership) == (False, False, False)
    found = wrapped.evaluate([Game(9), Game(9).play("C3")])
    assert found.score is None and found.ownership is None and not found.policy[:, -1].any()


class PointsAlone(nn.Module):
    """A policy without pass, and nothing else."""

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> NetOutput:
        return NetOutput(planes.sum(1).flatten(1))


@pytest.mark.parametrize("wrap", [CachedEvaluator, SymmetricEvaluator])
def test_wrappers_lack_what_a_module_turns_out_to_lack(wrap: Callable[[BatchEvaluator], BatchEvaluator]) -> None:
    wrapped = TorchEvaluator(PointsAlone(), name="points", device="cpu").wrapped(wrap)
    wrapped.evaluate([Game(5)])
    assert not any((wrapped.has_pass, wrapped.has_value, wrapped.has_score, wrapped.has_ownership))


def test_values_of_every_kind() -> None:
    mask, policy = np.ones((2, 5, 5), np.float32), np.zeros((2, 26), np.float32)
    assert evaluation_from_outputs(mask, policy, np.array([0.5, -3], np.float32)).value.tolist() == [0.5, -1]
    logits = np.array([[0.5], [-3], [100]], np.float32)
    chances = 1 / (1 + np.exp(-logits[:, 0].astype(float)))
    found = evaluation_from_outputs(np.ones((3, 5, 5), np.float32), np.zeros((3, 26), np.float32), logits).value
    assert found == pytest.approx(2 * chances - 1, abs=1e-6)
    assert evaluation_from_outputs(mask, policy).value.tolist() == [0, 0]
    three = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]], np.float32))
    assert evaluation_from_outputs(mask, policy, three).value == pytest.approx([0.25, -0.6])


def test_probabilities_are_those_of_a_plain_softmax_of_points_on_the_board_and_pass() -> None:
    random = np.random.default_rng(0)
    mask = np.zeros((3, 5, 5), np.float32)
    for row, size in enumerate((5, 3, 4)):
        mask[row, :size, :size] = 1
    policy, optimistic = random.normal(size=(2, 3, 26)).astype(np.float32)
    ownership = random.normal(0, 2, (3, 5, 5)).astype(np.float32)
    for optimism in (0.0, 0.3, np.array([0, 0.25, 1], np.float32)):
        found = evaluation_from_outputs(mask, policy, None, None, ownership, optimistic, optimism=optimism)
        shares = np.broadcast_to(optimism, 3)
        for row in range(3):
            powers = [
                math.exp((1 - shares[row]) * plain + shares[row] * other) if there else 0.0
                for plain, other, there in zip(policy[row], optimistic[row], [*mask[row].ravel(), 1], strict=True)
            ]
            assert found.policy[row] == pytest.approx(np.array(powers) / sum(powers), abs=1e-6)
        assert found.ownership is not None
        assert found.ownership.tolist() == (np.clip(ownership, -1, 1) * mask).tolist()


def test_positions_get_legal_moves_that_sum_to_one() -> None:
    game = Game(5).play("C3")
    alone = UniformEvaluator().evaluate([game])
    assert np.flatnonzero(alone.policy[0] == 0).tolist() == [12]
    assert alone.policy[0].sum() == pytest.approx(1)
    both = UniformEvaluator().evaluate([game, Game(7).native()])
    board = both.policy[0, :-1].reshape(7, 7)
    assert board[:5, :5].ravel().tolist() == alone.policy[0, :-1].tolist()
    assert not board[5:].any() and not board[:, 5:].any() and both.policy[0, -1] == alone.policy[0, -1]
    assert both.policy[1] == pytest.approx(1 / 50)


class Pointed(UniformEvaluator):
    """All mass on one point, and a score."""

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        result.policy[:] = 0
        result.policy[:, 0] = 1
        assert result.score is not None
        result.score[:] = 3
        return Evaluation(result.policy, result.value, result.score)


def test_a_network_that_wants_illegal_moves_alone_gets_all_legal_ones() -> None:
    found = Pointed().evaluate([Game(5).play("A5"), Game(5)])
    assert found.policy[0, 0] == 0 and found.policy[0, 1:] == pytest.approx(1 / 25)
    assert found.policy[1].tolist() == [1] + [0] * 25


def test_networks_of_one_size_and_with_other_outputs_answer_together() -> None:
    """A row has NaN for what its network does not predict."""
    small = Pointed("cody3")
    small.only_size = 5
    found = BySizeEvaluator(UniformEvaluator(), {5: lambda: small}).evaluate([Game(7), Game(5), Game(6)])
    assert found.policy[1, 0] == 1 and found.policy.sum(axis=1) == pytest.approx([1, 1, 1])
    assert found.score is not None and found.score.tolist() == [0, 3, 0]
    assert found.ownership is not None and np.isnan(found.ownership[1]).all() and not found.ownership[[0, 2]].any()
    alone = small.evaluate([Game(5)])
    assert alone.ownership is None and alone.policy.shape == (1, 26)
