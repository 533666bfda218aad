"""The report of a training run, and what its card says of few positions."""

import json
from pathlib import Path

import numpy as np
import pytest

from tengen.cli.app import main
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import read_card
from tengen.networks.export import relabel
from tengen.training.card import metric_entries
from tengen.training.metrics import PredictionResults
from tengen.training.report import write_report


def judged(losses: list[float], games: list[int]) -> PredictionResults:
    """Positions of these games and losses, in each of which the value is off by 1."""
    n = len(losses)
    hits, ply = np.zeros(n), np.arange(n, dtype=float)
    return PredictionResults(hits, hits, np.array(losses), np.zeros(n), np.ones(n), ply, np.array(games))


def test_figures_are_rounded_once_and_no_interval_is_below_zero(tmp_path: Path) -> None:
    results = judged([0.0] * 5 + [8.48290] * 5, [0] * 5 + [1] * 5)  # 4.24145
    metrics = metric_entries(results)
    assert metrics["cross_entropy"] == pytest.approx(4.24145, abs=1e-6)
    assert metrics["cross_entropy_interval"][0] == 0
    card = read_card(find_network("zero-7x7")).model_copy(update={"metrics": metrics})
    page = write_report(tmp_path, card, results).read_text()
    assert "4.241" in page and "4.242" not in page


def test_the_lines_of_a_plot_have_the_names_of_its_title(tmp_path: Path) -> None:
    shares = {"top1": 0.13, "top5": 0.48}
    event = {"event": "validation", "step": 60, **shares, "intervals": {key: [0.1, 0.5] for key in shares}}
    (tmp_path / "log.jsonl").write_text(json.dumps(event) + "\n")
    page = write_report(tmp_path, read_card(find_network("zero-7x7")), judged([1.0] * 10, list(range(10)))).read_text()
    assert all(f">{name}</text>" in page for name in ("Top-1 and top-5 accuracy", "top-1", "top-5"))


@pytest.mark.parametrize(("positions", "drawn"), [(9, False), (10, True)])
def test_phases_without_enough_positions_have_no_plot(tmp_path: Path, positions: int, drawn: bool) -> None:
    card = read_card(find_network("zero-7x7"))
    page = write_report(tmp_path, card, judged([1.0] * positions, list(range(positions)))).read_text()
    assert ("Top-1 by phase of the game" in page) == drawn


def test_an_interval_of_one_game_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = find_network("zero-7x7")
    card = read_card(path).model_copy(update={"metrics": metric_entries(judged([1.0, 2.0], [0, 0]))})
    relabel(path, tmp_path / "mine.onnx", card.metadata())
    assert main(["nets", str(tmp_path / "mine.onnx")]) == 0
    out = capsys.readouterr().out
    assert "unknown" in out and "None" not in out
