"""Random playouts: the same for a seed, and right about positions that leave nothing open."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import numpy as np

from tengen import _native
from tengen.coords import from_sgf
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


def test_counts_of_real_games(shared: Path) -> None:
    """Most games that were counted come to the recorded score once the stones that playouts find dead are gone."""
    with lzma.open(shared / "data" / "tygem-9d-2016-07-validation.sgf.xz") as stream:
        records = stream.read(300_000).decode("utf-8", "replace").split("(;")[1:-1]
    hits, games = 0, 0
    for record in records:
        result, komi = re.search(r"RE\[([BW])\+([\d.]+)\]", record), re.search(r"KM\[([\d.]+)\]", record)
        if not result or not komi:
            continue
        game = Game(19, "chinese", float(komi[1]))
        moves = re.findall(r";([BW])\[(\w*)\]", record)
        codes = np.array([from_sgf(point, 19) | ("BW".index(color) << 15) for color, point in moves], np.uint16)
        game._native.play_moves(codes)
        score = float(result[2]) * (1 if result[1] == "B" else -1)
        hits += abs(game.score(game.dead_by_playouts(32)) - score) <= 1
        games += 1
    assert games >= 20
    assert hits >= 0.75 * games
