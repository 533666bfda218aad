"""Batches from a store: the same positions as a replay, drawn once an epoch, a pure function of seed and step."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_pipeline.plain_batch import equal, policy_index, turn
from data_pipeline.self_play_games import self_played

from tengen.data import OnePerGame, PositionChoice, Rows, Sampler, Store, StoreWriter, encode_game
from tengen.data.label_sampler import LabelSampler
from tengen.data.record import UNKNOWN_KOMI, GameRecord, pack_moves
from tengen.data.seeds import derive
from tengen.errors import StoreError
from tengen.game import Game


def replayed(record: GameRecord, ply: int) -> Game:
    """Replay by the checked moves of Game; a store has no komi for some games."""
    game = record.game(ply)
    game.komi = UNKNOWN_KOMI if record.komi is None else record.komi
    return game


def all_rows(store: Store, games: range, symmetry: int) -> Rows:
    pairs = [(g, ply) for g in games for ply in range(len(store.row(g).moves) + 1)]
    game, ply = np.array(pairs, np.int64).T
    return Rows.as_played(
        np.ascontiguousarray(game), np.ascontiguousarray(ply), np.full(len(pairs), symmetry, np.int64)
    )


@pytest.mark.parametrize("symmetry", range(8))
def test_rows_encode_as_their_games_do(store: Store, symmetry: int) -> None:
    sampler = Sampler(store, "all", threads=2)
    rows = all_rows(store, range(symmetry * 10, symmetry * 10 + 10), symmetry)
    batch = sampler.encode(rows)
    for i, (g, ply) in enumerate(zip(rows.game.tolist(), rows.ply.tolist(), strict=True)):
        planes, scalars, mask = encode_game("tengen", replayed(store.row(g), ply), symmetry, sampler.edge)
        assert np.array_equal(batch.planes[i], planes), (g, ply)
        assert np.array_equal(batch.scalars[i], scalars) and np.array_equal(batch.mask[i], mask)


def drawn(sampler: Sampler) -> list[tuple[int, int]]:
    """(game, ply) of the positions of the first epoch, sorted."""
    rows = sampler.draw(0, sampler.positions)
    return sorted(zip(rows.game.tolist(), rows.ply.tolist(), strict=True))


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """30 games of 5 to 34 moves over two shards, a third of which are passes, with all kinds of beginnings and ends.

    Of half of the games one player's moves alone are learned.
    """
    path = tmp_path_factory.mktemp("passing") / "store"
    random = np.random.default_rng(4)
    with StoreWriter(path, rows_a_shard=17) as writer:
        for game in range(30):
            points = np.where(random.random(5 + game) < 0.35, 25, random.integers(0, 25, 5 + game))
            colors = np.arange(len(points)) % 2
            player = (None, 0, 1, 2)[game % 4]
            writer.add(GameRecord(5, pack_moves(colors, points), hash=int(random.integers(1 << 60)), player=player))
    return Store.open(path)


def learned(record: GameRecord, skip_passes: bool) -> list[int]:
    """The plies of the moves that a network learns of a game, in order."""
    return [
        ply
        for ply, (color, point) in enumerate(zip(record.colors.tolist(), record.points.tolist(), strict=True))
        if record.player in (None, 2, color) and not (skip_passes and point == record.size**2)
    ]


@pytest.mark.parametrize("plies", [(0, None), (3, 20)])
@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("limit", [{}, {"games": 9}, {"max_positions": 77}, {"games": 20, "max_positions": 50}])
def test_positions_are_those_asked_for(
    passing: Store, plies: tuple[int, int | None], skip: bool, limit: dict[str, int]
) -> None:
    choice = PositionChoice(plies=plies, skip_passes=skip, **limit)  # type: ignore[arg-type]
    sampler = Sampler(passing, "all", "tengen", 8, 1, choice=choice)
    last = 99 if plies[1] is None else plies[1]
    wanted = {
        game: [ply for ply in learned(record, skip) if plies[0] <= ply <= last] for game, record in enumerate(passing)
    }
    found = drawn(sampler)
    assert len(found) == len(set(found)) == sampler.positions
    games = {game for game, _ in found}
    assert len(games) == sampler.games == len(sampler.game_rows)
    cut = [game for game in games if [ply for g, ply in found if g == game] != wanted[game]]
    if "max_positions" in limit:
        assert len(found) == limit["max_positions"] and len(games) <= limit.get("games", 30) and len(cut) <= 1
        for game in cut:  # the last game is used from its beginning
            plies_of = [ply for g, ply in found if g == game]
            assert plies_of == wanted[game][: len(plies_of)]
    else:
        assert not cut and len(games) == limit.get("games", sum(map(bool, wanted.values())))


def test_a_sample_of_games_is_part_of_each_larger_one(passing: Store) -> None:
    few, more = (
        set(Sampler(passing, "all", choice=PositionChoice(games=games)).game_rows.tolist()) for games in (5, 12)
    )
    assert few < more and few != set(range(5)), "by hash, not in the order of the store"
    for asked, message in (
        ({"games": 31}, "30 .*data.games=null"),
        ({"max_positions": 10**6}, "data.max_positions=null"),
    ):
        with pytest.raises(StoreError, match=message):
            Sampler(passing, "all", choice=PositionChoice(**asked))  # type: ignore[arg-type]


@pytest.mark.parametrize("skip", [False, True])
def test_some_positions_of_each_game_are_spread_over_it(passing: Store, skip: bool) -> None:
    """One of each third of the moves that count, fixed over the epochs; all of a game with fewer."""
    choice = PositionChoice(positions_per_game=3, skip_passes=skip)
    sampler = Sampler(passing, "all", choice=choice, seed=1)
    found = drawn(sampler)
    again = sampler.draw(sampler.positions, sampler.positions)
    assert sorted(zip(again.game.tolist(), again.ply.tolist(), strict=True)) == found
    assert drawn(Sampler(passing, "all", choice=choice, seed=2)) != found
    for game, record in enumerate(passing):
        plies = learned(record, skip)
        numbers = [plies.index(ply) for g, ply in found if g == game]
        count = len(plies)
        if count <= 3:
            assert numbers == list(range(count))
        else:
            ends = [part * count // 3 for part in range(4)]
            assert all(first <= n < end for first, n, end in zip(ends, numbers, ends[1:], strict=False))
            assert len(numbers) == 3


def test_one_position_of_each_game_is_any_of_them(passing: Store) -> None:
    choice = PositionChoice(positions_per_game=1)
    plies = [drawn(Sampler(passing, "all", choice=choice, seed=seed))[28][1] for seed in range(400)]
    assert set(plies) == set(range(33)) and abs(np.mean(plies) - 16) < 1.5


@pytest.mark.parametrize("skip", [False, True])
def test_positions_of_opponents_have_results_and_no_moves(store: Store, tmp_path: Path, skip: bool) -> None:
    """All positions are drawn; where the opponent moves no policy is known."""
    with StoreWriter(tmp_path / "own", rows_a_shard=3) as writer:
        for number in range(8):
            writer.add(replace(store.row(number), player=(None, 0, 1, 2)[number % 4]))
    games = Store.open(tmp_path / "own")
    choice = PositionChoice(skip_passes=skip, opponents=True)
    sampler = Sampler(games, "all", batch_size=64, seed=3, choice=choice, targets=True)
    seen = []
    for step in range(sampler.steps_per_epoch):
        rows, batch = sampler.rows(step), sampler.batch(step)
        expected = sampler.encode(rows)
        assert batch.target is not None and expected.target is not None
        assert np.array_equal(batch.value, expected.value, equal_nan=True)
        for i, (game, ply) in enumerate(zip(rows.game.tolist(), rows.ply.tolist(), strict=True)):
            own = ply in learned(games.row(game), skip)
            assert batch.policy[i] == (expected.policy[i] if own else -1)
            assert np.array_equal(batch.target[i], expected.target[i] * own)
            seen.append((game, ply))
    both = [(game, ply) for game, record in enumerate(games) for ply in learned(replace(record, player=2), skip)]
    assert sorted(seen[: len(both)]) == both
    # At the end of a game, the last one of a file too, nobody moves.
    lengths = np.array([len(record.moves) for record in games], np.int64)
    ends = Rows.as_played(np.arange(8), lengths, np.zeros(8, np.int64))
    assert np.array_equal(sampler.encode(ends).policy, np.full(8, -1))


def test_a_validation_has_one_learned_move_of_each_game(passing: Store) -> None:
    """No pass where there is another."""
    found: dict[int, set[int]] = {}
    for seed in range(300):
        rows = OnePerGame(passing, "all", seed=seed, batch_size=40).rows(0)
        for game, ply in zip(rows.game.tolist(), rows.ply.tolist(), strict=True):
            found.setdefault(game, set()).add(ply)
    for game, record in enumerate(passing):
        assert found[game] == set(learned(record, True) or learned(record, False)[:1]), game


@pytest.mark.parametrize("symmetry", [0, 3, 6])
def test_targets_are_those_of_the_record(store: Store, symmetry: int) -> None:
    sampler = Sampler(store, "all")
    rows = all_rows(store, range(0, 100, 4), symmetry)
    batch = sampler.encode(rows)
    edge = sampler.edge
    for i, (g, ply) in enumerate(zip(rows.game.tolist(), rows.ply.tolist(), strict=True)):
        record = store.row(g)
        size, side = record.size, replayed(record, ply).to_play
        sign = 1 if side == 0 else -1
        expected = -1
        if ply < len(record.moves):
            expected = policy_index(int(record.points[ply]), size, symmetry, edge)
        assert batch.policy[i] == expected
        winner = {0: sign, 1: -sign, 2: 0, None: np.nan}[record.winner]
        assert np.array_equal(batch.value[i], winner, equal_nan=True)
        assert np.array_equal(batch.score[i], np.nan if record.score is None else sign * record.score, equal_nan=True)
        assert batch.weight[i] == (1 if record.weight is None else record.weight)
        owner = np.full((edge, edge), np.nan)
        if record.ownership is not None:
            values = np.array([sign, -sign, 0])[record.ownership].reshape(size, size)
            owner[:size, :size] = turn(values, symmetry)
        assert np.array_equal(batch.ownership[i], owner, equal_nan=True)


@pytest.mark.parametrize("shift", [0.0, 9.5, -30.0])
def test_a_game_under_other_rules_and_komi(store: Store, shift: float) -> None:
    sampler = Sampler(store, "all")
    rows = all_rows(store, range(0, 60, 3), 0)
    count = len(rows.game)
    other = np.arange(count) % 2 == 0
    batch = sampler.encode(replace(rows, other_scoring=other, komi_shift=np.full(count, shift, np.float32)))
    plain = sampler.encode(rows)
    assert np.array_equal(batch.policy, plain.policy)
    for i, (g, ply) in enumerate(zip(rows.game.tolist(), rows.ply.tolist(), strict=True)):
        record = store.row(g)
        game = replayed(record, ply)
        rules, komi = game.rules.text, game.komi
        if other[i]:
            area = game.rules.scoring == "area"
            rules += ",scoring=territory" if area else ",scoring=area"
            komi += -1 if area else 1
        if record.score is not None:
            komi += shift
        _, scalars, _ = encode_game("tengen", replayed(replace(record, rules=rules, komi=komi), ply), 0, sampler.edge)
        assert np.array_equal(batch.scalars[i], scalars)
        score, value = plain.score[i], plain.value[i]
        if record.score is not None and (shift or other[i]):
            margin = record.score + game.komi
            if other[i] and area:
                colors = [int(color) for color, point in record.game().moves if point != record.size**2]
                margin -= colors.count(0) - colors.count(1)
            elif other[i] and margin % 2 != record.size % 2:
                margin += 1
            score = (margin - komi) * (1 if game.to_play == 0 else -1)
            value = np.sign(score)
        assert np.array_equal(batch.score[i], score, equal_nan=True)
        assert np.array_equal(batch.value[i], value, equal_nan=True)


@pytest.mark.parametrize("scoring", ["area", "territory"])
def test_the_result_under_the_other_scoring_is_that_of_its_rules(scoring: str, tmp_path: Path) -> None:
    """Of games that random moves have played until every point belongs to a side, counted by both rules."""
    rng = np.random.default_rng(3)
    path, margins = tmp_path / "store", []
    with StoreWriter(path) as writer:
        for number in range(240):
            area, territory = (Game(5 + number % 3, rules=rules, komi=0) for rules in ("chinese", "japanese"))
            while not area.is_over:
                useful = area.native().useful_moves("none")
                point = int(rng.choice(useful)) if useful else area.size**2
                area.play(point)
                territory.play(point)
            played, points = np.array(area.moves).T
            more = int(((points != area.size**2) * (1 - 2 * played)).sum())
            if scoring == "territory" and more not in (0, 1):
                continue  # a player has passed early, which the score by territory does not tell
            own, other = (area, territory) if scoring == "area" else (territory, area)
            score = own.score() - 6.5
            record = GameRecord(area.size, pack_moves(played, points), rules=own.rules.text, komi=6.5, score=score)
            writer.add(replace(record, winner=int(score < 0)))
            margins.append(other.score())
    store = Store.open(path)
    games = np.arange(len(store))
    rows = Rows.as_played(games, np.zeros_like(games), np.zeros_like(games))
    batch = Sampler(store, "all").encode(replace(rows, other_scoring=np.ones(len(games), bool)))
    komi = 5.5 if scoring == "area" else 7.5
    assert len(games) > 25 and batch.score.tolist() == [margin - komi for margin in margins]
    assert batch.value.tolist() == [1 if margin > komi else -1 for margin in margins]


def test_rules_vary_only_where_asked(store: Store) -> None:
    plain = Sampler(store, "all", batch_size=4000, seed=1)
    varied = Sampler(store, "all", batch_size=4000, seed=1, rules="vary")
    assert not plain.rows(0).other_scoring.any() and not plain.rows(0).komi_shift.any()
    rows = varied.rows(0)
    assert np.array_equal(rows.ply, plain.rows(0).ply) and np.array_equal(rows.symmetry, plain.rows(0).symmetry)
    # The stones of a handicap count under area scoring alone: nobody knows the result under territory scoring.
    even = np.array([not store.row(g).handicap and store.row(g).first == 0 for g in rows.game.tolist()])
    assert 0.45 < rows.other_scoring[even].mean() < 0.55
    assert not rows.other_scoring[~even].any() and 500 < even.sum() < len(even)
    shifts = rows.komi_shift
    assert 0.4 < (shifts != 0).mean() < 0.5 and abs(shifts.mean()) < 0.5 and np.abs(shifts).max() <= 40
    assert np.array_equal(shifts * 2, np.round(shifts * 2))


def test_every_position_once_an_epoch(store: Store) -> None:
    sampler = Sampler(store, "all", batch_size=37, seed=5)
    drawn: list[tuple[int, int]] = []
    steps = 2 * sampler.positions // 37 + 1
    for step in range(steps):
        rows = sampler.rows(step)
        drawn += zip(rows.game.tolist(), rows.ply.tolist(), strict=True)
    everything = [(g, ply) for g in range(len(store)) for ply in range(len(store.row(g).moves))]
    first, second = drawn[: sampler.positions], drawn[sampler.positions : 2 * sampler.positions]
    assert sampler.positions == len(everything) == store.positions
    assert sorted(first) == sorted(second) == everything
    assert first != second and first != everything


def test_batches_depend_on_seed_and_step_alone(store: Store) -> None:
    sampler = Sampler(store, batch_size=50, seed=3)
    batches = [sampler.batch(step) for step in range(4)]
    resumed = Sampler(store, batch_size=50, seed=3, threads=3)
    assert equal(resumed.batch(3), batches[3]) and equal(resumed.batch(1), batches[1])
    assert not equal(batches[0], batches[1])
    assert not equal(Sampler(store, batch_size=50, seed=4).batch(0), batches[0])
    assert sampler.batch(0).planes.shape == (50, 27, 9, 9)


def test_symmetries_are_drawn_evenly(store: Store) -> None:
    sampler = Sampler(store, "all", batch_size=4000, seed=1)
    counts = Counter(sampler.rows(0).symmetry.tolist())
    assert set(counts) == set(range(8)) and min(counts.values()) > 400
    plain = Sampler(store, "all", batch_size=64, symmetries=False)
    assert not plain.rows(0).symmetry.any()


def test_splits_share_no_game(store: Store) -> None:
    def games(split: str) -> set[int]:
        sampler = Sampler(store, split, batch_size=512, validation_fraction=0.2)  # type: ignore[arg-type]
        return {g for step in range(sampler.steps_per_epoch + 1) for g in sampler.rows(step).game.tolist()}

    train, validation = games("train"), games("validation")
    assert train and validation and not train & validation
    assert train | validation == games("all") == set(range(len(store)))


def test_plies_can_be_limited(store: Store) -> None:
    sampler = Sampler(store, "all", batch_size=500, choice=PositionChoice(plies=(5, 9)))
    plies = {p for step in range(sampler.steps_per_epoch) for p in sampler.rows(step).ply.tolist()}
    assert plies == {5, 6, 7, 8, 9}


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("plies", [(-1, None), (-9, 15), (2, -8), (-40, -2), (3, -1)])
def test_plies_count_back_from_the_end_of_each_game(passing: Store, plies: tuple[int, int | None], skip: bool) -> None:
    first, last = plies
    wanted = set()
    for game, record in enumerate(passing):
        there = range(len(record.moves))[first : None if last in (None, -1) else last + 1]
        wanted |= {(game, ply) for ply in learned(record, skip) if ply in there}
    choice = PositionChoice(plies=plies, skip_passes=skip)
    found = drawn(Sampler(passing, "all", choice=choice))
    assert len(found) == len(wanted) and set(found) == wanted
    rows = OnePerGame(passing, "all", batch_size=30, choice=PositionChoice(plies=plies)).rows(0)
    inside = drawn(Sampler(passing, "all", choice=PositionChoice(plies=plies)))
    assert set(zip(rows.game.tolist(), rows.ply.tolist(), strict=True)) <= set(inside)


def test_one_position_of_every_game(store: Store) -> None:
    sampler = OnePerGame(store, "all", batch_size=30, seed=2, symmetries=False)
    assert (sampler.positions, sampler.steps_per_epoch) == (100, 4)
    batches = [sampler.batch(step) for step in range(4)]
    assert [len(b) for b in batches] == [30, 30, 30, 10]
    assert equal(sampler.batch(4), batches[0]), "every epoch is the same"
    game = np.concatenate([sampler.rows(step).game for step in range(4)])
    assert sorted(game.tolist()) == list(range(100))
    edge = sampler.edge
    only_passes = [g for g in range(100) if (store.row(g).points == store.row(g).size ** 2).all()]
    policy = np.concatenate([b.policy for b in batches])
    assert sorted(game[policy == edge * edge].tolist()) == only_passes
    other = OnePerGame(store, "all", batch_size=100, seed=3, symmetries=False)
    assert (other.rows(0).ply != np.concatenate([sampler.rows(s).ply for s in range(4)])).any()


def test_a_game_with_several_rows_counts_once(tmp_path: Path) -> None:
    """As a game that was labelled with several settings, or that self-play played again in another orientation."""
    games = [GameRecord(9, pack_moves([0, 1], [n, n + 1]), hash=100 - n) for n in range(3)]
    with StoreWriter(tmp_path) as writer:
        for game in (games[0], games[1], games[0], games[2], games[1]):
            writer.add(game)
    store = Store.open(tmp_path)
    sampler = OnePerGame(store, "all", batch_size=10)
    assert (sampler.positions, sampler.game_rows.tolist()) == (3, [0, 1, 3])
    assert sorted(sampler.rows(0).game.tolist()) == [0, 1, 3]
    assert store.first_rows.tolist() == [0, 1, 0, 3, 1]
    two = Sampler(store, "all", choice=PositionChoice(games=2))
    assert len(set(store.first_rows[two.game_rows].tolist())) == 2
    assert set(OnePerGame(store, "all", choice=PositionChoice(games=2)).game_rows) <= set(two.game_rows)
    with pytest.raises(StoreError, match="4 games are asked for, and 3 are there"):
        Sampler(store, "all", choice=PositionChoice(games=4))


def test_one_position_of_a_game_may_be_of_an_opponent(tmp_path: Path) -> None:
    """Of a player who never moves too, where the choice has the positions of opponents."""
    with StoreWriter(tmp_path) as writer:
        for n in range(40):
            writer.add(GameRecord(9, pack_moves([0] * 9, [n + i for i in range(9)]), hash=derive(n), player=n % 2))
    sampler = OnePerGame(Store.open(tmp_path), "all", batch_size=40, choice=PositionChoice(opponents=True))
    rows, policy = sampler.rows(0), sampler.batch(0).policy
    assert set(rows.ply.tolist()) == set(range(9))
    own = np.array([sampler.store.row(game).player == 0 for game in rows.game.tolist()])
    assert (policy[own] >= 0).all() and (policy[~own] == -1).all()


def test_the_first_positions_of_a_validation_are_a_sample_of_the_store(tmp_path: Path) -> None:
    """Of two sources, one after the other in the store; another import has the same games in the same order."""
    records = [GameRecord(9, pack_moves([0, 1], [n % 81, (n + 1) % 81]), hash=derive(n)) for n in range(600)]
    drawn = []
    for name, order in (("one", range(600)), ("other", range(599, -1, -1))):
        with StoreWriter(tmp_path / name) as writer:
            for n in order:
                writer.add(records[n])
        store = Store.open(tmp_path / name)
        sampler = OnePerGame(store, "all", batch_size=200)
        drawn.append(store.hashes[sampler.rows(0).game].tolist())
        assert sampler.game_rows.tolist() == list(range(600))
    second = {record.hash for record in records[300:]}
    assert drawn[0] == drawn[1] and 75 < len(second & set(drawn[0])) < 125


def test_a_larger_edge_pads(store: Store) -> None:
    batch = Sampler(store, "all", batch_size=8, edge=13).batch(0)
    assert batch.planes.shape == (8, 27, 13, 13) and not batch.planes[:, :, 9:].any()
    assert batch.mask.sum((1, 2)).max() <= 81 and batch.policy.max() <= 169


def test_moves_out_of_turn_are_seen_by_their_player(tmp_path: object) -> None:
    path = f"{tmp_path}/turns"
    with StoreWriter(path) as writer:
        writer.add(GameRecord(9, pack_moves([0, 0, 1], [0, 20, 40]), komi=7.0, winner=0))
    sampler = Sampler(Store.open(path), "all", symmetries=False)
    batch = sampler.encode(Rows.as_played(np.zeros(3, np.int64), np.arange(3), np.zeros(3, np.int64)))
    assert batch.value.tolist() == [1, 1, -1]
    assert batch.planes[:, 1].sum((1, 2)).tolist() == [0, 1, 0], "own stones"
    assert batch.planes[:, 2].sum((1, 2)).tolist() == [0, 0, 2], "the opponent's stones"


def test_refuses_what_is_not_there(store: Store, tmp_path: object) -> None:
    with pytest.raises(StoreError, match="no position of the split 'all'"):
        Sampler(store, "all", choice=PositionChoice(plies=(1000, None), games=2))
    sampler = Sampler(store, "all")
    one = np.zeros(1, np.int64)
    for rows, message in (
        (Rows.as_played(one, one + 10_000, one), "no ply 10000 in a game"),
        (Rows.as_played(one, one, one + 8), "symmetry must be 0 to 7"),
        (Rows.as_played(one + 500, one, one), "no shard 4"),
    ):
        with pytest.raises(ValueError, match=message):
            sampler.encode(rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "trian"}, "unknown split 'trian'; did you mean train"),
        ({"validation_fraction": -0.1}, "validation_fraction must be 0 to 1, not -0.1"),
        ({"validation_fraction": 2}, "validation_fraction must be 0 to 1, not 2"),
        ({"batch_size": 0}, "a batch of 0 positions"),
        ({"batch_size": 4, "part": (2, 2)}, "no part 2 of 2"),
        ({"batch_size": 4, "part": (0, 0)}, "no part 0 of 0"),
        ({"rules": "varied"}, "unknown choice of rules 'varied'; did you mean vary"),
    ],
)
def test_settings_out_of_range_are_named(store: Store, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sampler(store, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"games": 0}, "games must be 1 or more, or None for all, not 0"),
        ({"games": -1}, "games must be 1 or more"),
        ({"max_positions": 0}, "max_positions must be 1 or more"),
        ({"positions_per_game": 0}, "positions_per_game must be 1 or more"),
        ({"plies": (5, 3)}, "3 is before 5"),
        ({"plies": (-1, -3)}, "-3 is before -1"),
    ],
)
def test_choices_out_of_range_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PositionChoice(**settings)


@pytest.mark.parametrize("kind", [Sampler, OnePerGame])
def test_there_is_no_batch_before_the_first(store: Store, kind: type[Sampler]) -> None:
    with pytest.raises(ValueError, match="no batch -1"):
        kind(store, batch_size=4).batch(-1)


@pytest.mark.parametrize("kind", [Sampler, OnePerGame])
def test_the_parts_of_a_batch_are_its_rows(store: Store, kind: type[Sampler]) -> None:
    """The last batch of 100 positions, one of each game, is shorter and has no equal parts."""
    whole = kind(store, "all", batch_size=30, seed=1)
    parts = [kind(store, "all", batch_size=30, seed=1, part=(i, 3)) for i in range(3)]
    for step in (0, 3, 4):
        game = np.concatenate([part.rows(step).game for part in parts])
        assert np.array_equal(game, whole.rows(step).game)


def test_one_position_of_every_game_again_in_the_next_epoch(store: Store) -> None:
    sampler = OnePerGame(store, "all", batch_size=60, seed=2)
    rows, again = sampler.draw(0, 100), sampler.draw(90, 110)
    for name in ("game", "ply", "symmetry"):
        assert np.array_equal(getattr(again, name)[10:], getattr(rows, name))
        assert np.array_equal(getattr(again, name)[:10], getattr(rows, name)[90:])
        found = [getattr(sampler.rows(step), name) for step in (0, 1)]
        assert np.array_equal(np.concatenate(found), getattr(rows, name))


def moves_of_games(store: Store, rows: Rows, edge: int) -> np.ndarray:
    return store.lengths[rows.game]


def test_a_pickled_sampler_draws_the_same_batches(store: Store) -> None:
    options: dict[str, Any] = {"batch_size": 16, "seed": 3, "rules": "any", "targets": True, "edge": 21}
    sampler = Sampler(store, "all", extra={"moves": moves_of_games}, **options)
    twin = pickle.loads(pickle.dumps(sampler))
    for step in (0, 5):
        one, other = sampler.batch(step), twin.batch(step)
        assert one.extra.keys() == {"moves"} and equal(one, other)


def test_a_damaged_row_is_an_error_not_a_crash(tmp_path: object) -> None:
    path = f"{tmp_path}/damaged"
    with StoreWriter(path) as writer:
        writer.add(GameRecord(9, pack_moves([0, 1, 0], [40, 40, 3])))
    with pytest.raises(StoreError, match="row 0 is no game: move to point 40; if it is the store"):
        Sampler(Store.open(path), "all", batch_size=3, threads=2).batch(0)


@pytest.mark.parametrize("labels", [False, True])
def test_games_of_one_board_size_alone(tmp_path: Path, labels: bool) -> None:
    with StoreWriter(tmp_path / "games") as writer:
        for seed in range(30):
            writer.add(self_played(seed))
    games = Store.open(tmp_path / "games")
    wanted = np.flatnonzero(games.column("size") == 7)
    kinds: dict[bool, Any] = {False: Sampler, True: LabelSampler}
    sampler = kinds[labels](games, split="all", size=7)
    assert sampler.edge == 7 and set(sampler.game_rows) <= set(wanted)
    assert labels or set(sampler.game_rows) == set(wanted)
    assert not np.array_equal(sampler.game_rows, kinds[labels](games, split="all").game_rows)
    with pytest.raises(StoreError, match=f"none of its {len(wanted)} games on 7x7 is set apart"):
        Sampler(games, "validation", validation_fraction=1e-9, size=7)


def test_boards_beyond_the_largest_are_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The native core for smaller boards refused them as if the store might be damaged."""

    def refused(*_: object) -> None:
        raise ValueError("board size must be 2 to 7, not 19")

    largest = int(store.column("size").max())
    monkeypatch.setattr("tengen.data.encoder.MAX_SIZE", largest - 1)
    monkeypatch.setattr("tengen.data.planes.NativePlaneSet.encode_rows", refused)
    with pytest.raises(StoreError, match=rf"has games on {largest}x{largest}; boards are 2 to"):
        Sampler(store, "all").batch(0)
