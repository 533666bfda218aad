"""Which rows of a store of labels are whose, and how `tengen label` goes on with them."""

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from labelling import GAMES, label, labelled
from training.small_run import random_record, write_store

from tengen.cli.app import main
from tengen.data import LabelSampler, Store
from tengen.data.record import GameRecord
from tengen.data.stats import collect
from tengen.data.writer import StoreAppender, StoreWriter
from tengen.engine.label import Labeller
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import load_onnx, read_card


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(write_store(tmp_path_factory.mktemp("label") / "games", GAMES))


def test_the_same_command_goes_on(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for games in ("5", "9"):
        assert label(store.path, tmp_path / "parts", "--games", games) == 0
    assert label(store.path, tmp_path / "whole", "--games", "9") == 0
    parts, whole = (list(Store.open(tmp_path / name)) for name in ("parts", "whole"))
    assert len(parts) == 9
    for one, other in zip(parts, whole, strict=True):
        assert (one.hash, one.rules, one.komi, one.root_ownership) == (
            other.hash, other.rules, other.komi, other.root_ownership
        )  # fmt: skip
        np.testing.assert_array_equal(one.root_values, other.root_values)
    capsys.readouterr()
    assert label(store.path, tmp_path / "parts", "--visits", "2") == 2
    assert "other labels" in capsys.readouterr().err
    plain = write_store(tmp_path / "plain", 2)
    assert label(store.path, plain) == 2
    assert "is a store without labels" in capsys.readouterr().err and len(Store.open(plain)) == 2


def test_other_games_at_the_path_of_a_store_are_refused(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many games, but in another order: some would be labelled twice and others never."""
    source, out = tmp_path / "games", tmp_path / "labels"
    shutil.copytree(store.path, source)
    assert label(source, out, "--games", "2") == 0
    shutil.rmtree(source)
    with StoreWriter(source) as writer:
        for record in reversed(list(store)):
            writer.add(record)
    capsys.readouterr()
    assert label(source, out, "--games", "4") == 2
    assert "other labels (labels: stores" in capsys.readouterr().err
    assert len(Store.open(out)) == 2
    assert label(source, out, "--games", "4", "--add") == 0
    assert len(Store.open(out)) == 6
    # Earlier versions noted the path and the number of games alone.
    with StoreAppender(out) as appender:
        parts = appender.facts["labels"]
        for part in parts:
            del part["stores"][0]["sha256"]
        appender.set_facts({"labels": parts[:1]})
    assert label(source, out, "--games", "7") == 0
    assert len(Store.open(out)) == 7


def test_a_damaged_store_of_labels_gets_no_more(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels"
    assert label(store.path, out, "--games", "2") == 0
    [shard] = out.glob("*.arrow")
    shard.write_bytes(shard.read_bytes()[:-100])
    before = (out / "manifest.json").read_bytes()
    capsys.readouterr()
    for further in (["--games", "4"], ["--per-game", "2", "--add"]):
        assert label(store.path, out, *further) == 2
        assert "damaged or missing shard" in capsys.readouterr().err
        assert (out / "manifest.json").read_bytes() == before


def test_a_store_is_not_labelled_into_itself(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its labels would be those of games that it gets meanwhile."""
    out = tmp_path / "labels"
    assert label(store.path, out, "--games", "2") == 0
    capsys.readouterr()
    monkeypatch.chdir(out)
    assert label(out, Path("../labels"), "--per-game", "2", "--add") == 2
    assert "../labels is one of the stores to label" in capsys.readouterr().err
    assert len(Store.open(out)) == 2


def test_a_teacher_that_has_not_learned_the_boards_is_refused(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As one that labels in training is; `default` knows the boards of each network."""
    assert main(["label", str(store.path), "--teacher", "zero-9x9", "--out", str(tmp_path / "labels"), "--quiet"]) == 2
    assert "zero-9x9 learned 9x9, not 7x7, which are among the games" in capsys.readouterr().err
    assert not (tmp_path / "labels").exists()


def test_the_networks_of_default_are_named(store: Store, tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "boards") as writer:
        for seed, size in enumerate((9, 11, 9)):
            writer.add(random_record(seed, size=size))
    words = ["--teacher", "default", "--per-game", "1", "--out", str(tmp_path / "labels"), "--quiet"]
    assert main(["label", str(tmp_path / "boards"), *words]) == 0
    assert main(["label", str(store.path), *words, "--games", "2", "--add"]) == 0, "games of other boards"
    teacher = Store.open(tmp_path / "labels").manifest["teacher"]
    assert set(teacher["name"].split(", ")) == {"distilled-b8c64-2", "zero-7x7", "distilled-9x9", "distilled-13x13"}
    assert teacher["licence"] == "MIT"


def test_another_network_of_the_same_name_and_day_is_refused(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a network that was trained on since; the digest of earlier versions is not known."""
    network, out = tmp_path / "mine.onnx", tmp_path / "labels"
    model = load_onnx(find_network("zero-7x7"))
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, read_card(find_network("zero-7x7")).metadata())
    words = ["label", str(store.path), "--teacher", str(network), "--out", str(out), "--quiet", "--games"]
    onnx.save(model, network)
    assert main([*words, "2"]) == 0
    bias = next(each for each in model.graph.initializer if each.data_type == onnx.TensorProto.FLOAT)
    bias.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(bias) + 1, bias.name))
    onnx.save(model, network)
    capsys.readouterr()
    assert main([*words, "4"]) == 2
    assert "other labels (teacher: sha256" in capsys.readouterr().err
    with StoreAppender(out) as appender:
        teacher = {name: value for name, value in appender.facts["teacher"].items() if name != "sha256"}
        appender.set_facts({"teacher": teacher})
    assert main([*words, "4"]) == 0


