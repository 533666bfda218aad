"""`tengen train`: from the games of a person to a network, and what it says before it trains."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from training.small_run import GAMES, settings_of

from tengen.cli.app import main
from tengen.data.planes import plane_set
from tengen.data.store import Store
from tengen.evaluators.network_file import read_card
from tengen.training.config import RunConfig


@pytest.mark.parametrize(("settings", "edge"), [({}, 19), ({"board_size": 9}, 9)])
def test_the_cost_is_that_of_the_only_board_else_of_19x19(settings: dict[str, Any], edge: int) -> None:
    pytest.importorskip("torch", reason="training needs the extra [train]")
    from tengen.cli.train import _cost
    from tengen.networks import build, parse_config

    config = parse_config({"family": "preact", "filters": 8, "units": 1, **settings})
    planes = plane_set(config.plane_set)
    trainer: Any = SimpleNamespace(average=build(config, len(planes.planes), len(planes.scalars)))
    assert f"multiplications a position at {edge}x{edge}" in _cost(trainer, config.plane_set)


@pytest.mark.slow
def test_one_command_trains_on_the_games_of_a_player(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SGF files are imported into the folder of the run, once; the same command goes on with them."""
    pytest.importorskip("torch", reason="training needs the extra [train]")
    import yaml

    names = [("Ann", "Bob"), ("bob", "Cyd"), ("Cyd", "Ann")]
    for number, (black, white) in enumerate(3 * names):
        moves = ";".join(f"{'BW'[ply % 2]}[{'abcde'[number % 5]}{'abcde'[ply % 5]}]" for ply in range(5))
        other = ";".join(f"{'WB'[ply % 2]}[{'abcde'[(number + 1) % 5]}{'abcde'[ply]}]" for ply in range(5))
        (tmp_path / f"{number}.sgf").write_text(
            f"(;SZ[{9 + number // 5}]KM[{number}]PB[{black}]PW[{white}];{moves};{other})"
        )
    recipe = tmp_path / "mine.yaml"
    settings: dict[str, Any] = settings_of(Path("nowhere"))
    settings["data"] = {"validation_store": "nowhere", "validation_fraction": 0.3}
    recipe.write_text(yaml.safe_dump({**settings, "name": "mine"}))
    run = tmp_path / "run #1"
    words = ["train", str(recipe), str(tmp_path), "--out", str(run), "--set", "training.steps=4", "--quiet"]
    assert main([*words, "--player", "BOB"]) == 0
    store = Store.open(run / "games")
    printed = capsys.readouterr()
    assert [record.player for record in store] == 3 * [1, 0] and "filtered out 3" in printed.out
    assert f"network: {run / 'nets' / 'mine.onnx'}\n" in printed.err, "in one line, to copy it"
    assert f"run {run}: family residual, " in printed.err
    assert (run / "nets" / "mine.onnx").is_file()
    assert main([*words, "--player", "BOB"]) == 0
    printed = capsys.readouterr()
    assert "filtered out" not in printed.out, "the games are not imported again"
    assert "resumed after step 4: nothing is left to train\n" in printed.err
    assert main(words) == 2
    assert f"an earlier command, {tmp_path} --player BOB" in capsys.readouterr().err
    assert main([*words[:2], "elsewhere", *words[3:], "--player", "BOB"]) == 2
    capsys.readouterr()
    assert main([*words[:2], *words[3:], "--set", f"data.store={tmp_path}"]) == 2
    assert f"give them again after the recipe, {tmp_path} --player BOB, or another" in capsys.readouterr().err
    copied = shutil.copytree(run, tmp_path / "copied")
    assert main(["train", str(copied / "recipe.yaml"), "--out", str(copied), "--quiet"]) == 0
    (copied / "recipe.yaml").write_text("kind: selfplay\n")
    assert main([*words[:2], "--out", str(copied), "--set", f"data.store={tmp_path}"]) == 2
    assert "holds a run of kind selfplay" in capsys.readouterr().err
    card = read_card(run / "nets" / "mine.onnx")
    assert card.data == f"the games of {tmp_path.name}, the moves of BOB"
    assert card.reproduce == f"tengen train {recipe} {tmp_path} --player BOB --set training.steps=4"
    for wrong, message in (
        ([*words[:2], "--player", "Bob"], "--player chooses among GAMES"),
        ([*words, "--set", "data.store=other"], "--set data.store=other and GAMES both"),
    ):
        assert main(wrong) == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.optimizer.name=adamm", "did you mean adam"),
        ("training.losses.reply=1", "reply"),
        ("data.validation_store=stores/nope", "stores/nope"),
        ("data.teacher.network=nope", "nope"),
        ("start=nope", "nope"),
        ("training.devices=128", "processor cores"),
    ],
)
def test_settings_are_checked_before_the_games_are_imported(
    setting: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="training needs the extra [train]")
    (tmp_path / "one.sgf").write_text("(;SZ[9];B[ee])")
    run = tmp_path / "run"
    assert main(["train", "tiny", str(tmp_path / "one.sgf"), "--out", str(run), "--set", setting]) == 2
    assert message in capsys.readouterr().err and not run.exists()


