"""Labels of a teacher: what a store keeps of them, and what a sampler makes of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from labelling import GAMES, label, labelled
from training.small_run import SIZE, random_record, write_store

from tengen.data import LabelSampler, Store, TargetMix
from tengen.data.record import GameRecord, pack_shares, unpack_shares
from tengen.data.writer import StoreWriter
from tengen.engine.label import RULE_SETS, Labeller, LabelPlan, games_between_saves
from tengen.evaluators import Evaluator, UniformEvaluator, load_evaluator


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(write_store(tmp_path_factory.mktemp("label") / "games", GAMES))


@pytest.fixture(scope="module")
def teacher() -> Evaluator:
    return load_evaluator("zero-7x7")


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


def test_a_teacher_that_does_not_see_komi_labels_games_as_they_were_played(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tengen.evaluators.load_evaluator", lambda *args, **named: UniformEvaluator())
    out = tmp_path / "labels"
    assert label(store.path, out) == 2
    assert "does not see komi and rules" in (said := capsys.readouterr().err) and "label with --no-vary-rules" in said
    assert not out.exists()
    assert label(store.path, out, "--no-vary-rules") == 0


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


def test_the_mean_of_the_symmetries_labels(store: Store, teacher: Evaluator) -> None:
    """Against the network itself on the game played turned in all eight ways, its policy turned back by hand."""

    def place(point: int, symmetry: int) -> int:
        row, column = divmod(point, SIZE)
        row = SIZE - 1 - row if symmetry & 1 else row
        column = SIZE - 1 - column if symmetry & 2 else column
        return column * SIZE + row if symmetry & 4 else row * SIZE + column

    plan = LabelPlan(per_game=2, vary_rules=False, average_symmetries=True)
    for record in Labeller([store], teacher, plan).label(0, 4):
        assert record.visits is not None
        for ply in labelled(record):
            moves = record.points[:ply].tolist()
            games = [record.game(0) for _ in range(8)]
            for symmetry, game in enumerate(games):
                for point in moves:
                    game.play(place(point, symmetry) if point < SIZE**2 else point)
            raw = teacher.evaluate(games)
            assert raw.score is not None
            assert record.root_values[ply] == pytest.approx(raw.value.mean(), abs=1e-5)
            assert record.root_scores[ply] == pytest.approx(raw.score.mean(), abs=1e-3)
            for packed in record.visits[ply].tolist():
                point, share = packed & 0xFFFF, packed >> 16
                back = [place(point, s) if point < SIZE**2 else point for s in range(8)]
                assert share / 65535 == pytest.approx(np.mean([raw.policy[s, p] for s, p in enumerate(back)]), abs=2e-3)


class Valueless(UniformEvaluator):
    has_value = False


def test_a_teacher_without_values_labels_none(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = Labeller([store], Valueless(), LabelPlan(per_game=2)).label(0, 3)
    assert all(np.isnan(record.root_values).all() and list(labelled(record)) for record in records)
    monkeypatch.setattr("tengen.evaluators.load_evaluator", lambda name, device, batch: Valueless())
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
