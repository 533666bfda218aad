"""A run that learns the linear playout policy: it ends, resumes as if unbroken, and says what does not fit."""

from __future__ import annotations

import base64
import json
import shutil
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from training.small_run import GAMES, write_store

from tengen import _native
from tengen.checksums import Integrity, sealed
from tengen.cli.app import main
from tengen.data.record import pack_moves
from tengen.data.sampler import OnePerGame
from tengen.data.store import Store, StoreWriter
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators.playout_file import find_playout, read_playout, read_playout_card, write_playout
from tengen.runs.checkpoints import DamagedCheckpoint
from tengen.runs.events import read_events
from tengen.runs.folder import RunFolder
from tengen.runs.interruption import ShutdownFlag
from tengen.training import linear
from tengen.training.card import learned_games
from tengen.training.config import LinearRun
from tengen.training.linear import evaluate_playout, train_linear


@pytest.fixture
def run(store: Path) -> LinearRun:
    return LinearRun.model_validate(
        {
            "name": "small",
            "kind": "linear-playout",
            "data": {"store": str(store), "validation_fraction": 0.2},
            "training": {
                "games": 70,  # more than there are, so that some come twice
                "log_every": 8,
                "validate_every": 30,
                "checkpoint_every": 10,
            },
        }
    )


@pytest.fixture
def unbroken(run: LinearRun, tmp_path: Path) -> Path:
    return train_linear(run, tmp_path / "unbroken", show_progress=False)


def events(path: Path) -> list[dict[str, object]]:
    """What a run logged, without what depends on the clock."""
    entries = read_events(path.parent.parent)
    return [{name: value for name, value in entry.items() if name not in ("time", "rate")} for entry in entries]


def test_a_run_ends_with_a_file_and_a_log(run: LinearRun, unbroken: Path) -> None:
    card = read_playout_card(unbroken)
    assert card.name == "small" and card.family == "linear playouts" and card.positions == 70 * 24
    assert card.board_sizes == [7]
    assert card.metrics["top1_interval"][0] <= card.metrics["top1"] < card.metrics["top1_interval"][1]
    assert "value_mse" not in card.metrics
    assert [(e["event"], e["step"]) for e in events(unbroken)] == [
        *(("train", step) for step in (8, 16, 24)),
        ("validation", 30),
        *(("train", step) for step in (32, 40, 48, 56)),
        ("validation", 60),
        ("train", 64),
        ("final", 70),
    ]
    assert np.count_nonzero(read_playout(unbroken)) > 1000
    assert _native.run_playouts(_native.Game(9, "chinese", 7.5), 1, 1, f"linear:{unbroken}") > 40


def test_the_card_knows_the_games_that_a_short_run_saw(run: LinearRun, tmp_path: Path) -> None:
    seen = {}
    for games in (5, 70):
        short = run.model_copy(update={"training": run.training.model_copy(update={"games": games})})
        card = read_playout_card(train_linear(short, tmp_path / str(games), show_progress=False))
        (learned,) = learned_games(card.provenance)
        seen[games] = len(base64.b64decode(learned["sample"])) // 8
    assert seen[5] == 5 < seen[70] < 70


