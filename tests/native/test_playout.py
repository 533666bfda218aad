"""Random playouts: the same for a seed, and right about positions that leave nothing open."""

from __future__ import annotations

import numpy as np

from tengen import _native
from tengen.game import Game

# Black lives above with two eyes, White below; A3 is a dead white stone, E4 a dead black one.
SETTLED = """
    . X . X . X .
    X X X X X X X
    . . . O . . .
    X X X X X X X
    O O O O O O O
    X . O O . O O
    . O . O O O .
"""


def test_a_seed_gives_the_same_playouts() -> None:
    game = Game(9).play("E5")
    first = game.ownership_by_playouts(32, seed=5)
    assert np.array_equal(first, game.ownership_by_playouts(32, seed=5))
    assert not np.array_equal(first, game.ownership_by_playouts(32, seed=6))
    assert first.shape == (9, 9)
    assert np.abs(first).max() <= 1
    assert first.mean() > 0.05  # the stone in the middle is worth something


def test_settled_position() -> None:
    game = Game.from_diagram(SETTLED)
    board = str(game)
    dead = [game.point("D5"), game.point("A2")]
    assert sorted(game.dead_by_playouts(64)) == sorted(dead)
    owner = np.full((7, 7), 0)
    owner[4:] = 1
    assert np.array_equal(_native.final_ownership(game._native, 64, 1), owner)
    assert str(game) == board


def test_playouts_end_and_fill_the_board() -> None:
    for size in (5, 9, 19):
        game = Game(size)
        owner = game.ownership_by_playouts(1, seed=1)
        assert np.count_nonzero(owner) > 0.9 * size * size
        moves = _native.run_playouts(game._native, 4, 1) / 4
        assert size * size * 0.7 < moves <= 3 * size * size
