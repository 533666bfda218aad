"""Labels of a teacher: what a store keeps of them, and what a sampler makes of it."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from training.small_run import SIZE, random_record, write_store

from tengen.cli.app import main
from tengen.cli.label import games_between_saves
from tengen.data import LabelSampler, Store, TargetMix
from tengen.data.record import GameRecord, pack_shares, unpack_shares
from tengen.data.writer import StoreAppender, StoreWriter
from tengen.engine.label import RULE_SETS, Labeller, LabelPlan
from tengen.evaluators import Evaluator, UniformEvaluator, load_evaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import load_onnx, read_card

GAMES = 12


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(write_store(tmp_path_factory.mktemp("label") / "games", GAMES))


@pytest.fixture(scope="module")
def teacher() -> Evaluator:
    return load_evaluator("zero-7x7")


def labelled(record: GameRecord) -> Iterator[int]:
    assert record.visits is not None
    return (ply for ply, moves in enumerate(record.visits) if len(moves))


def label(store: Path, out: Path, *options: str) -> int:
    return main(["label", str(store), "--teacher", "zero-7x7", "--out", str(out), "--quiet", *options])


def test_targets_are_what_the_teacher_says_turned_as_the_board(
    store: Store, tmp_path: Path, teacher: Evaluator
) -> None:
    """Position by position against the network itself on the replayed game, turned by numpy."""
    out = tmp_path / "labels"
    assert label(store.path, out, "--per-game", "3", "--seed", "5") == 0
    found = Store.open(out)
    mix = TargetMix(value=1, score=1, ownership=1)
    sampler = LabelSampler(found, batch_size=3 * GAMES, seed=2, mix=mix, edge=SIZE + 2)
    batch = sampler.batch(0)
    seen = set()
    for row, place in enumerate(sampler._order(np.arange(3 * GAMES))):
        game, ply = int(sampler._game[place]), int(sampler._ply[place])
        symmetry = int(sampler._order.symmetries(np.array([row]))[0])
        record = found.row(game)
        raw = teacher.evaluate([record.game(ply)])
        seen.add((record.rules, record.komi, symmetry > 0))

        def turned(board: np.ndarray, symmetry: int = symmetry) -> np.ndarray:
            board = board.reshape(SIZE, SIZE)
            board = board[::-1] if symmetry & 1 else board
            board = board[:, ::-1] if symmetry & 2 else board
            return board.T if symmetry & 4 else board

        assert batch.value[row] == pytest.approx(raw.value[0], abs=1e-5)
        assert raw.score is not None and batch.score[row] == pytest.approx(raw.score[0], abs=1e-3)
        policy = raw.policy[0]
        wanted = np.zeros((SIZE + 2, SIZE + 2))
        wanted[:SIZE, :SIZE] = turned(policy[:-1])
        assert batch.target is not None
        np.testing.assert_allclose(batch.target[row], [*wanted.ravel(), policy[-1]], atol=2e-3)
        assert raw.ownership is not None
        np.testing.assert_allclose(batch.ownership[row, :SIZE, :SIZE], turned(raw.ownership[0]), atol=1 / 15 + 1e-6)
        assert np.isnan(batch.ownership[row, SIZE:]).all()
    assert len({rules for rules, *_ in seen}) > 2 and len({komi for _, komi, _ in seen}) > 2


def test_shares_of_labels_and_records(store: Store, teacher: Evaluator, tmp_path: Path) -> None:
    out = tmp_path / "labels"
    assert label(store.path, out, "--per-game", "2", "--no-vary-rules") == 0
    found = Store.open(out)

    def drawn(**mix: float) -> LabelSampler:
        return LabelSampler(found, batch_size=2 * GAMES, symmetries=False, mix=TargetMix(**mix))

    plain, full = drawn(policy=1).batch(0), drawn(policy=1, value=1, score=1).batch(0)
    half = drawn(policy=0.25, temperature=2, value=0.25, score=0.25, ownership=1).batch(0)
    for name in ("value", "score"):
        record, whole, mixed = (getattr(batch, name) for batch in (plain, full, half))
        np.testing.assert_allclose(mixed, 0.75 * record + 0.25 * whole, rtol=1e-5)
    assert set(np.unique(plain.value)) == {-1.0, 1.0}
    assert plain.target is not None and half.target is not None
    soft = np.sqrt(plain.target)
    wanted = 0.25 * soft / soft.sum(1, keepdims=True)
    wanted[np.arange(2 * GAMES), plain.policy] += 0.75
    np.testing.assert_allclose(half.target, wanted, rtol=1e-4, atol=1e-6)
    # The result is unknown, the label is not.
    assert np.isnan(plain.ownership).all() and not np.isnan(half.ownership).any()


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


def test_a_teacher_that_does_not_see_komi_labels_games_as_they_were_played(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tengen.cli.label.load_evaluator", lambda *args, **named: UniformEvaluator())
    out = tmp_path / "labels"
    assert label(store.path, out) == 2
    assert "does not see komi and rules" in (said := capsys.readouterr().err) and "label with --no-vary-rules" in said
    assert not out.exists()
    assert label(store.path, out, "--no-vary-rules") == 0


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


def test_games_between_saves() -> None:
    """Fewer where a position takes more visits, but enough positions for the searches at once."""
    for per_game, visits, batch, games in (
        (8, 1, 64, 64), (8, 1, 1024, 64), (8, 4, 64, 16), (8, 400, 64, 8), (8, 400, 1024, 64), (3, 400, 64, 22),
        (8, 400, 1, 1), (300, 400, 64, 1),
    ):  # fmt: skip
        assert games_between_saves(LabelPlan(per_game, visits), batch) == games


def test_searched_labels_are_the_same_in_any_parts(store: Store) -> None:
    labeller = Labeller([store], load_evaluator("zero-7x7", precision="f32"), LabelPlan(per_game=3, visits=20))
    parts = [labeller.label(0, 1), labeller.label(1, 2), labeller.label(3, 99)]
    for one, other in zip(labeller.label(0, 99), [record for part in parts for record in part], strict=True):
        assert one.visits is not None and other.visits is not None
        for wanted, found in zip(one.visits, other.visits, strict=True):
            np.testing.assert_array_equal(wanted, found)
        np.testing.assert_allclose(one.root_values, other.root_values, atol=1e-5)


def test_positions_of_one_player_are_that_players(store: Store, teacher: Evaluator, tmp_path: Path) -> None:
    """Spread over the moves of the player; of a game without any there is none."""
    with StoreWriter(tmp_path / "own") as writer:
        for number, record in enumerate(store):
            writer.add(replace(record, player=(0, 1, 2, None)[number % 4]))
        writer.add(replace(random_record(99), player=1, moves=random_record(99).moves[:1]))
    for record in Labeller([Store.open(tmp_path / "own")], teacher, LabelPlan(per_game=3, seed=4)).label(0, 99):
        plies, moves = list(labelled(record)), len(record.moves)
        if moves == 1:
            assert plies == []
        elif record.player in (0, 1):
            assert {int(record.colors[ply]) for ply in plies} == {record.player}
            assert [ply // 2 * 3 // (moves // 2) for ply in plies] == [0, 1, 2]
        else:
            assert [ply * 3 // moves for ply in plies] == [0, 1, 2]


def test_a_search_labels_with_its_visits(store: Store, teacher: Evaluator) -> None:
    records = Labeller([store], teacher, LabelPlan(per_game=1, visits=24, vary_rules=False), batch=4).label(0, 3)
    for record in records:
        [ply] = labelled(record)
        assert record.visits is not None and record.root_values is not None
        counts = (record.visits[ply] >> 16) / 65535
        assert counts.sum() == pytest.approx(1, abs=1e-3)
        assert np.allclose(23 * counts, np.round(23 * counts), atol=0.02)  # the root itself is the first visit
        assert -1 <= record.root_values[ply] <= 1


def test_labels_take_the_place_of_those_before(store: Store, teacher: Evaluator, tmp_path: Path) -> None:
    """Of a store of labels, and of self-play, whose searches left visits, values and surprises."""
    with StoreWriter(tmp_path / "first") as writer:
        for record in Labeller([store], teacher, LabelPlan(per_game=6, vary_rules=False)).label(0, 4):
            writer.add(replace(record, surprises=np.ones(len(record.moves), np.float32)))
    first = Store.open(tmp_path / "first")
    second = Labeller([first], teacher, LabelPlan(per_game=2, vary_rules=False, seed=1)).label(0, 4)
    for record in second:
        plies = list(labelled(record))
        assert len(plies) == 2 and record.surprises is None and record.root_values is not None
        assert np.flatnonzero(~np.isnan(record.root_values)).tolist() == plies
        assert [ply for ply, packed in enumerate(record.root_ownership or ()) if packed] == plies


class Valueless(UniformEvaluator):
    has_value = False


def test_a_teacher_without_values_labels_none(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = Labeller([store], Valueless(), LabelPlan(per_game=2)).label(0, 3)
    assert all(np.isnan(record.root_values).all() and list(labelled(record)) for record in records)
    monkeypatch.setattr("tengen.cli.label.load_evaluator", lambda name, device, batch: Valueless())
    assert label(store.path, tmp_path / "labels", "--visits", "2") == 2
    assert "has no value, which a search needs" in capsys.readouterr().err and not (tmp_path / "labels").exists()


def test_a_seed_that_cannot_be_is_refused(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert label(store.path, tmp_path / "labels", "--visits", "2", "--seed", "-1") == 2
    assert "-1" in capsys.readouterr().err and not (tmp_path / "labels").exists()


def test_rules_of_labels_have_no_result_of_others(store: Store, teacher: Evaluator) -> None:
    records = Labeller([store], teacher, LabelPlan(per_game=1)).label(0, GAMES)
    before = {record.hash: record for record in store}
    changed = [each for each in records if (each.rules, each.komi) != ("chinese", 0.5)]
    assert GAMES / 3 < len(changed) < GAMES
    assert all(each.winner is None and each.score is None for each in changed)
    assert {each.rules for each in records} <= {"chinese", *RULE_SETS}
    kept = [each for each in records if (each.rules, each.komi) == ("chinese", 0.5)]
    assert all(each.winner == before[each.hash].winner for each in kept)


@pytest.mark.parametrize("vary_rules", [False, True])
def test_a_game_of_unknown_komi_is_labelled_under_that_of_the_encoder(
    teacher: Evaluator, tmp_path: Path, vary_rules: bool
) -> None:
    """As the same game with komi 6.5; one whose rules and komi stay keeps its result."""
    plan = LabelPlan(per_game=2, vary_rules=vary_rules)

    def labels(komi: float | None) -> list[GameRecord]:
        with StoreWriter(tmp_path / f"{komi}") as writer:
            for seed in range(GAMES):
                writer.add(replace(random_record(seed), komi=komi))
        return Labeller([Store.open(tmp_path / f"{komi}")], teacher, plan).label(0, GAMES)

    for found, wanted in zip(labels(None), labels(6.5), strict=True):
        assert (found.komi, found.rules, found.winner) == (wanted.komi, wanted.rules, wanted.winner)
        np.testing.assert_array_equal(found.root_values, wanted.root_values)
        np.testing.assert_array_equal(found.root_scores, wanted.root_scores)
        assert (found.winner is not None) == ((found.komi, found.rules) == (6.5, "chinese"))


def test_shares_survive_packing() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 361).astype(np.float32)
    packed = pack_shares(values)
    assert len(packed) == 181
    assert np.abs(unpack_shares(packed, 361) - values).max() <= 1 / 15 + 1e-6
    np.testing.assert_allclose(unpack_shares(pack_shares(np.array([-1, 1], np.float32)), 2), [-1, 1])