def test_a_stopped_run_ends_as_the_unbroken_one(
    run: LinearRun, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class After(threading.Event):
        """Set when asked for the 20th time: Ctrl-C in the middle of a run."""

        left = 20

        def is_set(self) -> bool:
            self.left -= 1
            return self.left <= 0

    class StopSoon(ShutdownFlag):
        def __init__(self) -> None:
            super().__init__()
            self.event = After()

    monkeypatch.setattr(linear, "ShutdownFlag", StopSoon)
    stops = 0
    while True:
        try:
            path = train_linear(run, tmp_path / "stopped", show_progress=False)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 2
    assert np.array_equal(read_playout(path), read_playout(unbroken))
    assert events(path) == events(unbroken)


def test_a_killed_run_ends_as_the_unbroken_one(
    run: LinearRun, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get = linear._Games.__getitem__
    for deadly in (3, 27, 49):

        def dying(games: linear._Games, place: int, deadly: int = deadly) -> object:
            if place == deadly:
                raise RuntimeError("killed")
            return get(games, place)

        with monkeypatch.context() as patch:
            patch.setattr(linear._Games, "__getitem__", dying)
            with pytest.raises(RuntimeError):
                train_linear(run, tmp_path / "killed", show_progress=False)
    path = train_linear(run, tmp_path / "killed", show_progress=False)
    assert np.array_equal(read_playout(path), read_playout(unbroken))
    assert events(path) == events(unbroken)


@pytest.mark.parametrize("damage", ["cut", "one bit"])
def test_a_damaged_checkpoint_costs_the_games_since_the_one_before(
    damage: str, run: LinearRun, unbroken: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder of a run that has ended; with both damaged nothing is learned anew in silence."""
    folder = unbroken.parent.parent / "checkpoints"
    kept = sorted(folder.iterdir())
    assert [path.name for path in kept] == ["step-00000060.ckpt", "step-00000070.ckpt"]
    assert {sealed(path) for path in kept} == {Integrity.INTACT}
    steps, log = read_playout(unbroken), events(unbroken)

    def spoil(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else data)

    spoil(kept[1])
    train_linear(run, unbroken.parent.parent, show_progress=False)
    assert f"{kept[1]} is" in caplog.text and "the checkpoint before it is taken" in caplog.text
    assert np.array_equal(read_playout(unbroken), steps) and events(unbroken) == log
    assert sorted(folder.iterdir()) == kept
    for path in kept:
        spoil(path)
    with pytest.raises(DamagedCheckpoint, match=r"step-00000060\.ckpt is (damaged|altered)"):
        train_linear(run, unbroken.parent.parent, show_progress=False)


def test_a_folder_of_another_run_is_refused(run: LinearRun, unbroken: Path) -> None:
    other = run.model_copy(update={"training": run.training.model_copy(update={"rate": 0.5})})
    with pytest.raises(RecipeError, match=r"training.rate = 0.05, not 0.5"):
        train_linear(other, unbroken.parent.parent, show_progress=False)


def test_a_run_with_other_validation_games_is_another_run(run: LinearRun, tmp_path: Path) -> None:
    """A validation store may move; with other games its figures would be those of another run."""
    apart = write_store(tmp_path / "apart", 12)
    run = run.model_copy(update={"data": run.data.model_copy(update={"validation_store": str(apart)})})
    train_linear(run, tmp_path / "run", show_progress=False)
    moved = apart.rename(tmp_path / "moved")
    run = run.model_copy(update={"data": run.data.model_copy(update={"validation_store": str(moved)})})
    train_linear(run, tmp_path / "run", show_progress=False)
    shutil.rmtree(moved)
    write_store(moved, 13)
    with pytest.raises(RecipeError, match=r"data.validation_games = 12 games \(.*\), not 13 games"):
        train_linear(run, tmp_path / "run", show_progress=False)


def test_a_store_may_move_and_one_that_was_imported_anew_is_noticed(run: LinearRun, tmp_path: Path) -> None:
    store = write_store(tmp_path / "store", 40)
    run = run.model_copy(update={"data": run.data.model_copy(update={"store": str(store), "validation_store": None})})
    train_linear(run, tmp_path / "run", show_progress=False)
    moved = store.rename(tmp_path / "moved")
    run = run.model_copy(update={"data": run.data.model_copy(update={"store": str(moved)})})
    train_linear(run, tmp_path / "run", show_progress=False)
    shutil.rmtree(moved)
    write_store(moved, 41)
    with pytest.raises(RecipeError, match=r"learned from \d+ games \(.*\), and its store holds .* now; give another"):
        train_linear(run, tmp_path / "run", show_progress=False)


def test_games_of_passes_alone_have_no_entry(run: LinearRun, tmp_path: Path) -> None:
    path = write_store(tmp_path / "store", 3)
    games = list(Store.open(path))
    with StoreWriter(path, overwrite=True) as writer:
        for game in [*games, replace(games[0], moves=pack_moves([0, 1], [49, 49]), hash=1)]:
            writer.add(game)
    data = run.data.model_copy(update={"store": str(path), "validation_store": str(write_store(tmp_path / "apart", 5))})
    training = run.training.model_copy(update={"games": 4, "log_every": 1})
    run = run.model_copy(update={"data": data, "training": training})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = train_linear(run, tmp_path / "run", show_progress=False)
    assert len([entry for entry in events(found) if entry["event"] == "train"]) == 3


def test_one_player_of_the_same_games_is_another_run(run: LinearRun, tmp_path: Path) -> None:
    """Half of the positions, and no resumption of the run that learned both players' moves."""
    path = tmp_path / "store"
    run = run.model_copy(update={"data": run.data.model_copy(update={"store": str(write_store(path, 40))})})
    train_linear(run, tmp_path / "run", show_progress=False)
    games = list(Store.open(path))
    with StoreWriter(path, overwrite=True) as writer:
        for game in games:
            writer.add(replace(game, player=1))
    with pytest.raises(RecipeError, match=r"learned from \d+ games \(.*\), and its store holds .* now; give another"):
        train_linear(run, tmp_path / "run", show_progress=False)
    assert read_playout_card(train_linear(run, tmp_path / "own", show_progress=False)).positions == 70 * 24 // 2


def test_two_do_not_train_in_one_folder(run: LinearRun, tmp_path: Path) -> None:
    with RunFolder(tmp_path, run.kind).lead(), pytest.raises(RecipeError, match="another process works on this run"):
        train_linear(run, tmp_path, show_progress=False)
    assert not (tmp_path / "recipe.yaml").exists()


@pytest.mark.parametrize(
    ("recipe", "kind"), [("name: a network's\n", "supervised"), ("kind: selfplay\n", "selfplay"), ("- 1\n", "unknown")]
)
def test_a_folder_of_a_run_of_another_kind_stays_as_it_is(
    run: LinearRun, tmp_path: Path, recipe: str, kind: str
) -> None:
    (tmp_path / "recipe.yaml").write_text(recipe, encoding="utf-8")
    with pytest.raises(RecipeError, match=f"holds a run of kind {kind}, not linear-playout"):
        train_linear(run, tmp_path, show_progress=False)
    assert (tmp_path / "recipe.yaml").read_text(encoding="utf-8") == recipe
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.yaml"]


def test_the_file_is_evaluated_as_its_playouts_draw(unbroken: Path, store: Path) -> None:
    """evaluate_playout, which sums features, against the weights that a tree search would get."""
    from tengen.game import Game

    opened = Store.open(store)
    sampler = OnePerGame(opened, "all", symmetries=False)
    results = evaluate_playout(unbroken, sampler, 20)
    rows = sampler.rows(0)
    for i in range(20):
        record = opened.row(int(rows.game[i]))
        game = Game(record.size)
        for move in record.moves[: rows.ply[i]]:
            game.play(int(move & 0x7FFF), color=int(move >> 15))
        weights = _native.playout_weights(game.native(), f"linear:{unbroken}").astype(np.float64)
        chance = weights[int(record.moves[rows.ply[i]] & 0x7FFF)] / weights.sum()
        if chance > 0:
            assert results.loss[i] == pytest.approx(-np.log(chance), rel=1e-3)
        else:
            assert results.loss[i] == pytest.approx(-np.log(1e-12)) and results.top1[i] == 0


def test_the_commands(run: LinearRun, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    recipe = tmp_path / "mine.yaml"
    recipe.write_text(yaml.safe_dump(run.model_dump(mode="json", exclude={"name"})))
    folder = tmp_path / "run"
    assert main(["train", str(recipe), "--set", "training.games=20", "--out", str(folder), "--quiet"]) == 0
    path = str(folder / "nets" / "mine.playout")
    assert main(["nets", path, "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["name"] == "mine" and card["reproduce"] == "tengen train mine.yaml --set training.games=20"
    assert card["data"] == f"the games of {store.name}"
    evaluated = []
    for split in ("all", "auto"):
        assert main(["evaluate", path, str(store), "--split", split, "--json"]) == 0
        evaluated.append(json.loads(capsys.readouterr().out))
    whole, held_out = evaluated
    assert (whole["split"], held_out["split"]) == ("all", "validation")
    assert whole["positions"] == GAMES > held_out["positions"] > 0  # by itself on the games that it did not learn from
    assert main(["evaluate", path, str(store)]) == 0
    capsys.readouterr()
    for option, value in (("--device", "cpu"), ("--precision", "f32")):  # of networks alone
        assert main(["evaluate", path, str(store), option, value]) == 2
        assert f"{option} {value} is for networks" in capsys.readouterr().err
    assert main(["train", str(recipe), "--set", "training.gamse=20"]) == 2
    assert "did you mean training.games?" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "none.playout"), str(store)]) == 2
    assert "no network or playout policy" in capsys.readouterr().err


def test_the_shipped_policy() -> None:
    card = read_playout_card(find_playout("linear"))
    assert card.name == "linear-tygem" and card.metrics["top1"] > 0.24
    assert find_playout("linear").stat().st_size < 1_000_000
    assert "linear" in _native.playout_policies()
    assert _native.run_playouts(_native.Game(9, "chinese", 7.5), 2, 1, "linear") > 80


def test_bad_files_are_named(unbroken: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.playout"
    bad.write_bytes(b"nothing of the kind")
    with pytest.raises(NetworkError, match=r"bad.playout is no file of linear playout weights"):
        read_playout_card(bad)
    with pytest.raises(NetworkError, match=r"bad.playout is no file of linear playout weights"):
        read_playout(bad)
    for absent in (tmp_path / "none.playout", tmp_path):
        with pytest.raises(NetworkError, match=rf"{absent} cannot be read"):
            read_playout(absent)
    whole = unbroken.read_bytes()
    bad.write_bytes(whole[:-100] + b"\x55" + whole[-99:])
    with pytest.raises(NetworkError, match="damaged"):
        read_playout(bad)
    write_playout(bad, read_playout_card(unbroken), read_playout(unbroken))
    assert bad.read_bytes() == whole


def test_a_search_takes_any_file_of_weights(unbroken: Path, tmp_path: Path) -> None:
    from tengen.engine.params import SearchParams

    assert SearchParams(playout=f"linear:{unbroken}").playout == f"linear:{unbroken}"
    for absent in (tmp_path / "none.playout", tmp_path):
        with pytest.raises(ValueError, match=rf"{absent} cannot be read"):
            SearchParams(playout=f"linear:{absent}")
