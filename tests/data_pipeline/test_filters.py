"""Filters, samples and the hash that names a game."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from tengen import _native
from tengen.data.importer import HashSet
from tengen.data.record import GameRecord, game_hash, pack_moves, symmetry_table
from tengen.data.rows import Filters
from tengen.data.split import in_fraction
from tengen.errors import SgfError

GAME = GameRecord(
    size=19,
    moves=pack_moves(np.arange(50) % 2, np.arange(50)),
    komi=6.5,
    handicap=2,
    ending="resign",
    black_rank="3d",
    white_rank="1p",
    date=datetime.date(2015, 5, 5),
)


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (Filters(), ""),
        (Filters(sizes=(9, 13)), "board size"),
        (Filters(sizes=(9, 19)), ""),
        (Filters(min_rank="3d"), ""),
        (Filters(min_rank="4d"), "rank"),
        (Filters(since=datetime.date(2015, 5, 5), until=datetime.date(2015, 5, 5)), ""),
        (Filters(since=datetime.date(2015, 5, 6)), "date"),
        (Filters(until=datetime.date(2015, 5, 4)), "date"),
        (Filters(endings=("count", "resign")), ""),
        (Filters(endings=("count",)), "result"),
        (Filters(max_handicap=2), ""),
        (Filters(max_handicap=1), "handicap"),
        (Filters(komi=(6.5, 7.5)), ""),
        (Filters(komi=(7.5,)), "komi"),
        (Filters(min_moves=50), ""),
        (Filters(min_moves=51), "too short"),
        (Filters(max_moves=50), ""),
        (Filters(max_moves=49), "too long"),
    ],
)
def test_each_filter_on_its_edge(filters: Filters, reason: str) -> None:
    assert filters.refuse(GAME) == reason


def test_unknown_values_fail_the_filters_that_ask_for_them() -> None:
    unknown = GameRecord(size=19, moves=GAME.moves)
    assert Filters(min_rank="30k").refuse(unknown) == "rank"
    assert Filters(since=datetime.date(1900, 1, 1)).refuse(unknown) == "date"
    assert Filters(komi=(0.0,)).refuse(unknown) == "komi"
    assert Filters(endings=("unknown",)).refuse(unknown) == ""


@pytest.mark.parametrize("wrong", [{"min_rank": "10x"}, {"sizes": (4,)}, {"endings": ("resigned",)}])
def test_filters_that_make_no_sense(wrong: dict) -> None:
    with pytest.raises(SgfError, match=r"4 is no|10x|resigned"):
        Filters(**wrong)


def test_symmetries_are_those_of_the_native_board() -> None:
    for size in (5, 19):
        table = symmetry_table(size)
        for s in range(8):
            assert table[s].tolist() == [_native.transform(p, size, s) for p in range(size * size)] + [size * size]


def test_a_game_has_one_hash_whichever_way_the_board_is_held() -> None:
    rng = np.random.default_rng(3)
    none = np.empty(0, np.uint16)
    seen = set()
    for _ in range(20):
        points, colors = rng.integers(0, 362, 80), rng.integers(0, 2, 80)
        black, white = rng.choice(361, (2, 3), replace=False).astype(np.uint16)
        table = symmetry_table(19)
        setups = [(black, white), (none, none)]
        for setup in setups:
            hashes = {
                game_hash(19, pack_moves(colors, turn[points]), *(turn[stones] for stones in setup)) for turn in table
            }
            assert len(hashes) == 1
            seen |= hashes
        seen.add(game_hash(19, pack_moves(1 - colors, points), none, none))
        seen.add(game_hash(19, pack_moves(colors, points), white, black))
    assert len(seen) == 80


def test_a_set_of_hashes_agrees_with_pythons() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = HashSet(newest=50), set()
    for _ in range(60):
        hashes = rng.integers(0, 700, 20).astype(np.uint64) * np.uint64(2**54)
        held = ours.holds(hashes).tolist()
        assert held == [h in theirs for h in hashes.tolist()]
        fresh = []
        for value in hashes.tolist():
            fresh.append(value not in theirs)
            theirs.add(value)
        assert ours.add(hashes).tolist() == fresh
        assert len(ours) == len(theirs)


def test_a_fraction_is_near_its_size_and_fixed_by_its_seed() -> None:
    hashes = np.arange(100_000, dtype=np.uint64)
    chosen = in_fraction(hashes, 0.1, seed=5)
    assert abs(chosen.mean() - 0.1) < 0.005
    np.testing.assert_array_equal(chosen[500:], in_fraction(hashes[500:], 0.1, seed=5))
    assert (chosen & in_fraction(hashes, 0.1, seed=6)).mean() < 0.02
