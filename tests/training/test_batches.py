"""Batches reach the network in order, whole, and from any step on."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.data.batch import Rows  # noqa: E402
from tengen.data.encoder import Encoder  # noqa: E402
from tengen.data.planes import plane_set  # noqa: E402
from tengen.data.record import GameRecord, pack_moves  # noqa: E402
from tengen.data.sampler import Sampler  # noqa: E402
from tengen.data.store import Store  # noqa: E402
from tengen.data.writer import StoreWriter  # noqa: E402
from tengen.training.batches import BatchStream, TensorBatch, later_move, targets_named  # noqa: E402


@pytest.fixture(scope="module")
def sampler(store: Path) -> Sampler:
    return Sampler(Store.open(store), "all", "tengen", batch_size=8, seed=3)


def test_tensors_hold_what_the_batch_holds(sampler: Sampler) -> None:
    batch = sampler.batch(0)
    tensors = TensorBatch.of(batch)
    assert tensors.target is None and tensors.reply is None
    for name in TensorBatch._fields[:8]:
        np.testing.assert_array_equal(getattr(tensors, name).numpy(), getattr(batch, name))
    assert tensors.planes.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_a_later_move_is_what_a_later_position_has_as_its_move(tmp_path: Path, ahead: int) -> None:
    """All plies of games of three sizes with passes and setups, over two shards, under all symmetries."""
    random = np.random.default_rng(1)
    with StoreWriter(tmp_path / "games", rows_a_shard=3) as writer:
        for number in range(6):
            size = (5, 7, 9)[number % 3]
            points = [size * size if random.random() < 0.2 else p for p in random.permutation(size * size)[:20]]
            colors = random.integers(0, 2, 20)  # one side may play twice
            writer.add(GameRecord(size, pack_moves(colors, points), hash=number + 1))
    store = Store.open(tmp_path / "games")
    game, ply, symmetry = (part.ravel() for part in np.meshgrid(range(6), range(21 - ahead), range(8)))
    rows = Rows.as_played(*(np.ascontiguousarray(part, np.int64) for part in (game, ply, symmetry)))
    later = Rows.as_played(rows.game, rows.ply + ahead, rows.symmetry)
    expected = Encoder(store, plane_set("tengen"), 9).encode(later).policy
    found = later_move(store, rows, 9, ahead=ahead)
    np.testing.assert_array_equal(found, expected)
    assert (found == -1).sum() == 6 * 8 and (found == 81).any()
    past = Rows.as_played(rows.game, np.full_like(rows.ply, 20), rows.symmetry)
    assert (later_move(store, past, 9, ahead=ahead) == -1).all()


def test_batches_hold_the_targets_that_losses_name(store: Path) -> None:
    extra = targets_named(["move2", "move3"])
    sampler = Sampler(Store.open(store), "all", "tengen", batch_size=8, seed=3, extra=extra)
    rows, batch = sampler.rows(4), sampler.batch(4)
    assert set(batch.extra) == {"move2", "move3"}
    later = Rows.as_played(rows.game, rows.ply + 1, rows.symmetry)
    there = later.ply < sampler.store.lengths[later.game]
    np.testing.assert_array_equal(batch.extra["move2"][there], sampler.encode(later).policy[there])
    assert TensorBatch.of(batch).extra["move3"].dtype == torch.int64


@pytest.mark.parametrize("ahead", [1, 4])
def test_a_stream_started_late_goes_on_where_it_should(sampler: Sampler, ahead: int) -> None:
    for step, batch in zip(range(5, 9), islice(BatchStream(sampler, 5, ahead), 4), strict=True):
        np.testing.assert_array_equal(batch.planes.numpy(), sampler.batch(step).planes)


def test_waiting_is_counted_once(sampler: Sampler) -> None:
    stream = BatchStream(sampler, 0, 1)
    list(islice(stream, 3))
    assert stream.take_waited() > 0
    assert stream.take_waited() == 0
