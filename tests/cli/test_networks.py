"""`tengen nets`, `tengen evaluate` and `tengen train` as a user meets them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import katago_twin
import numpy as np
import pytest
from training.small_run import random_record, settings_of, write_store

from tengen.cli import evaluate
from tengen.cli.app import main
from tengen.data.record import GameRecord, pack_moves
from tengen.data.split import choose
from tengen.data.store import Store, StoreWriter
from tengen.evaluators import network_file
from tengen.evaluators.network_file import Card, read_card
from tengen.training.card import games_learnt, share_learnt
from tengen.training.config import RunConfig
from tengen.training.metrics import PredictionResults

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("stores") / "random")


@pytest.fixture(scope="module")
def trained(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that the command carried out."""
    pytest.importorskip("torch", reason="training needs the extra [train]")
    import yaml

    folder = tmp_path_factory.mktemp("runs")
    recipe = folder / "mine.yaml"
    recipe.write_text(yaml.safe_dump({**settings_of(store), "name": "mine"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        assert main(["train", str(recipe), "--set", "training.steps=20", "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def installed(trained: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(network_file, "EMBEDDED", trained / "nets")
    monkeypatch.setattr(network_file, "DEFAULT_NAME", trained / "nets" / "default")
    return "mine"


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
    card = read_card(run / "nets" / "mine.onnx")
    assert card.data == f"the games of {tmp_path.name}, the moves of BOB"
    assert card.reproduce == f"tengen train {recipe} {tmp_path} --player BOB --set training.steps=4"
    for wrong, message in (
        ([*words[:2], "--player", "Bob"], "--player chooses among GAMES"),
        ([*words, "--set", "data.store=other"], "--set data.store=other and GAMES both"),
    ):
        assert main(wrong) == 2 and message in capsys.readouterr().err


def test_games_of_which_none_is_kept_leave_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="training needs the extra [train]")
    (tmp_path / "short.sgf").write_text("(;SZ[9];B[aa])")
    (tmp_path / "before").mkdir()
    for name in ("new", "before"):
        assert main(["train", "tiny", str(tmp_path / "short.sgf"), "--out", str(tmp_path / name)]) == 2
        assert "no game was kept" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"short.sgf", "before"}


def test_games_of_a_run_that_has_not_begun_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One game is too few, and the run on a store of its own is not the one of the games."""
    import yaml

    games = [
        f"(;SZ[9]KM[{number}];B[{'abcdefghi'[number % 9]}a];W[ab];B[ac];W[ad];B[ae];W[af];B[ag];W[ah];B[ai];W[bi])"
        for number in range(12)
    ]
    (tmp_path / "one.sgf").write_text(games[0])
    (tmp_path / "all.sgf").write_text("\n".join(games))
    recipe, run = tmp_path / "mine.yaml", tmp_path / "run"
    settings: dict[str, Any] = settings_of(Path("nowhere"))
    settings["data"] = {"validation_store": "nowhere", "validation_fraction": 0.3}
    recipe.write_text(yaml.safe_dump({**settings, "name": "mine"}))
    words = ["--set", "training.steps=2", "--quiet"]
    assert main(["train", str(recipe), str(tmp_path / "one.sgf"), "--out", str(run), *words]) == 2
    assert "no position of the split 'train'" in capsys.readouterr().err
    assert main(["train", str(recipe), str(tmp_path / "all.sgf"), "--out", str(run), *words]) == 0
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


def test_nets_lists_and_shows(installed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets"]) == 0
    assert "mine (default)" in capsys.readouterr().out.replace("\n", " ")
    assert main(["nets", "--json"]) == 0
    (card,) = json.loads(capsys.readouterr().out)
    assert card["name"] == "mine" and card["config"]["size"] == "b1c8"
    assert main(["nets", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "plane set" in shown and "tengen train mine" in shown
    assert main(["nets", "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == card


def test_int8_files_are_not_written_among_those_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets", "quantize", "zero-7x7"]) == 2
    assert "zero-7x7 comes with Tengen" in capsys.readouterr().err


def test_nets_says_which_network_is_the_default_where(installed: str, capsys: pytest.CaptureFixture[str]) -> None:
    network_file.DEFAULT_NAME.write_text("mine\n7 small\n9 mid\n", encoding="utf-8")
    try:
        assert main(["nets"]) == 0
    finally:
        network_file.DEFAULT_NAME.unlink()
    assert "\ndefault: small on 7x7, mid on 9x9, mine on all other board sizes\n" in capsys.readouterr().out


def test_nets_of_an_unknown_name(installed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets", "mina"]) == 2
    assert "did you mean mine?" in capsys.readouterr().err
    assert main(["nets", "liner"]) == 2
    assert "did you mean linear?" in capsys.readouterr().err


def test_an_unknown_name_is_told_all_that_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, last in ((["nets", "xyz"], "linear-tygem\n"), (["evaluate", "xyz", str(tmp_path)], "uniform\n")):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "'xyz'" in error and "there are: default, " in error and "linear, linear-tygem" in error
        assert error.endswith(last)


def test_evaluate_judges_one_position_a_game(installed: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = []
    for _ in range(2):
        assert main(["evaluate", "mine", str(store), "--json"]) == 0
        figures.append(json.loads(capsys.readouterr().out))
    assert figures[0] == figures[1]
    assert figures[0]["positions"] == 60
    assert figures[0]["top1"]["low"] <= figures[0]["top1"]["mean"] <= figures[0]["top1"]["high"]
    assert set(figures[0]["phases"]) == {"0-49"} and figures[0]["phases"]["0-49"]["positions"] == 60
    for row in figures[0]["calibration"]:
        assert 0 <= row["low"] <= row["won"] <= row["high"] <= 1
    assert sum(row["positions"] for row in figures[0]["calibration"]) == 60
    assert main(["evaluate", "mine", str(store)]) == 0
    printed = capsys.readouterr()
    assert "by phase of the game" in printed.out and "new to it" not in printed.err


def test_evaluate_judges_a_file_of_katago(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the network that it is converted to."""
    network, figures = katago_twin.written(tmp_path / "tiny.txt", metadata=False), []
    for path in (network, network_file.find_network(network)):
        assert main(["evaluate", str(path), str(store), "--json"]) == 0
        figures.append(json.loads(capsys.readouterr().out))
    assert figures[0]["positions"] == 60 and figures[0]["cross_entropy"] == figures[1]["cross_entropy"]


def test_evaluate_shows_the_agreement_with_labels(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = str(tmp_path / "labels")
    assert main(["label", str(store), "--teacher", "zero-7x7", "--per-game", "2", "--out", labels, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "zero-7x7", labels, "--json", "--positions", "50"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["positions"] == 50 and found["same_move"]["mean"] == 1
    assert all(found[key]["mean"] < 2e-3 for key in ("divergence", "teacher_value_mse", "teacher_score_error"))
    assert main(["evaluate", "zero-7x7", labels]) == 0
    assert "agreement with the labels: 60 positions" in capsys.readouterr().out


def test_evaluate_says_which_boards_a_network_never_learnt(
    installed: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with StoreWriter(tmp_path / "mixed") as writer:
        writer.add(next(iter(Store.open(store))))
        writer.add(GameRecord(9, pack_moves([0, 1], [40, 41]), hash=2))
    assert main(["evaluate", "mine", str(tmp_path / "mixed"), "--json"]) == 0
    boards, learnt = capsys.readouterr().err.splitlines()
    assert boards == "mine learnt 7x7: 1 of the store's 2 games are 9x9, new to it"
    assert learnt.startswith(
        f"warning: it learnt from about 50% of the games of {tmp_path / 'mixed'}, and holds none out:"
    )


def test_evaluate_judges_the_default_network_of_the_board(
    trained: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its own card, which tells what it learnt, and under its own name."""
    for path in (trained / "nets" / "mine.onnx", network_file.EMBEDDED / "zero-7x7.onnx"):
        shutil.copy(path, tmp_path)
    (tmp_path / "default").write_text("zero-7x7\n7 mine\n", encoding="utf-8")
    monkeypatch.setattr(network_file, "EMBEDDED", tmp_path)
    monkeypatch.setattr(network_file, "DEFAULT_NAME", tmp_path / "default")
    assert main(["evaluate", "default", str(store), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["network"] == "mine" and "warning: it learnt from the games of" in printed.err
    with StoreWriter(tmp_path / "mixed") as writer:
        writer.add(next(iter(Store.open(store))))
        writer.add(GameRecord(5, pack_moves([0, 1], [12, 13]), hash=2))
    assert main(["evaluate", "default", str(tmp_path / "mixed"), "--json"]) == 0
    assert "default plays 5x5 with other networks: mine is judged on all boards" in capsys.readouterr().err


@pytest.mark.parametrize("fraction", [None, 0.25])
def test_games_that_a_network_learnt_from_do_not_judge_it(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], fraction: float | None
) -> None:
    """Its own store, another that shares games with it, one that shares none, and a card that only names the store."""
    games, card = Store.open(store), Card(name="x", family="", config={}, plane_set="", board_sizes=[7])
    rows = np.flatnonzero(choose(games.hashes, "train", fraction) if fraction else np.ones(60, bool))
    card = card.model_copy(update={"provenance": {"games": games_learnt(games, rows, fraction)}})
    with StoreWriter(tmp_path / "half") as half, StoreWriter(tmp_path / "new") as new:
        for seed in range(60):
            (half if seed < 30 else new).add(random_record(seed))
            new.add(random_record(100 + seed))
    for path in (store, tmp_path / "half", tmp_path / "new"):
        found = evaluate._Games.choose(Store.open(path), card, "auto")
        said = capsys.readouterr().err
        assert found.split == ("validation" if fraction else "all") and "it learnt from" in said
        assert said.startswith("warning: ") == (fraction is None), path
        if fraction:
            assert not set(Store.open(path).hashes[found.sampler().game_rows]) & set(games.hashes[rows])
    with StoreWriter(tmp_path / "other") as other:
        for seed in range(200, 230):
            other.add(random_record(seed))
    assert evaluate._Games.choose(Store.open(tmp_path / "other"), card, "auto").split == "all"
    assert not capsys.readouterr().err
    assert evaluate._Games.choose(games, card, "all").split == "all"
    assert capsys.readouterr().err.startswith("warning: ")
    old = card.model_copy(update={"provenance": {}, "data": f"the games of {store.name}"})
    assert evaluate._Games.choose(games, old, "validation").fraction == 0.02
    assert evaluate._Games.choose(games, old, "auto").split in ("validation", "all")
    assert "it learnt from the games of" in capsys.readouterr().err


def test_a_sample_of_the_hashes_tells_the_share_of_shared_games() -> None:
    """5,000 games learnt from, of which the card keeps 512; another store has 3,000, a fifth of them the same."""
    random = np.random.default_rng(0)
    hashes = random.integers(0, 2**64, 10_000, np.uint64)
    of_nobody = np.full(5000, -1, np.int8)
    learnt = SimpleNamespace(
        hashes=hashes[:5000], path=Path("x"), manifest={"shards": []}, column=lambda name: of_nobody
    )
    games = games_learnt(learnt, np.arange(5000), 0.02)  # type: ignore[arg-type]
    assert len(games["sample"]) < 6000 and not games["complete"]
    assert share_learnt(games, hashes[4400:7400]) == pytest.approx(0.2, abs=0.06)
    assert share_learnt(games, hashes[5000:]) == 0


def test_an_interval_without_ends_is_valid_json(
    installed: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    assert main(["evaluate", "mine", str(store), "--positions", "1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert figures["cross_entropy"]["low"] is figures["cross_entropy"]["high"] is None


def test_few_positions_give_no_interval_that_cannot_be(
    installed: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "mine", str(store), "--positions", "1"]) == 0
    printed = capsys.readouterr().out
    assert "unknown" in printed and "inf" not in printed
    judged = PredictionResults(
        *(np.array(column, float) for column in ([0] * 3, [1] * 3, [1] * 3, [0] * 3, [0, 0, 1], [5] * 3)),
        np.arange(3),
    )
    assert judged.estimates()["value_mse"].low < 0
    evaluate._print("mine", judged, {})
    assert "0.000 to " in capsys.readouterr().out
    assert evaluate._as_json("mine", judged, {})["value_mse"]["low"] == 0  # type: ignore[index]


def test_evaluate_gives_the_figures_of_the_card(
    installed: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nets", "mine", "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert main(["evaluate", "mine", str(store), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["cross_entropy"]["mean"] == pytest.approx(card["metrics"]["cross_entropy"], abs=0.01)


def test_the_uniform_policy_is_chance(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "uniform", str(store), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["top1"]["mean"] == pytest.approx(1 / 50, rel=1e-3)
    assert figures["top5"]["mean"] == pytest.approx(5 / 50, rel=1e-3)


def test_a_missing_store_is_one_line(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "uniform", str(store / "nowhere")]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and "nowhere" in message and message.count("\n") == 1


def test_a_network_of_one_size_tells_its_cost_there(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tengen.data.planes import plane_set
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
    assert "31 M multiplications a position at 7x7" in told and "60 games of" in told


def test_a_store_that_is_missing_is_all_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "tiny", "--set", f"data.store={tmp_path / 'none'}", "--out", str(tmp_path / "run")]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and message.count("\n") == 1 and not (tmp_path / "run").exists()


def test_a_wrong_setting_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "tiny", "--set", "training.stepps=3"]) == 2
    message = capsys.readouterr().err
    assert message == "error: --set training.stepps=3: unknown key 'training.stepps'; did you mean steps?\n"
    assert message.startswith("error: ") and message.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["train", "tiny"], 2, "error: making and training networks needs the extra [train]: pip install"),
        (["evaluate", "uniform", "STORE", "--json"], 0, ""),
    ],
)
def test_without_the_extra(store: Path, args: list[str], status: int, message: str) -> None:
    program = (
        "import sys; sys.modules.update(torch=None, lightning=None, onnx=None)\n"
        "from tengen.cli.app import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [str(store) if word == "STORE" else word for word in args]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        timeout=100,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stderr[: len(message)]) == (status, message)
