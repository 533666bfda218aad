"""Symmetries and the hash that identifies a game."""

from __future__ import annotations

import numpy as np
import pytest
from data_pipeline.plain_batch import turn

from tengen.data.record import game_hash, pack_moves, symmetry_table


def test_symmetries_flip_rows_then_columns_then_transpose() -> None:
    for size in (5, 19):
        board = np.arange(size * size).reshape(size, size)
        for s, images in enumerate(symmetry_table(size)):
            turned = np.empty(size * size, int)
            turned[images[:-1]] = board.ravel()
            assert np.array_equal(turned.reshape(size, size), turn(board, s)) and images[-1] == size * size


@pytest.mark.parametrize(
    ("colors", "points", "message"),
    [
        ([1, 2], [3, 4], "colors has 2: give 0 for Black and 1 for White"),
        ([0, 1], [3], "2 colors and 1 points: give a color and a point for each move"),
        ([0], [40000], "points has 40000"),
        ([0], [-1], "points has -1"),
    ],
)
def test_moves_that_no_game_has_are_not_packed(colors: list[int], points: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pack_moves(colors, points)


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


def test_closing_passes_do_not_count() -> None:
    """Servers differ in whether they record them; a pass that an answer follows is a move."""
    none = np.empty(0, np.uint16)

    def identity(*moves: int, size: int = 9) -> int:
        return game_hash(size, pack_moves(np.arange(len(moves)) % 2, moves), none, none)

    assert identity(40, 41) == identity(40, 41, 81) == identity(40, 41, 81, 81) == identity(40, 41, 81, 81, 81)
    assert len({identity(40, 41), identity(40, 81, 41), identity(40, 81, 81, 41), identity(40), identity()}) == 5
    assert identity(*range(60), 81, size=19) != identity(*range(60), size=19)  # 81 is a point there
