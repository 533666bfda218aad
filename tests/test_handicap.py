"""Handicap points: GTP's table, and free placement of any number on any size."""

from __future__ import annotations

import pytest

from tengen.coords import to_gtp
from tengen.errors import IllegalMove
from tengen.game import Game
from tengen.handicap import fixed_handicap, free_handicap, most_fixed


@pytest.mark.parametrize(
    ("size", "stones", "vertices"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 D16 Q16"),
        (19, 4, "D4 D16 Q4 Q16"),
        (19, 5, "D4 D16 K10 Q4 Q16"),
        (19, 6, "D4 D10 D16 Q4 Q10 Q16"),
        (19, 7, "D4 D10 D16 K10 Q4 Q10 Q16"),
        (19, 8, "D4 D10 D16 K4 K16 Q4 Q10 Q16"),
        (19, 9, "D4 D10 D16 K4 K10 K16 Q4 Q10 Q16"),
        (9, 4, "C3 C7 G3 G7"),
        (13, 5, "D4 D10 G7 K4 K10"),
        (8, 4, "C3 C6 F3 F6"),
        (7, 4, "C3 C5 E3 E5"),
    ],
)
def test_fixed_points_of_gtp(size: int, stones: int, vertices: str) -> None:
    assert {to_gtp(p, size) for p in fixed_handicap(size, stones)} == set(vertices.split())


@pytest.mark.parametrize("size", range(5, 20))
def test_limits_and_free_placement(size: int) -> None:
    most = most_fixed(size)
    assert most == (0 if size < 7 else 9 if size >= 9 and size % 2 else 4)
    for stones in (0, 1, most + 1, -3):
        with pytest.raises(IllegalMove):
            fixed_handicap(size, stones)
    for stones in {2, 3, 9, 17, size * size - 1 if size < 10 else 30}:
        points = free_handicap(size, stones)
        assert len(set(points)) == stones
        game = Game(size)
        assert game.place_handicap(stones) == points
        assert game.handicap == stones
    for stones in (1, size * size):
        with pytest.raises(IllegalMove):
            free_handicap(size, stones)
