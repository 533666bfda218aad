"""All figures of a network: of the board sizes that it takes, and of the file that plays on 19x19."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.benchmark import suite
from tengen.errors import NetworkError
from tengen.evaluators import BySizeEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.file_evaluator import NetworkFileEvaluator


class Uniform(NetworkFileEvaluator):
    """Says the same of every position, as if a file said so."""

    def __init__(self, name: str, only_size: int | None = None) -> None:
        self.path, self.name, self.only_size = Path(f"{name}.onnx"), name, only_size

    def infer(self, batch: InputBatch) -> Evaluation:
        return self._infer(batch)

    def _infer(self, batch: InputBatch) -> Evaluation:
        return UniformEvaluator().infer(batch)


@pytest.fixture
def tuned(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files whose layouts were measured; devices are not."""
    found: list[Path] = []

    def layouts(path: Path, batch: int) -> dict[str, float]:
        found.append(path)
        return {"rule": 1.0}

    monkeypatch.setattr(suite, "fastest_device", lambda *_, **__: ("cpu", {"cpu": 2.0}))
    monkeypatch.setattr(suite, "measure_layouts", layouts)
    return found


def test_a_network_of_one_size_is_measured_on_that_size(tuned: list[Path]) -> None:
    figures = suite.measure_networks([Uniform("nineteen", 19), UniformEvaluator()], 0.01, lambda _: None)
    assert {(row.network, row.size) for row in figures.evaluations} == {
        ("nineteen", 19),
        *(("uniform", size) for size in suite.SIZES),
    }
    assert [(row.player, row.size, row.games) for row in figures.visits] == [("nineteen", 19, 1)]
    assert [line.split(", not ")[1] for line in figures.missing] == ["9x9", "13x13"]
    assert figures.devices == {"cpu": 2.0} and not tuned
    nothing = suite.measure_networks([Uniform("seven", 7)], 0.01, lambda _: None)
    assert not nothing.evaluations and not nothing.devices and len(nothing.missing) == len(suite.SIZES)


def test_the_network_of_the_largest_board_is_tuned(tuned: list[Path]) -> None:
    default = BySizeEvaluator(Uniform("large"), {9: lambda: Uniform("small", 9)})
    figures = suite.measure_networks([default], 0.01, lambda _: None, tune=True)
    assert tuned == [Path("large.onnx")] and figures.layouts == {"rule": 1.0} and figures.devices == {"cpu": 2.0}


@pytest.mark.parametrize("network", [UniformEvaluator(), Uniform("seven", 7)])
def test_tuning_what_cannot_be_tuned_is_refused(network: UniformEvaluator | Uniform, tuned: list[Path]) -> None:
    with pytest.raises(NetworkError, match=f"{network.name}: "):
        suite.measure_networks([network], 0.01, lambda _: None, tune=True)
    assert not tuned
