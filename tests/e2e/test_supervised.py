"""Supervised training on real games by the commands of a user: import, stats, train, evaluate, play."""

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
STEPS, BATCH = 80, 32

pytestmark = pytest.mark.timeout(600)  # some 20 s on two idle cores


@pytest.fixture(scope="module")
def unseen(tengen: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifty of the games that the tests ship, kept from training."""
    folder = tmp_path_factory.mktemp("road") / "unseen"
    done = tengen("import", GAMES, "--sample", "50", "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def store(tengen: Run, unseen: Path) -> Path:
    """The other games."""
    folder = unseen.parent / "store"
    done = tengen("import", GAMES, "--exclude", unseen, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def network(tengen: Run, store: Path) -> Path:
    """A network trained on them by the shipped recipe, in fewer and smaller steps than it has."""
    run = store.parent / "run"
    smaller = [f"training.steps={STEPS}", f"training.batch_size={BATCH}", "training.validation_games=64"]
    settings = [f"data.store={store}", *smaller]
    done = tengen("train", "tiny", *(word for s in settings for word in ("--set", s)), "--out", run, timeout=500)
    assert done.returncode == 0, done.stderr
    (found,) = run.rglob("*.onnx")
    assert (run / "report.html").stat().st_size > 1000
    return found


@pytest.mark.slow
def test_stats_say_what_was_imported(tengen: Run, unseen: Path, store: Path) -> None:
    for folder, games in ((unseen, 50), (store, 250)):
        done = tengen("stats", folder)
        assert done.returncode == 0, done.stderr
        assert re.search(rf"\b{games}\b", done.stdout), done.stdout


@pytest.mark.slow
def test_the_network_predicts_unseen_games_far_better_than_chance(tengen: Run, unseen: Path, network: Path) -> None:
    done = tengen("evaluate", network, unseen, "--all-positions", "--positions", "1000", "--json", timeout=200)
    assert done.returncode == 0, done.stderr
    top1 = json.loads(done.stdout)["top1"]["mean"]
    assert top1 > 10 / 362, "ten times the accuracy of the uniform policy"


@pytest.mark.slow
def test_the_network_answers_over_gtp(tengen: Run, network: Path) -> None:
    commands = "boardsize 9\nclear_board\nkomi 7\nplay b e5\ngenmove w\nshowboard\nquit\n"
    done = tengen("gtp", "--net", network, "--visits", "16", input=commands, timeout=120)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split("\n\n")
    assert all(answer.startswith("=") for answer in answers if answer.strip())
    assert re.fullmatch(r"= ([A-HJ][1-9]|pass)", answers[4])


@pytest.mark.slow
def test_the_network_beats_random_moves(tengen: Run, network: Path, tmp_path: Path) -> None:
    done = tengen("match", f"policy:{network}", "random", "--games", "4", "--size", "9", "--out", tmp_path, timeout=200)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["pairings"][0]["wins"] >= 3
