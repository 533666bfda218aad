"""The report of a policy-gradient run: units of its plots."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the configuration needs the extra [train]")

from small_parent import small_config, small_q_config

from tengen.reinforce.report import write_reinforce_report


def test_scores_are_in_percent_and_updates_are_whole(tmp_path: Path) -> None:
    judged = {"score": 0.5, "low": 0.24, "high": 0.76, "wins": 5, "draws": 0, "losses": 5}
    learned = {"score": 0.6, "entropy": 1.2, "kl": 0.001, "explained": 0.2, "length": 84, "hours": 0.1}
    events = [{"event": "train", "step": step, **learned} for step in (1, 2, 3)]
    events += [{"event": "evaluation", "step": 3, **judged, "drawn": judged}]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    page = write_reinforce_report(tmp_path, small_config(tmp_path), "mother").read_text()
    plots = [figure for figure in page.split("<figure>")[1:] if "updates" in figure]
    for figure in plots:
        below, beside = figure.split('id="matplotlib.axis_2"')
        assert re.findall(r">([\d.]+)</text>", below) == ["0", "1", "2", "3"]
        assert all(text.endswith("%") for text in re.findall(r">([\d.]+%?)</text>", beside)) == (">Score" in figure)
    assert sum(">Score" in figure for figure in plots) == 3


def test_action_values_have_no_plots_of_a_policy(tmp_path: Path) -> None:
    event = {"event": "train", "step": 1, "score": 0.6, "explained": 0.2, "length": 84, "hours": 0.1}
    (tmp_path / "log.jsonl").write_text(json.dumps(event) + "\n")
    page = write_reinforce_report(tmp_path, small_q_config(), "untrained").read_text()
    titles = [title for title in ("Entropy", "KL", "Explained variance", "Length of games") if f">{title}" in page]
    assert titles == ["Explained variance", "Length of games"]
