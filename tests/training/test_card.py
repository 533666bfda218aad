"""The card of a network: what made it; and the warning of games that both train and validate."""

import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from training.small_run import random_record

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

import tengen  # noqa: E402
from tengen.data.store import StoreWriter  # noqa: E402
from tengen.evaluators.network_file import read_card  # noqa: E402
from tengen.training.card import games_learned, share_learned  # noqa: E402
from tengen.training.config import LinearRun, RunConfig  # noqa: E402
from tengen.training.linear import train_linear  # noqa: E402
from tengen.training.supervised import train  # noqa: E402

pytestmark = pytest.mark.usefixtures("unrendered")


def test_a_card_says_what_made_its_network(settings: dict[str, Any], tmp_path: Path) -> None:
    """By the files of the run, the packages, git and the system themselves."""
    settings["training"] |= {"steps": 1, "seed": 17}
    made = read_card(train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)).provenance
    assert made["recipe"] == yaml.safe_load((tmp_path / "run" / "recipe.yaml").read_text())
    assert made["seed"] == made["recipe"]["training"]["seed"] == 17 and made["recipe"]["training"]["steps"] == 1
    assert made["version"] == metadata.version("tengen")
    assert made["python"] == sys.version.split()[0]
    assert made["libraries"] == {
        "numpy": np.__version__,
        "torch": torch.__version__,
        **{name: metadata.version(name) for name in ("onnx", "openvino", "pyarrow")},
    }
    if Path("/proc/cpuinfo").exists() and "model name" in (text := Path("/proc/cpuinfo").read_text()):
        assert f": {made['processor']}\n" in text
    git = ["git", "-C", str(Path(tengen.__file__).parents[2])]
    if shutil.which("git") and subprocess.run([*git, "rev-parse", "HEAD"], check=False).returncode == 0:
        commit = made["commit"].removesuffix("+")
        assert len(commit) == 40
        subprocess.run([*git, "merge-base", "--is-ancestor", commit, "HEAD"], check=True)
    else:  # no clone, or one that git does not trust
        assert made["commit"] == ""


@pytest.mark.parametrize(("validation", "warned"), [(range(54, 74), [("10", "20")]), (range(64, 74), [])])
def test_validation_games_that_are_learned_are_warned_of(
    settings: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture, validation: range, warned: list[Any]
) -> None:
    with StoreWriter(tmp_path / "validation") as writer:
        for seed in validation:
            writer.add(random_record(seed))
    settings["data"]["validation_store"] = str(tmp_path / "validation")
    settings["training"] |= {"steps": 1}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    linear = {name: settings["data"][name] for name in ("store", "validation_store")}
    run = LinearRun.model_validate({"name": "x", "kind": "linear-playout", "data": linear, "training": {"games": 1}})
    train_linear(run, tmp_path / "linear", show_progress=False)
    found = [record.args for record in caplog.records if record.name == "tengen.training.card"]
    assert [args[:2] for args in found if isinstance(args, tuple)] == 2 * warned


def test_a_sample_of_the_hashes_tells_the_share_of_shared_games() -> None:
    """50,000 games learned from, of which the card keeps 4,096; another store has 30,000, a fifth of them the same."""
    random = np.random.default_rng(0)
    hashes = random.integers(0, 2**64, 100_000, np.uint64)
    of_nobody = np.full(50_000, -1, np.int8)
    learned = SimpleNamespace(
        hashes=hashes[:50_000], path=Path("x"), manifest={"shards": []}, column=lambda name: of_nobody
    )
    games = games_learned(learned, np.arange(50_000), 0.02)  # type: ignore[arg-type]
    assert len(games["sample"]) < 45_000 and not games["complete"]
    assert share_learned(games, hashes[44_000:74_000]) == pytest.approx(0.2, abs=0.03)
    assert share_learned(games, hashes[50_000:]) == 0
