"""The split by hash, and the permutation that deals positions out."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.data.split import Permutation, Shuffle, choose, derive, in_fraction, mix


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 65, 1000, 4097, 100_000])
def test_a_permutation_reaches_everything_once(size: int) -> None:
    places = Permutation(size, key=9)(np.arange(size))
    assert np.array_equal(np.sort(places), np.arange(size))


def test_a_permutation_is_any_part_of_itself() -> None:
    whole = Permutation(5000, key=1)(np.arange(5000))
    part = np.array([4999, 0, 17])
    assert np.array_equal(Permutation(5000, key=1)(part), whole[part])
    assert not np.array_equal(Permutation(5000, key=2)(np.arange(5000)), whole)


def test_a_permutation_scatters_neighbours() -> None:
    places = Permutation(100_000, key=3)(np.arange(100_000))
    steps = np.abs(np.diff(places))
    assert abs(steps.mean() / 100_000 - 1 / 3) < 0.01, "the distance of two random points of a line is a third of it"
    assert abs(np.corrcoef(places, np.arange(100_000))[0, 1]) < 0.02


def test_huge_sizes_need_no_memory() -> None:
    size = 10**12
    places = Permutation(size, key=4)(np.array([0, 1, size - 1]))
    assert len(set(places.tolist())) == 3 and places.min() >= 0 and places.max() < size


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


def test_draws_are_those_of_earlier_versions() -> None:
    """Else a network that is trained on is evaluated on games that it has learned, and a resumed run draws others."""
    hashes = np.arange(40, dtype=np.uint64)
    assert np.flatnonzero(choose(hashes, "validation", 0.1)).tolist() == [5, 16, 23, 24, 31]
    assert np.flatnonzero(in_fraction(hashes, 0.2, seed=5)).tolist() == [9, 17, 20, 25, 26, 27, 33, 37]
    assert Permutation(10, key=7)(np.arange(10)).tolist() == [4, 2, 8, 1, 3, 5, 7, 6, 0, 9]
    assert Permutation(16, key=7)(np.arange(4)).tolist() == [4, 2, 8, 1]
    assert Permutation(20, key=7)(np.arange(8)).tolist() == [4, 2, 6, 15, 3, 5, 11, 18], "of an odd number of bits"
    shuffle = Shuffle(11, seed=3)
    assert shuffle(np.arange(8, 16)).tolist() == [4, 8, 7, 8, 2, 1, 5, 10], "from the ninth place on a new epoch"
    assert shuffle.chance(np.arange(2), 1).tolist() == pytest.approx([0.07480104260055476, 0.4815027810138768])
    assert shuffle.symmetries(np.arange(2)).tolist() == [0, 3]


def test_keys_do_not_collide() -> None:
    assert len({derive(a, b) for a in range(50) for b in range(50)}) == 2500


def test_words_hash_as_published() -> None:
    """Steele, Lea and Flood 2014: the outputs of the generator that starts at 1234567."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [int(mix(np.array([1234567], np.uint64), key)[0]) for key in range(4)] == published
    words = np.array([0, 1, 2**64 - 1], np.uint64)
    assert mix(words, 2**64 - 1).dtype == np.uint64 and len(set(mix(words, 2**64 - 1).tolist())) == 3
    assert derive() == 0 and derive(1, 2) != derive(2, 1) and 0 <= derive(-1) < 2**64


def test_a_fraction_is_near_its_size_and_fixed_by_its_seed() -> None:
    hashes = np.arange(100_000, dtype=np.uint64)
    chosen = in_fraction(hashes, 0.1, seed=5)
    assert abs(chosen.mean() - 0.1) < 0.005
    np.testing.assert_array_equal(chosen[500:], in_fraction(hashes[500:], 0.1, seed=5))
    assert (chosen & in_fraction(hashes, 0.1, seed=6)).mean() < 0.02
