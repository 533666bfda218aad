"""Random playouts: the same for a seed, and right about positions that leave nothing open."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import numpy as np
import pytest

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
    first = game.ownership_by_playouts(256, seed=5)
    assert np.array_equal(first, game.ownership_by_playouts(256, seed=5))
    assert not np.array_equal(first, game.ownership_by_playouts(256, seed=6))
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
    assert np.array_equal(_native.final_ownership(game.native(), 64, 1), owner)
    assert str(game) == board


def test_playouts_end_and_fill_the_board() -> None:
    for size in (5, 9, 19):
        game = Game(size)
        owner = game.ownership_by_playouts(1, seed=1)
        assert np.count_nonzero(owner) > 0.9 * size * size
        moves = _native.run_playouts(game.native(), 4, 1) / 4
        assert size * size * 0.7 < moves <= 3 * size * size


@pytest.mark.parametrize("policy", _native.playout_policies())
def test_threads_share_the_playouts(policy: str) -> None:
    game = Game(9).play("C3")
    moves = [_native.run_playouts(game.native(), 101, 1, policy, threads) for threads in (1, 2, 3, 3)]
    assert moves[2] == moves[3]
    assert max(moves) < 1.1 * min(moves)
    for threads in (0, -1, 10_000):
        with pytest.raises(ValueError, match=str(threads)):
            _native.run_playouts(game.native(), 1, 1, policy, threads)


def test_an_unknown_policy_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"mogo.*uniform, local, bakago"):
        _native.run_playouts(Game(9).native(), 1, 1, "mogo")
    with pytest.raises(ValueError, match="mogo"):
        _native.playout_weights(Game(9).native(), "mogo")


@pytest.mark.parametrize("policy", _native.playout_policies())
def test_weights_are_zero_where_illegal(policy: str) -> None:
    game = Game.from_diagram(SETTLED)
    weights = _native.playout_weights(game.native(), policy)
    legal = np.isin(np.arange(50), [*game.legal_points(), 49])
    assert weights.shape == (50,)
    assert np.all(weights >= 0)
    assert weights[legal].max() > 0
    assert np.all(weights[~legal] == 0)


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
        game.native().play_moves(codes)
        score = float(result[2]) * (1 if result[1] == "B" else -1)
        hits += abs(game.score(game.dead_by_playouts(32)) - score) <= 1
        games += 1
    assert games >= 20
    assert hits >= 0.75 * games
