"""The moves that a player may make, by hand; draws against their closed form."""

import numpy as np
import pytest

from tengen import coords
from tengen.game import BLACK, WHITE, Game
from tengen.match.moves import allowed_moves, draw_moves

# Black's stones stand around A3, C3, D4 and E5. White's B4 is at a corner of A3, B4 and D2 are at corners of C3.
EYES = """
. . . X .
X O X . X
. X . X .
X . X O .
. . . . .
"""


def named(row: np.ndarray) -> set[str]:
    return {coords.to_gtp(int(point), 5) for point in np.flatnonzero(row)}


def test_an_eye_has_its_own_stones_around_it_and_few_of_the_opponent_at_its_corners() -> None:
    games = [Game.from_diagram(text, to_play=BLACK) for text in (EYES, EYES.replace("O", "X"))]
    filled = allowed_moves(games, "no-useful-move", "none")
    eyes = [
        named(allowed_moves([game], "free", "none")[0]) - named(row) for game, row in zip(games, filled, strict=True)
    ]
    assert eyes == [{"D4", "E5", "pass"}, {"A3", "C3", "D4", "E5", "pass"}]


def test_moves_in_pass_alive_area_are_not_useful() -> None:
    # Black lives at the bottom with the eyes A1 and C1. E5 is White's only eye: Black may want it, White does not.
    game = Game.from_diagram(". . . O .\n. . O O O\n. . . . .\nX X X X .\n. X . X .", to_play=WHITE)
    open_points = {"A5", "B5", "C5", "A4", "B4", "A3", "B3", "C3", "D3", "E3", "E2", "E1"}
    assert named(allowed_moves([game], "free", "pass-alive")[0]) == open_points | {"E5", "pass"}
    assert named(allowed_moves([game], "no-useful-move", "pass-alive")[0]) == open_points
    game.play("pass")
    assert named(allowed_moves([game], "free", "pass-alive")[0]) == open_points | {"A1", "C1", "pass"}
    assert named(allowed_moves([game], "no-useful-move", "pass-alive")[0]) == open_points


def test_without_dead_stones_captures_stay_useful() -> None:
    # White's E3 is dead in Black's area, which counts for White where the board counts as it stands.
    game = Game.from_diagram(". X . X .\nX X X X X\n. X . . O\nX X X X .\n. X . X .", to_play=BLACK)
    assert named(allowed_moves([game], "no-useful-move", "pass-alive")[0]) == {"pass"}
    assert named(allowed_moves([game], "no-useful-move", "none")[0]) == {"C3", "D3", "E1", "E2"}


def test_pass_is_allowed_when_nothing_else_is_useful() -> None:
    game = Game.from_diagram("X X X X X\nX . X . X\nX X X X X\nO O O O O\n. O . O .", to_play=BLACK)
    assert named(allowed_moves([game], "no-useful-move", "pass-alive")[0]) == {"pass"}
    assert named(allowed_moves([game], "no-legal-move", "pass-alive")[0]) == {"B4", "D4"}
    assert len(named(allowed_moves([game], "free", "pass-alive")[0])) > 1


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_draws_follow_the_powers_of_the_policy(temperature: float) -> None:
    policy = np.array([0.5, 0.2, 0.3, 0.0], np.float32)
    allowed = np.array([True, True, False, True])
    expected = np.array([0.5, 0.2]) ** (1 / temperature)
    grid = (np.arange(10_000) + 0.5) / 10_000
    drawn = draw_moves(np.tile(policy, (len(grid), 1)), np.tile(allowed, (len(grid), 1)), temperature, grid)
    shares = np.bincount(drawn, minlength=4) / len(grid)
    np.testing.assert_allclose(shares, [*(expected / expected.sum()), 0, 0], atol=1e-4)


def test_the_largest_draw_is_still_an_allowed_move() -> None:
    policy = np.full((1, 50), 1 / 49, np.float32)
    allowed = np.ones((1, 50), bool)
    allowed[0, [0, 49]] = False
    assert draw_moves(policy, allowed, 1.0, np.array([np.nextafter(1.0, 0)])) == 48
    assert draw_moves(policy, allowed, 1.0, np.array([0.0])) == 1


def test_without_temperature_the_best_allowed_move_is_made_and_without_mass_any() -> None:
    policy = np.array([[0.1, 0.6, 0.3], [0.0, 1.0, 0.0]], np.float32)
    allowed = np.array([[True, False, True], [True, False, True]])
    assert draw_moves(policy, allowed, 0, np.zeros(2)).tolist() == [2, 0]
    assert draw_moves(policy[1:], allowed[1:], 1.0, np.array([0.9])).tolist() == [2]


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_a_share_of_the_moves_is_drawn_evenly(share: float) -> None:
    """A thousand equal steps of the random number: a quarter of them even among the three allowed moves, the rest the
    best one."""
    policy = np.tile([0.1, 0.6, 0.25, 0.05], (1200, 1))
    allowed = np.tile([True, True, False, True], (1200, 1))
    steps = (np.arange(1200) + 0.5) / 1200
    counts = np.bincount(draw_moves(policy, allowed, 0, steps, share), minlength=4)
    each = 400 * share
    assert counts.tolist() == [each, 1200 - 2 * each, 0, each]
    counts = np.bincount(draw_moves(policy, allowed, 1.0, steps, share), minlength=4)
    rest = 1200 * (1 - share)
    assert counts.tolist() == pytest.approx(
        [each * (part > 0) + rest * part / 0.75 for part in (0.1, 0.6, 0, 0.05)], abs=1.01
    )
