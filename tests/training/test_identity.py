"""A run that is resumed: the settings that stay, and the games by which it is known."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from training.small_run import random_record

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from data_pipeline.self_play_games import self_played  # noqa: E402

from tengen.data.store import Store, StoreWriter  # noqa: E402
from tengen.errors import RecipeError  # noqa: E402
from tengen.runs.checkpoints import checkpoints  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.training import identity  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.optimizers import OPTIMIZERS  # noqa: E402
from tengen.training.supervised import train  # noqa: E402

pytestmark = pytest.mark.usefixtures("unrendered")


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), [(0.9, 0.0), (0.0, 0.9)])
def test_the_moving_average_of_a_run_stays(
    settings: dict[str, Any], tmp_path: Path, before: float, after: float
) -> None:
    """A checkpoint from before this was compared has an average, or none."""
    settings["training"] |= {"steps": 2, "ema": before}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["training"] |= {"steps": 4, "ema": after}
    with pytest.raises(RecipeError, match=rf"training\.ema = {before}, not {after}"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    ((_, path),) = checkpoints(tmp_path / "run" / "checkpoints")
    saved = torch.load(path, weights_only=True)
    del saved["identity"]["training"]["ema"]
    path.unlink()
    torch.save(saved, path)
    if not before:
        with pytest.raises(RecipeError, match=r"training\.ema = 0\.0, not 0\.9"):
            train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["training"]["ema"] = before
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


def test_what_a_run_learns_and_validates_on_stays(settings: dict[str, Any], tmp_path: Path) -> None:
    """Length, schedule and intervals may change. A checkpoint from before the others were compared goes on."""
    folder, other = tmp_path / "run", tmp_path / "other"
    settings["training"] |= {"steps": 1}
    train(RunConfig.model_validate(settings), folder, show_progress=False)
    with StoreWriter(other) as writer:
        for seed in range(100, 109):
            writer.add(random_record(seed))
    settings["training"] |= {"steps": 2, "schedule": {"shape": "constant"}, "clip": 1.0}
    settings["training"] |= {"validate_every": 1, "validation_games": 7}
    before, changed = (folder / "recipe.yaml").read_text(), settings
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
        changed = {**changed, section: changed[section] | {key: value}}
    assert (folder / "recipe.yaml").read_text() == before
    ((_, path),) = checkpoints(folder / "checkpoints")
    saved = torch.load(path, weights_only=True)
    for section, names in (("data", ("validation_games", *identity._DRAWN)), ("training", identity._OBJECTIVE)):
        for name in names:
            del saved["identity"][section][name]
    path.unlink()
    torch.save(saved, path)
    train(RunConfig.model_validate(changed), folder, show_progress=False)


def change_identity(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what the checkpoint of a run says it is of, as another version wrote it."""
    ((_, path),) = checkpoints(folder / "checkpoints")
    saved = torch.load(path, weights_only=True)
    change(saved["identity"])
    path.unlink()
    torch.save(saved, path)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of games with visits and their surprise."""
    path = tmp_path_factory.mktemp("searched") / "games"
    with StoreWriter(path) as writer:
        for seed in range(30):
            writer.add(self_played(seed, (7,)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("losses", "data", "message"),
    [
        ({}, {}, None),
        ({"reply": 0.5}, {}, "learned the visits or labels of .* instead of the moves played; give another folder"),
        ({"soft": 0.5}, {}, "learned the visits or labels"),
        ({}, {"teacher": {"network": "zero-7x7"}}, None),
        ({"soft": 0.5}, {"teacher": {"network": "zero-7x7"}}, None),
        ({"reply": 0.5}, {"teacher": {"network": "zero-7x7"}}, "learned the visits or labels"),
        ({}, {"teacher": {}}, "weighted the positions of .* by the surprise of their searches; give another folder"),
    ],
)
def test_a_run_of_an_earlier_version_does_not_go_on_with_other_targets(
    settings: dict[str, Any],
    searched: Path,
    tmp_path: Path,
    losses: dict[str, float],
    data: dict[str, Any],
    message: str | None,
) -> None:
    settings["network"] |= {"reply": True, "soft": True}
    settings["training"] |= {"steps": 1, "losses": losses}
    settings["data"] |= {"store": str(searched), **data}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    change_identity(tmp_path / "run", lambda same: same["data"].pop("targets"))
    settings["training"]["steps"] = 2
    if message is not None:
        with pytest.raises(RecipeError, match=f"a run of an earlier version of Tengen, which {message}"):
            train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
        return
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)


@pytest.mark.slow
def test_a_run_of_an_earlier_version_goes_on_where_its_store_has_no_visits(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    settings["network"] |= {"reply": True, "soft": True}
    settings["training"] |= {"steps": 1, "losses": {"reply": 0.5, "soft": 0.5}}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    change_identity(tmp_path / "run", lambda same: same["data"].pop("targets"))
    settings["training"]["steps"] = 2
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)


@pytest.mark.slow
def test_options_that_had_no_effect_are_left_out_when_a_run_goes_on(
    settings: dict[str, Any], tmp_path: Path, registered: Callable[..., None]
) -> None:
    """Those of a registered optimizer have one."""
    registered(OPTIMIZERS, "ours", OPTIMIZERS["adam"])
    more = {"lr": 0.001, "weight_decay": 0.1}
    for name in ("adam", "ours"):
        settings["training"] |= {"steps": 1, "optimizer": {"name": name, "lr": 0.01, "options": {"eps": 1e-6}}}
        train(RunConfig.model_validate(settings), tmp_path / name, show_progress=False)
        change_identity(tmp_path / name, lambda same: same["training"]["optimizer"]["options"].update(more))
    settings["training"]["steps"] = 2
    with pytest.raises(RecipeError, match=r"training\.optimizer\.options\.lr = 0\.001, not null"):
        train(RunConfig.model_validate(settings), tmp_path / "ours", show_progress=False)
    settings["training"]["optimizer"] |= {"name": "adam", "options": {"eps": 1e-5}}
    with pytest.raises(RecipeError, match=r"training\.optimizer\.options\.eps = 1e-06, not 1e-05"):
        train(RunConfig.model_validate(settings), tmp_path / "adam", show_progress=False)
    settings["training"]["optimizer"]["options"] = {"eps": 1e-6}
    train(RunConfig.model_validate(settings), tmp_path / "adam", show_progress=False)


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
