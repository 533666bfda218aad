"""The permutation that deals positions out, and the order of the epochs."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.data.shuffle import Permutation, Shuffle


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


def test_draws_are_those_of_earlier_versions() -> None:
    """Else a resumed run draws others."""
    assert Permutation(10, key=7)(np.arange(10)).tolist() == [4, 2, 8, 1, 3, 5, 7, 6, 0, 9]
    assert Permutation(16, key=7)(np.arange(4)).tolist() == [4, 2, 8, 1]
    assert Permutation(20, key=7)(np.arange(8)).tolist() == [4, 2, 6, 15, 3, 5, 11, 18], "of an odd number of bits"
    shuffle = Shuffle(11, seed=3)
    assert shuffle(np.arange(8, 16)).tolist() == [4, 8, 7, 8, 2, 1, 5, 10], "from the ninth place on a new epoch"
    assert shuffle.chance(np.arange(2), 1).tolist() == pytest.approx([0.07480104260055476, 0.4815027810138768])
    assert shuffle.symmetries(np.arange(2)).tolist() == [0, 3]