def test_games_of_which_none_is_kept_leave_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="training needs the extra [train]")
    (tmp_path / "short.sgf").write_text("(;SZ[9];B[aa])")
    (tmp_path / "before").mkdir()
    for name in ("new", "before"):
        assert main(["train", "tiny", str(tmp_path / "short.sgf"), "--out", str(tmp_path / name)]) == 2
        assert "no game was kept" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"short.sgf", "before"}


@pytest.mark.slow
def test_games_of_a_run_that_has_not_begun_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One game is too few, and the run on a store of its own is not the one of the games. The same command finds the
    games that a folder has got since."""
    import yaml

    games = [
        f"(;SZ[9]KM[{number}];B[{'abcdefghi'[number % 9]}a];W[ab];B[ac];W[ad];B[ae];W[af];B[ag];W[ah];B[ai];W[bi])"
        for number in range(12)
    ]
    folder = tmp_path / "mine"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / "one.sgf").write_text(games[0])
    recipe, run = tmp_path / "mine.yaml", tmp_path / "run"
    settings: dict[str, Any] = settings_of(Path("nowhere"))
    settings["data"] = {"validation_store": "nowhere", "validation_fraction": 0.3}
    recipe.write_text(yaml.safe_dump({**settings, "name": "mine"}))
    words = ["--set", "training.steps=2", "--quiet"]
    for place in (tmp_path / "one.sgf", folder):
        assert main(["train", str(recipe), str(place), "--out", str(run), *words]) == 2
        assert "no position of the split 'train'" in capsys.readouterr().err
    (folder / "all.sgf").write_text("\n".join(games))
    assert main(["train", str(recipe), str(folder), "--out", str(run), *words]) == 0
    assert len(Store.open(run / "games")) > 1
    own = tmp_path / "own"
    data = ["--set", f"data.store={run / 'games'}", "--set", "data.validation_store=null"]
    assert main(["train", str(recipe), "--out", str(own), *data, *words]) == 0
    assert main(["train", str(recipe), str(tmp_path / "one.sgf"), "--out", str(own), *words]) == 2
    assert "holds a run on a store of games" in capsys.readouterr().err
    assert not (own / "games").exists()
    assert main(["match", str(run), "random", "--size", "9", "--out", str(tmp_path / "match")]) == 2
    assert f"is a folder, no network; its network is {run / 'nets' / 'mine.onnx'}" in capsys.readouterr().err


def test_train_says_what_it_made(trained: Path) -> None:
    assert (trained / "nets" / "mine.onnx").is_file()
    assert (trained / "report.html").is_file()


def test_a_network_of_one_size_tells_its_cost_there(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tengen.recipes.loader import network_fields
    from tengen.training.supervised import make_trainer
    from tengen.training.trainer import Trainer

    def begin(run: RunConfig, folder: Path, *, show_progress: bool, on_start: Callable[[Trainer[Any]], None]) -> Path:
        on_start(make_trainer(run, plane_set(network_fields(run.network).plane_set)), None)
        return folder

    monkeypatch.setattr("tengen.training.supervised.train", begin)
    recipe = tmp_path / "cody.yaml"
    recipe.write_text(f"name: cody\nnetwork: {{family: cody7x7}}\ndata: {{store: {store}}}\ntraining: {{steps: 1}}\n")
    assert main(["train", str(recipe)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "31 M multiplications a position at 7x7" in told and f"{GAMES} games of" in told


def test_a_store_that_is_missing_is_all_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "tiny", "--set", f"data.store={tmp_path / 'none'}", "--out", str(tmp_path / "run")]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and message.count("\n") == 1 and not (tmp_path / "run").exists()


def test_a_wrong_setting_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "tiny", "--set", "training.stepps=3"]) == 2
    message = capsys.readouterr().err
    assert message == "error: --set training.stepps=3: unknown key 'training.stepps'; did you mean training.steps?\n"
    assert message.startswith("error: ") and message.count("\n") == 1
