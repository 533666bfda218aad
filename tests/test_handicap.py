"""Handicap points: GTP's table, and free placement of any number on any size."""

from __future__ import annotations

import pytest

from tengen.coords import MAX_SIZE, to_gtp
from tengen.errors import IllegalMove
from tengen.game import Game
from tengen.handicap import fixed_handicap, free_handicap, max_fixed_handicap


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


# GTP 2, section 4.1.1: the third line from the edge below 13x13, else the fourth; by hand for every size that has any.
LINES = {7: "C3 C5 E3 E5", 8: "C3 C6 F3 F6", 9: "C3 C7 G3 G7", 10: "C3 C8 H3 H8", 11: "C3 C9 J3 J9"}
LINES |= {12: "C3 C10 K3 K10", 13: "D4 D10 K4 K10", 14: "D4 D11 L4 L11", 15: "D4 D12 M4 M12", 16: "D4 D13 N4 N13"}
LINES |= {17: "D4 D14 O4 O14", 18: "D4 D15 P4 P15", 19: "D4 D16 Q4 Q16"}
LINES |= {20: "D4 D17 R4 R17", 21: "D4 D18 S4 S18", 22: "D4 D19 T4 T19", 23: "D4 D20 U4 U20"}
LINES |= {24: "D4 D21 V4 V21", 25: "D4 D22 W4 W22"}
SIDES = {9: "C5 G5 E3 E7 E5", 11: "C6 J6 F3 F9 F6", 13: "D7 K7 G4 G10 G7", 15: "D8 M8 H4 H12 H8"}
SIDES |= {17: "D9 O9 J4 J14 J9", 19: "D10 Q10 K4 K16 K10"}
SIDES |= {21: "D11 S11 L4 L18 L11", 23: "D12 U12 M4 M20 M12", 25: "D13 W13 N4 N22 N13"}


@pytest.mark.parametrize("size", range(2, MAX_SIZE + 1))
def test_fixed_points_of_every_size(size: int) -> None:
    """Two corners, a third, all four; then the sides, left and right first; odd numbers from five have the middle."""
    if size not in LINES:
        assert max_fixed_handicap(size) == 0
        return
    low_left, high_left, low_right, high_right = LINES[size].split()
    expected = {2: [low_left, high_right], 3: [low_left, high_right, high_left]}
    expected[4] = [low_left, high_right, high_left, low_right]
    if size in SIDES:
        left, right, below, above, middle = SIDES[size].split()
        expected[5] = [*expected[4], middle]
        expected[6] = [*expected[4], left, right]
        expected[7] = [*expected[6], middle]
        expected[8] = [*expected[6], below, above]
        expected[9] = [*expected[8], middle]
    assert max(expected) == max_fixed_handicap(size)
    for stones, vertices in expected.items():
        assert {to_gtp(p, size) for p in fixed_handicap(size, stones)} == set(vertices)


@pytest.mark.parametrize("size", range(2, MAX_SIZE + 1))
def test_limits_and_free_placement(size: int) -> None:
    most = max_fixed_handicap(size)
    assert most == (0 if size < 7 else 9 if size >= 9 and size % 2 else 4)
    for stones in (0, 1, most + 1, -3):
        with pytest.raises(IllegalMove):
            fixed_handicap(size, stones)
    for stones in {n for n in (2, 3, 9, 17, size * size - 1 if size < 10 else 30) if n < size * size}:
        points = free_handicap(size, stones)
        assert len(set(points)) == stones
        game = Game(size)
        assert game.place_handicap(stones) == points
        assert game.handicap == stones
    for stones in (1, size * size):
        with pytest.raises(IllegalMove):
            free_handicap(size, stones)


@pytest.mark.parametrize(
    ("size", "stones", "vertices"),
    [
        # By hand: the centre, then the diagonal neighbors (the corners are open but on the edge), then the centre's.
        (5, 2, "C3 B4"),
        (5, 5, "C3 B4 D4 B2 D2"),
        (5, 6, "C3 B4 D4 B2 D2 C4"),
        # The middles between four star points, then the first point of the third line four away from two stones.
        (19, 10, "D4 D10 D16 K4 K10 K16 Q4 Q10 Q16 G13"),
        (19, 14, "D4 D10 D16 K4 K10 K16 Q4 Q10 Q16 G13 N13 G7 N7 G17"),
        # Four corners and no more by GTP's table.
        (8, 5, "C3 C6 F3 F6 D5"),
    ],
)
def test_free_points_after_the_fixed_ones(size: int, stones: int, vertices: str) -> None:
    assert {to_gtp(p, size) for p in free_handicap(size, stones)} == set(vertices.split())
