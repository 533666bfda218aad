"""One evaluator of many networks: each position is seen by the network of its size alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.errors import NetworkError
from tengen.evaluators import (
    BatchEvaluator,
    BySizeEvaluator,
    Evaluation,
    Evaluator,
    InputBatch,
    UniformEvaluator,
    installed_networks,
    load_evaluator,
)
from tengen.evaluators.cached import CachedEvaluator
from tengen.evaluators.network_file import read_card
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.game import BLACK, WHITE, Game
from tengen.rules import RULE_NAMES


class Constant(BatchEvaluator):
    """Answers with its own value; remembers the sizes that it was asked about."""

    def __init__(self, value: float, plane_set: str = "tengen") -> None:
        self.name, self.plane_set, self.value = f"constant {value}", plane_set, value
        self.seen: list[int] = []

    def infer(self, batch: InputBatch) -> Evaluation:
        mask = batch.mask
        self.seen += [int(m.sum()) for m in mask]
        result = UniformEvaluator().infer(batch)
        result.value[:] = self.value
        return result


def batch(*sizes: int, edge: int = 9) -> InputBatch:
    mask = np.zeros((len(sizes), edge, edge), np.float32)
    for row, size in enumerate(sizes):
        mask[row, :size, :size] = 1
    return replace(InputBatch.zeros("tengen", len(sizes), edge), mask=mask)


def test_every_row_goes_to_the_network_of_its_size() -> None:
    seven, nine, others = Constant(0.7), Constant(0.9), Constant(0.1)
    found = BySizeEvaluator(others, {7: lambda: seven, 9: lambda: nine}).infer(batch(7, 5, 9, 7))
    assert found.value.tolist() == pytest.approx([0.7, 0.1, 0.9, 0.7])
    assert (seven.seen, nine.seen, others.seen) == ([49, 49], [81], [25])
    assert found.policy.sum(axis=1).tolist() == pytest.approx([1, 1, 1, 1])


class Further(Constant):
    """Says the lead, and no score and ownership."""

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        return replace(result, score=None, ownership=None, lead=2 * result.value)


def test_results_have_what_any_of_the_networks_says() -> None:
    """As a single network has them: None where none of them says it, NaN in the rows of those that do not."""
    some = BySizeEvaluator(Constant(0.1), {7: lambda: Further(0.7)}).infer(batch(7, 9))
    assert some.lead is not None and some.score is not None and some.ownership is not None
    assert np.array_equal(some.lead, np.float32([1.4, np.nan]), equal_nan=True)
    assert np.isnan(some.score).tolist() == [True, False]
    none = BySizeEvaluator(Further(0.1), {7: lambda: Further(0.7)}).infer(batch(7, 9))
    assert none.score is None and none.ownership is None and none.lead is not None and none.no_result is None


def test_a_network_is_made_when_its_size_first_comes_and_once() -> None:
    made: list[Constant] = []

    def make() -> Constant:
        made.append(Constant(0.7))
        return made[-1]

    evaluator = BySizeEvaluator(Constant(0.1), {7: make})
    evaluator.infer(batch(9))
    assert not made
    evaluator.infer(batch(7))
    evaluator.infer(batch(7, 9))
    assert len(made) == 1


def test_the_name_is_that_of_the_network_of_the_board() -> None:
    inner = BySizeEvaluator(Constant(0.1), {7: lambda: Constant(0.7)})
    for evaluator in (inner, inner.wrapped(CachedEvaluator), inner.wrapped(SymmetricEvaluator)):
        assert [evaluator.on(size).name for size in (7, 9)] == ["constant 0.7", "constant 0.1"]


def test_another_plane_set_is_refused_by_name() -> None:
    evaluator = BySizeEvaluator(Constant(0.1), {7: lambda: Constant(0.7, "agz17")})
    with pytest.raises(NetworkError, match=r"constant 0\.7 for 7x7 reads plane set 'agz17'"):
        evaluator.infer(batch(7))


def test_default_asks_the_networks_that_its_file_names(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("broad", "small"):
        (tmp_path / f"{name}.onnx").write_bytes(network.read_bytes())
    (tmp_path / "default").write_text("broad\n7 small\n", encoding="utf-8")
    monkeypatch.setattr(installed_networks, "SHIPPED", tmp_path)
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", tmp_path / "default")
    assert installed_networks.find_network("default") == tmp_path / "broad.onnx"
    assert installed_networks.default_by_size() == {7: tmp_path / "small.onnx"}
    evaluator = load_evaluator("default")
    assert isinstance(evaluator, BySizeEvaluator)
    assert evaluator.on(7).name == evaluator.on(9).name == read_card(network).name
    assert evaluator.on(7) is not evaluator.on(9)
    assert not isinstance(load_evaluator("broad"), BySizeEvaluator)


def test_other_networks_can_be_named_for_some_sizes() -> None:
    found = load_evaluator("default", on_sizes={13: "zero-7x7", 9: "tygem-b8c64"})
    assert [found.on(size).name for size in (7, 9)] == ["zero-7x7", "tygem-b8c64"]
    assert found.on(19).name == read_card(installed_networks.find_network("default")).name
    with pytest.raises(NetworkError, match="gone"):
        load_evaluator("default", on_sizes={9: "gone"}).on(9)


@pytest.fixture(scope="module")
def shipped() -> Evaluator:
    return load_evaluator("default")


@pytest.mark.parametrize("size", range(5, 20))
def test_default_knows_won_positions_of_every_size_under_all_rules(size: int, shipped: Evaluator) -> None:
    """A wall across the board and a komi that gives one side the game by three points a line, for either to move."""
    card = read_card(installed_networks.find_network_on("default", size))
    assert size in card.board_sizes
    wall = size // 2
    row = " ".join("X" if x == wall - 1 else "O" if x == wall else "." for x in range(size))
    even, margin = (2 * wall - size) * size, 3 * size + 0.5
    cases = [(rules, sign, side) for rules in RULE_NAMES for sign in (1, -1) for side in (BLACK, WHITE)]
    cases += cases[: -len(cases) % 16]  # models are compiled for each size of a batch
    for first in range(0, len(cases), 16):
        chosen = cases[first : first + 16]
        games = [
            Game.from_diagram("\n".join([row] * size), rules, komi=even - sign * margin, to_play=side)
            for rules, sign, side in chosen
        ]
        found = shipped.evaluate(games)
        for_winner = np.array([sign * (1 if side == BLACK else -1) for _, sign, side in chosen])
        assert (found.value * for_winner > 0.9).all()
        assert found.score is not None and (found.score * for_winner > 0).all()
        assert np.allclose(found.policy.sum(1), 1, atol=1e-5)
