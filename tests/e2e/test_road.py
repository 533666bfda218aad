"""The whole road on real games, by the commands that a user types: import, stats, train, evaluate, play."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

Run = Callable[..., "subprocess.CompletedProcess[str]"]
GAMES = Path(__file__).parents[1] / "data" / "tygem-300.sgf.xz"
STEPS = 120


@pytest.fixture(scope="module")
def store(tengen: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The games that the tests ship, imported."""
    folder = tmp_path_factory.mktemp("road") / "store"
    done = tengen("import", GAMES, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def network(tengen: Run, store: Path) -> Path:
    """A network trained on them by the shipped recipe, in fewer steps than it has."""
    run = store.parent / "run"
    done = tengen(
        "train", "tiny", "--set", f"data.store={store}", "--set", f"training.steps={STEPS}", "--out", run, timeout=280
    )
    assert done.returncode == 0, done.stderr
    (found,) = run.rglob("*.onnx")
    assert (run / "report.html").stat().st_size > 1000
    return found


def test_stats_say_what_was_imported(tengen: Run, store: Path) -> None:
    done = tengen("stats", store)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\b(29\d|300)\b", done.stdout), done.stdout


def test_the_network_predicts_far_better_than_chance(tengen: Run, store: Path, network: Path) -> None:
    done = tengen("evaluate", network, store, "--json", timeout=200)
    assert done.returncode == 0, done.stderr
    top1 = json.loads(done.stdout)["top1"]
    assert top1 > 10 / 362, "ten times the accuracy of the uniform policy"


def test_the_network_answers_over_gtp(tengen: Run, network: Path) -> None:
    commands = "boardsize 9\nclear_board\nkomi 7\nplay b e5\ngenmove w\nshowboard\nquit\n"
    done = tengen("gtp", "--net", network, "--visits", "16", input=commands, timeout=120)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split("\n\n")
    assert all(answer.startswith("=") for answer in answers if answer.strip())
    assert re.fullmatch(r"= ([A-HJ][1-9]|pass)", answers[4])


def test_the_network_beats_random_moves(tengen: Run, network: Path, tmp_path: Path) -> None:
    done = tengen("match", f"policy:{network}", "random", "--games", "4", "--size", "9", "--out", tmp_path, timeout=200)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["wins"] >= 3
