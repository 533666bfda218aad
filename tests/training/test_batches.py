"""Batches reach the network in order, whole, and from any step on."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.data.sampler import Sampler  # noqa: E402
from tengen.data.store import Store  # noqa: E402
from tengen.training.batches import BatchStream, TensorBatch  # noqa: E402


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


@pytest.mark.parametrize("ahead", [1, 4])
def test_a_stream_started_late_goes_on_where_it_should(sampler: Sampler, ahead: int) -> None:
    for step, batch in zip(range(5, 9), islice(BatchStream(sampler, 5, ahead), 4), strict=True):
        np.testing.assert_array_equal(batch.planes.numpy(), sampler.batch(step).planes)


def test_waiting_is_counted_once(sampler: Sampler) -> None:
    stream = BatchStream(sampler, 0, 1)
    list(islice(stream, 3))
    assert stream.take_waited() > 0
    assert stream.take_waited() == 0
