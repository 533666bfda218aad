"""The split by hash, and a fraction of the games."""

from __future__ import annotations

import numpy as np

from tengen.data.seeds import mix
from tengen.data.split import choose, in_fraction


def test_the_split_is_decided_by_the_hash_alone() -> None:
    hashes = mix(np.arange(20_000, dtype=np.uint64), 5)
    validation = choose(hashes, "validation", 0.1)
    assert 0.09 < validation.mean() < 0.11
    assert np.array_equal(choose(hashes, "train", 0.1), ~validation)
    assert np.array_equal(choose(hashes[::-1], "validation", 0.1), validation[::-1])
    wider = choose(hashes, "validation", 0.2)
    assert (wider & validation).sum() == validation.sum(), "a larger share keeps what validated before"
    assert choose(hashes, "all", 0.1).all()
    assert choose(hashes, "train", 0.0).all() and choose(hashes, "validation", 1.0).all()


def test_games_are_those_of_earlier_versions() -> None:
    """Else a network that is trained on is evaluated on games that it has learned."""
    hashes = np.arange(40, dtype=np.uint64)
    assert np.flatnonzero(choose(hashes, "validation", 0.1)).tolist() == [5, 16, 23, 24, 31]
    assert np.flatnonzero(in_fraction(hashes, 0.2, seed=5)).tolist() == [9, 17, 20, 25, 26, 27, 33, 37]


def test_a_fraction_is_near_its_size_and_fixed_by_its_seed() -> None:
    hashes = np.arange(100_000, dtype=np.uint64)
    chosen = in_fraction(hashes, 0.1, seed=5)
    assert abs(chosen.mean() - 0.1) < 0.005
    np.testing.assert_array_equal(chosen[500:], in_fraction(hashes[500:], 0.1, seed=5))
    assert (chosen & in_fraction(hashes, 0.1, seed=6)).mean() < 0.02
