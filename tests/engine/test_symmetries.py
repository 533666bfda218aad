"""The symmetries of a position, and the images of a point under them."""

from __future__ import annotations

import numpy as np

from tengen import _native
from tengen.engine.search import MoveRestriction
from tengen.engine.symmetries import distinct_images, root_symmetries
from tengen.game import BLACK, Game


def _fixed(point: int, symmetry: int) -> bool:
    return bool(_native.transform(point, 5, symmetry) == point)


def test_symmetric_stones_with_a_ko_on_one_side_have_no_symmetry() -> None:
    """Two kos, of which Black has just taken the one on the left."""
    game = Game.from_diagram(
        """
        . X O . . . O X .
        X O . O . O X . X
        . X O . . . O X .
        """
        + 6 * ". . . . . . . . .\n"
    )
    game.play("C8")
    assert np.array_equal(game.board, game.board[:, ::-1]) and game.ko == game.point("B8")
    assert root_symmetries(game, []) == []
    game.play("E2")
    game.play("E1")
    assert game.ko is None and root_symmetries(game, []) == [2]


def test_an_encore_has_no_symmetries() -> None:
    """Its blocked kos and the stones with which it began are not those of the board."""
    game = Game(5, "japanese").play_encore()
    assert root_symmetries(game, []) == list(range(1, 8))
    game.play("pass").play("pass")
    assert game.encore == 1 and root_symmetries(game, []) == []


def test_restrictions_leave_the_symmetries_that_keep_each_of_them() -> None:
    game = Game(5)
    assert root_symmetries(game, []) == list(range(1, 8))
    center, corners = MoveRestriction(BLACK, [12, 12], 1), [MoveRestriction(BLACK, [p], p + 1) for p in (0, 4)]
    assert root_symmetries(game, 100 * [center]) == list(range(1, 8))
    kept = [s for s in range(1, 8) if _fixed(0, s) and _fixed(4, s)]
    assert root_symmetries(game, [*(100 * [center]), *corners]) == kept
    opposite = root_symmetries(game, [MoveRestriction(BLACK, [0, 24], 1)])
    stones = Game.from_diagram(". X . X .\n. . . . .\n. . . . .\n. . . . .\n. . . . .")
    assert root_symmetries(stones, [MoveRestriction(stones.to_play, [1], 1)]) == [2], "a stone forbids both by itself"
    assert 3 in opposite and root_symmetries(game, [MoveRestriction(BLACK, [p], 1) for p in (0, 24)]) == opposite
    assert root_symmetries(game, [MoveRestriction(1 - BLACK, [0], 1)]) == list(range(1, 8)), "the opponent's moves"
    assert root_symmetries(game, [MoveRestriction(1 - BLACK, [0], 2)]) == [s for s in range(1, 8) if _fixed(0, s)]


def test_each_image_of_a_point_has_the_first_symmetry_that_makes_it() -> None:
    assert distinct_images(0, 5, range(1, 8)) == {0: 0, 20: 1, 4: 2, 24: 3}
    assert distinct_images(1, 5, [4, 7]) == {1: 0, 5: 4, 19: 7}
    for fixed in (12, 25):  # the center and pass
        assert distinct_images(fixed, 5, range(1, 8)) == {fixed: 0}