@pytest.mark.slow
def test_labels_of_several_commands_in_one_store(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels"
    first, second = ("--games", "5"), ("--per-game", "3", "--add")
    assert label(store.path, out, *first) == 0
    with StoreAppender(out) as appender:  # as versions before wrote it
        [part] = appender.facts["labels"]
        appender.set_facts({"labels": {name: value for name, value in part.items() if name != "first"}})
    assert label(store.path, out, *second, "--games", "4") == 0
    assert label(store.path, out, *second) == 0  # more of them
    assert label(store.path, tmp_path / "apart", "--per-game", "3") == 0
    together, apart = list(Store.open(out)), list(Store.open(tmp_path / "apart"))
    assert [len(list(labelled(record))) for record in together] == [8] * 5 + [3] * GAMES
    for one, other in zip(together[5:], apart, strict=True):
        np.testing.assert_array_equal(one.root_values, other.root_values)
    assert len(LabelSampler(Store.open(out), batch_size=8).game_rows) == 5 + GAMES
    # The first command is done; more of its games would come after the others.
    assert label(store.path, out, *first) == 0
    capsys.readouterr()
    assert label(store.path, out, "--games", "6") == 2
    assert "has 5 of these 6 games, and other labels after them" in capsys.readouterr().err
    # Another teacher is refused, with --add too.
    assert main(["label", str(store.path), "--teacher", "distilled-b8c64", "--out", str(out), "--quiet", "--add"]) == 2
    assert "teacher: name zero-7x7, not distilled-b8c64" in capsys.readouterr().err
    assert len(Store.open(out)) == 5 + GAMES


def test_labels_without_a_game_give_way_to_those_of_another_command(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that was interrupted in its first games is not taken for one that is done."""
    out = tmp_path / "labels"
    first, second = ("--games", "5"), ("--games", "4", "--per-game", "3", "--add")

    def interrupted(*_: object) -> list[GameRecord]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Labeller, "label", interrupted)
        assert label(store.path, out, *first) == 130
    assert label(store.path, out, *second) == 0
    [part] = Store.open(out).manifest["labels"]
    assert (part["per_game"], part["first"]) == (3, 0)
    # Earlier versions kept the entry of the first command.
    with StoreAppender(out) as appender:
        appender.set_facts({"labels": [{**part, "per_game": 8}, part]})
    capsys.readouterr()
    assert label(store.path, out, *first) == 2
    assert "other labels (labels: per game 3, not 8); choose another folder, or --add" in capsys.readouterr().err
    assert label(store.path, out, *first, "--add") == 0
    assert [len(list(labelled(record))) for record in Store.open(out)] == [3] * 4 + [8] * 5
    with monkeypatch.context() as patch:
        patch.setattr(Labeller, "label", interrupted)
        assert label(store.path, out, "--per-game", "2", "--add") == 130
    assert label(store.path, out, "--games", "6") == 0
    assert [len(list(labelled(record))) for record in Store.open(out)] == [3] * 4 + [8] * 6
    assert [(part["per_game"], part["first"]) for part in Store.open(out).manifest["labels"]] == [(3, 0), (8, 4)]


def test_labels_of_one_symmetry_and_of_the_mean_of_eight_are_others(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels of an earlier version, which has no word of it, are of one."""
    out = tmp_path / "labels"
    assert label(store.path, out, "--games", "2") == 0
    with StoreAppender(out) as appender:
        [part] = appender.facts["labels"]
        assert part.pop("average_symmetries") is False
        appender.set_facts({"labels": [part]})
    assert label(store.path, out, "--games", "3") == 0
    capsys.readouterr()
    assert label(store.path, out, "--games", "4", "--average-symmetries") == 2
    assert "average symmetries False, not True" in capsys.readouterr().err


def test_stats_count_labels_as_labels(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They were called the visits of self-play, and the teacher was not named."""
    out = tmp_path / "labels"
    assert label(store.path, out, "--games", "4") == 0
    stats = collect(Store.open(out))
    assert (stats.with_labels, stats.teacher, stats.with_visits) == (4, "zero-7x7", 0)
    capsys.readouterr()
    assert main(["stats", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "4 (100.0%) by zero-7x7" in shown and "visits" not in shown
