"""Pass-alive areas against Benson's definition in sets, and against diagrams."""

from __future__ import annotations

import random

import pytest
from plain_go import Board, diagram, random_board
from plain_reading import slow_pass_alive

from tengen.game import Game

RULES = {False: "chinese", True: "tromp-taylor"}  # by whether suicide is legal


def native_pass_alive(board: Board, color: int, suicide: bool) -> set[int]:
    owners = Game.from_diagram(diagram(board), rules=RULES[suicide]).pass_alive().ravel()
    return {p for p, owner in enumerate(owners.tolist()) if owner == color}


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize(("size", "moves", "count"), [(5, 40, 60), (7, 80, 40), (9, 140, 20), (13, 320, 5)])
def test_agrees_with_the_definition(size: int, moves: int, count: int, suicide: bool) -> None:
    rng = random.Random(size)
    found = 0
    for _ in range(count):
        board = random_board(size, rng.randrange(moves // 2, moves), rng)
        for color in (0, 1):
            expected = slow_pass_alive(board, color, suicide)
            assert native_pass_alive(board, color, suicide) == expected, diagram(board)
            found += bool(expected)
    assert found > count // 10, "random boards should have some life"


def area_of(text: str, color: int, rules: str) -> str:
    """Mark the area of a color in a diagram with #."""
    owners = Game.from_diagram(text, rules=rules).pass_alive()
    return "\n".join(" ".join("#" if owner == color else "." for owner in row) for row in owners.tolist())


def test_two_eyes_in_the_corner() -> None:
    text = """
        . X . X . .
        X X X X . .
        . . . . . .
        . . . . . .
        . . O O O .
        . . O . O O
    """
    expected = "# # # # . .\n# # # # . .\n" + "\n".join([". . . . . ."] * 4)
    assert area_of(text, 0, "chinese") == expected
    assert "#" not in area_of(text, 1, "chinese"), "one eye and an open side are no life"


def test_chains_live_together_through_shared_eyes() -> None:
    text = """
        . X X . .
        X . X . .
        X X . . .
        . . . . .
        . . . . .
    """
    assert area_of(text, 0, "chinese") == "# # # . .\n# # # . .\n# # . . .\n. . . . .\n. . . . ."


def test_dead_stones_in_a_small_region_are_territory() -> None:
    text = """
        . O X . X
        O X X X X
        X X . X .
        . X X X .
        . . . . .
    """
    expected = "# # # # #\n# # # # #\n# # # # .\n. # # # .\n. . . . ."
    assert area_of(text, 0, "chinese") == expected, "the open side below has room for two eyes, the corner has not"


def test_where_suicide_is_legal_it_can_take_an_eye_away() -> None:
    text = """
        O O X . X
        . X X X X
        X X . . .
        . . . . .
        . . . . .
    """
    assert area_of(text, 0, "chinese") == "# # # # #\n# # # # #\n# # . . .\n. . . . .\n. . . . ."
    assert "#" not in area_of(text, 0, "tromp-taylor"), "three white stones can leave the corner empty"
