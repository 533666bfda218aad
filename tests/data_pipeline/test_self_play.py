"""Batches of self-play against a slow twin that reads the records one by one."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from data_pipeline.plain_batch import equal, policy_index
from data_pipeline.self_play_games import self_played

from tengen.data import (
    Batch,
    GameRecord,
    LabelSampler,
    MixedSampler,
    OnePerGame,
    Rows,
    Sampler,
    Store,
    StoreWriter,
    TargetMix,
)
from tengen.data import recorded_positions as count_recorded
from tengen.data.encoder import Encoder
from tengen.errors import StoreError

GAMES = 60


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path: Path = tmp_path_factory.mktemp("stores") / "self-play"
    with StoreWriter(path, rows_a_shard=17) as writer:
        for seed in range(GAMES):
            writer.add(self_played(seed))
    return Store.open(path)


def recorded(games: Store, first: int = 0) -> list[tuple[int, int]]:
    """(game, ply) of every position with visits."""
    found = []
    for g in range(first, len(games)):
        lists = games.row(g).visits
        found += [(g, ply) for ply, visits in enumerate(lists or ()) if len(visits)]
    return found


def target(record: GameRecord, ply: int, symmetry: int, edge: int) -> np.ndarray:
    """What the move at `ply` should be: its visits, else itself, else nothing."""
    wanted = np.zeros(edge * edge + 1)
    if not 0 <= ply < len(record.moves):
        return wanted
    if record.visits is not None and len(record.visits[ply]):
        for entry in record.visits[ply].tolist():
            wanted[policy_index(entry & 0xFFFF, record.size, symmetry, edge)] += entry >> 16
        return wanted / wanted.sum()
    wanted[policy_index(int(record.points[ply]), record.size, symmetry, edge)] = 1
    return wanted


@pytest.mark.parametrize("symmetry", range(8))
@pytest.mark.parametrize("edge", [9, 11])
def test_targets_are_the_turned_visits(games: Store, symmetry: int, edge: int) -> None:
    pairs = [(g, ply) for g in range(symmetry, GAMES, 4) for ply in range(len(games.row(g).moves) + 1)]
    game, ply = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    rows = Rows.as_played(game, ply, np.full(len(game), symmetry, np.int64))
    encoder = Encoder(games, Sampler(games, "all").plane_set, edge)
    batch, plain = encoder.encode(rows, targets=True), encoder.encode(rows)
    assert plain.target is None and plain.reply is None
    for name in (f.name for f in fields(Batch) if f.name not in ("target", "reply")):
        np.testing.assert_array_equal(getattr(batch, name), getattr(plain, name))
    assert batch.target is not None and batch.reply is not None
    sizes = set()
    for i, (g, at) in enumerate(pairs):
        record = games.row(g)
        sizes.add(record.size)
        np.testing.assert_allclose(batch.target[i], target(record, at, symmetry, edge), rtol=1e-6, atol=0)
        np.testing.assert_allclose(batch.reply[i], target(record, at + 1, symmetry, edge), rtol=1e-6, atol=0)
    assert sizes == {5, 7, 9}


def test_a_side_that_plays_twice_has_no_reply_between(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "games") as writer:
        writer.add(GameRecord(5, np.array([3, 4, 5 | 1 << 15], np.uint16)))
    store = Store.open(tmp_path / "games")
    batch = Sampler(store, "all", symmetries=False, targets=True).encode(
        Rows.as_played(np.zeros(3, np.int64), np.arange(3), np.zeros(3, np.int64))
    )
    assert batch.reply is not None and batch.target is not None
    assert batch.target.argmax(1).tolist() == [3, 4, 5] and batch.target.sum() == 3
    assert batch.reply.sum(1).tolist() == [0, 1, 0] and batch.reply[1, 5] == 1


def test_records_are_their_moves_in_a_mixed_batch_too(games: Store) -> None:
    """The store of another self-play run, as `learn.records`: its visits are not learned."""
    records = Sampler(games, "all", batch_size=64)
    batch = MixedSampler(LabelSampler(games, batch_size=64, edge=9), records, 1.0).batch(0)
    moves = np.zeros((64, 82))
    moves[np.arange(64), batch.policy] = 1
    assert batch.target is not None and np.array_equal(batch.target, moves)
    visits = Encoder(games, records.plane_set, 9).encode(records.rows(0), targets=True).target
    assert visits is not None and not np.array_equal(visits, moves)


def test_every_recorded_position_once_an_epoch(games: Store) -> None:
    first = 20
    sampler = LabelSampler(games, first, batch_size=7, seed=3)
    expected = recorded(games, first)
    assert sampler.positions == len(expected)
    assert count_recorded(games).tolist() == [sum(g == i for g, _ in recorded(games)) for i in range(GAMES)]
    shown = LabelSampler(games, first, batch_size=sampler.positions, seed=3, symmetries=False, surprise=0, edge=9)
    game, ply = (np.array(column, np.int64) for column in zip(*expected, strict=True))
    rows = Rows.as_played(game, ply, np.zeros(len(expected), np.int64))
    alone = Encoder(games, shown.plane_set, 9).encode(rows, targets=True)
    keys = [sorted(_keys(batch)) for batch in (shown.batch(0), shown.batch(1), alone)]
    assert keys[0] == keys[1] == keys[2]
    assert _keys(shown.batch(0)) != _keys(shown.batch(1))


def _keys(batch: Batch) -> list[bytes]:
    """Each row of a batch as bytes."""
    columns = [np.ascontiguousarray(getattr(batch, f.name)) for f in fields(Batch) if f.name != "extra"]
    return [b"".join(column[i].tobytes() for column in columns) for i in range(len(batch))]


def test_batches_depend_on_seed_and_step_alone(games: Store) -> None:
    sampler = LabelSampler(games, 0, batch_size=32, seed=5)
    batches = [sampler.batch(step) for step in range(4)]
    again = LabelSampler(games, 0, batch_size=32, seed=5, threads=3)
    assert equal(again.batch(3), batches[3]) and equal(again.batch(1), batches[1])
    assert not equal(LabelSampler(games, 0, batch_size=32, seed=6).batch(0), batches[0])
    parts = [LabelSampler(games, 0, batch_size=32, seed=5, part=(i, 4)) for i in range(4)]
    for step in range(2):
        assert equal(Batch.join([part.batch(step) for part in parts]), batches[step])
    with pytest.raises(ValueError, match="32"):
        LabelSampler(games, 0, batch_size=32, part=(0, 3))
    assert batches[0].planes.shape == (32, 27, 9, 9)
    np.testing.assert_allclose(batches[0].target.sum(1), 1, rtol=1e-5)  # type: ignore[union-attr]


@pytest.mark.parametrize("surprise", [0.0, 0.5, 1.0])
def test_surprise_moves_weight_and_keeps_its_mean(games: Store, surprise: float) -> None:
    sampler = LabelSampler(games, 10, batch_size=1, seed=1, surprise=surprise)
    wanted = []
    for g, ply in recorded(games, 10):
        record = games.row(g)
        s = np.nan if record.surprises is None else record.surprises[ply]
        wanted.append((1 if record.weight is None else record.weight, s))
    weight, s = np.array(wanted).T
    factor = np.where(np.isnan(s), 1, 1 - surprise + surprise * s / np.nanmean(s))
    found = [sampler.batch(step).weight[0] for step in range(sampler.positions)]
    np.testing.assert_allclose(sorted(found), sorted(weight * factor), rtol=1e-4)
    assert factor.mean() == pytest.approx(1)


@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_root_values_are_mixed_into_results(games: Store, mix: float) -> None:
    mixed = LabelSampler(games, 0, batch_size=1, symmetries=False, mix=TargetMix(value=mix))
    wanted = []
    for g, ply in recorded(games):
        record = games.row(g)
        side = int(record.colors[ply])
        result = 1.0 if record.winner == side else -1.0
        root = np.nan if record.root_values is None else record.root_values[ply]
        wanted.append(result if np.isnan(root) else (1 - mix) * result + mix * root)
    found = [mixed.batch(step).value[0] for step in range(mixed.positions)]
    np.testing.assert_allclose(sorted(found), sorted(wanted), rtol=1e-5)


def test_a_resigned_game_has_no_score_and_no_owners(games: Store) -> None:
    batch = LabelSampler(games, 0, batch_size=400).batch(0)
    unknown = np.isnan(batch.score)
    assert unknown.any() and not unknown.all() and not np.isnan(batch.value).any()
    assert np.isnan(batch.ownership[unknown]).all() and not np.isnan(batch.ownership[~unknown, :5, :5]).any()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_records_are_mixed_in(games: Store, store: Store, share: float) -> None:
    own = LabelSampler(games, 0, batch_size=10, seed=1)
    records = Sampler(store, "all", batch_size=10, seed=2, rules="vary")
    mixed = MixedSampler(own, records, share)
    batches = [mixed.batch(step) for step in range(9)]
    assert {len(batch) for batch in batches} == {10}
    whole = Batch.join(batches)
    split = [int(10 * (step + 1) * share) - int(10 * step * share) for step in range(9)]
    from_records = np.concatenate([np.arange(10) >= 10 - count for count in split])
    count = int(from_records.sum())
    assert count == int(90 * share)
    expected = Batch.join([own.draw(0, 90 - count), records.encode(records.draw(0, count), targets=True)])
    for f in fields(Batch):
        if f.name == "extra":
            continue
        found, wanted = getattr(whole, f.name), getattr(expected, f.name)
        np.testing.assert_array_equal(found[~from_records], wanted[: 90 - count])
        np.testing.assert_array_equal(found[from_records], wanted[90 - count :])


def test_what_cannot_be_is_refused(games: Store, store: Store) -> None:
    with pytest.raises(StoreError, match="no position with a policy target; self-play"):
        LabelSampler(store)
    with pytest.raises(StoreError, match="no position with a policy target from game 60"):
        LabelSampler(games, GAMES)
    with pytest.raises(ValueError, match=r"surprise must be 0 to 1, not 1\.5"):
        LabelSampler(games, surprise=1.5)
    own = LabelSampler(games)
    with pytest.raises(ValueError, match="tengen and edge 9, the records tengen and 13"):
        MixedSampler(own, Sampler(store, "all", edge=13), 0.5)
    with pytest.raises(ValueError, match="records to mix in must be drawn in random order"):
        MixedSampler(own, OnePerGame(store, "all", edge=own.edge), 0.5)
    with pytest.raises(ValueError, match="share of records must be 0 to 1, not 2"):
        MixedSampler(own, Sampler(store, "all"), 2)
