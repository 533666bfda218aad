"""A run that is resumed: the settings that stay, and the games by which it is known."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from training.small_run import random_record

pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.data.store import Store, StoreWriter
from tengen.errors import RecipeError
from tengen.runs.checkpoints import checkpoints
from tengen.runs.events import read_events
from tengen.training.config import RunConfig
from tengen.training.supervised import train

pytestmark = pytest.mark.usefixtures("unrendered")


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), [(0.9, 0.0), (0.0, 0.9)])
def test_the_moving_average_of_a_run_stays(
    settings: dict[str, Any], tmp_path: Path, before: float, after: float
) -> None:
    settings["training"] |= {"steps": 2, "ema": before}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["training"] |= {"steps": 4, "ema": after}
    with pytest.raises(RecipeError, match=rf"training\.ema = {before}, not {after}"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)


def test_the_rate_of_a_run_that_has_ended_stays(settings: dict[str, Any], tmp_path: Path) -> None:
    """With more steps it may change."""
    settings["training"] |= {"steps": 1, "optimizer": {"lr": 0.01}}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["training"] |= {"optimizer": {"lr": 0.5}}
    with pytest.raises(RecipeError, match=r"training\.optimizer\.lr = 0\.01, not 0\.5"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    assert "lr: 0.01" in (tmp_path / "run" / "recipe.yaml").read_text()
    settings["training"] |= {"steps": 2}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)


@pytest.mark.parametrize("after", [{"validation_fraction": 0.4}, {"validation_store": "another"}])
def test_games_that_were_learned_do_not_validate_later(
    settings: dict[str, Any], store: Path, tmp_path: Path, after: dict[str, Any]
) -> None:
    settings["data"] = {"store": str(store), "validation_fraction": 0.25}
    settings["training"] |= {"steps": 1}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["data"] |= {name: str(store) if name == "validation_store" else value for name, value in after.items()}
    with pytest.raises(RecipeError, match=r"data\.validation_fraction = 0\.25, not"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)


@pytest.mark.slow
def test_what_a_run_learns_and_validates_on_stays(settings: dict[str, Any], tmp_path: Path) -> None:
    """Length, schedule and intervals may change."""
    folder, other = tmp_path / "run", tmp_path / "other"
    settings["training"] |= {"steps": 1}
    train(RunConfig.model_validate(settings), folder, show_progress=False)
    with StoreWriter(other) as writer:
        for seed in range(100, 109):
            writer.add(random_record(seed))
    settings["training"] |= {"steps": 2, "schedule": {"shape": "constant"}, "clip": 1.0}
    settings["training"] |= {"validate_every": 1, "validation_games": 7}
    before = (folder / "recipe.yaml").read_text()
    for section, key, value, message in (
        ("data", "validation_store", str(other), r"data\.validation_games = 64 games \(\w+\), not 9 games \(\w+\)"),
        ("data", "validation_positions", "all", r"data\.validation_positions = one-per-game, not all"),
        ("data", "vary_rules", False, r"data\.vary_rules = true, not false"),
        ("data", "symmetries", False, r"data\.symmetries = true, not false"),
        ("training", "losses", {"value": 5}, r"training\.losses\.value = 0\.3, not 5"),
        ("training", "value_loss", "mse", r"training\.value_loss = auto, not mse"),
    ):
        one = {**settings, section: settings[section] | {key: value}}
        with pytest.raises(RecipeError, match=message):
            train(RunConfig.model_validate(one), folder, show_progress=False)
    assert (folder / "recipe.yaml").read_text() == before
    train(RunConfig.model_validate(settings), folder, show_progress=False)


@pytest.mark.slow
def test_a_store_that_was_imported_anew_is_noticed(settings: dict[str, Any], store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    settings["data"] |= {"store": str(copy)}
    settings["training"] |= {"steps": 1}
    run = RunConfig.model_validate(settings)
    train(run, tmp_path / "run", show_progress=False)
    train(run, tmp_path / "run", show_progress=False)
    with StoreWriter(copy, overwrite=True) as writer:
        for game in list(Store.open(store))[1:]:
            writer.add(game)
    with pytest.raises(RecipeError, match=r"learned from \d+ games \(.*\), and its store holds .* now; give another"):
        train(run, tmp_path / "run", show_progress=False)


@pytest.mark.slow
def test_a_store_and_the_run_may_move(settings: dict[str, Any], store: Path, tmp_path: Path) -> None:
    """The games say whether it is the same run, not the path by which they are named."""
    copy, moved = tmp_path / "store", tmp_path / "elsewhere"
    shutil.copytree(store, copy)

    def run(path: Path, steps: int) -> RunConfig:
        data = {"store": str(path), "validation_store": str(path)}
        changed = {"data": settings["data"] | data, "training": settings["training"] | {"steps": steps}}
        return RunConfig.model_validate(settings | changed)

    train(run(copy, 2), tmp_path / "run", show_progress=False)
    (tmp_path / "run").rename(moved)
    copy.rename(moved / "games")
    train(run(moved / "games", 3), moved, show_progress=False)
    steps = [event["step"] for event in read_events(moved, "train")]
    assert checkpoints(moved / "checkpoints")[-1][0] == 3 and steps == sorted(set(steps))
