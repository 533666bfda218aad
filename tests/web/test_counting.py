"""Groups, territory, and the points of each side with their parts."""

import random

import numpy as np
import pytest

from tengen.game import BLACK, Game
from tengen.rules import Rules
from tengen.web.counting import group_of, points_lines, points_of, territory

# Black has the left with a dead white stone, B2, and White the right; D1 is the only dame.
SMALL = """
    . X . X O . .
    X X X X O O .
    . X . X O . O
    X X X X O O O
    . . . X O . .
    . O . X O . .
    . . X . O . .
"""
# Black and White share the points of two sekis at the top, where both have eyes.
TWO_SEKIS = """
    . X . X O . O . X
    . . . X O O O X .
    . X X X X X X O O
    X O O O O O X O .
    X O . O . O X O O
    X O O O O O X X X
    X X X O X X X O O
    . X X X O O O O .
    . X . X O . O . O
"""
RULES = ["chinese", "japanese", "aga", "aga-button", "tromp-taylor", "stone-scoring", "ancient-territory"]
RULES += ["scoring=territory,tax=none", "scoring=area,tax=seki"]


def test_a_group_reaches_over_empty_points_but_not_past_the_other_side() -> None:
    board = Game.from_diagram("X.XO.\n..XOX\n..XO.\n..XO.\n..XO.\n").board
    assert group_of(board, 0) == {0, 2, 7, 12, 17, 22}
    assert group_of(board, 9) == {9}


def test_territory_has_a_letter_a_point_and_none_for_living_stones() -> None:
    game = Game.from_diagram("X.XO.\n..XOX\n..XO.\n..XO.\n..XO.\n")
    text = territory(game, {9})
    assert len(text) == 25 and text[4] == text[9] == text[14] == "w"
    assert all(text[point] == "." for point in np.flatnonzero(game.board.ravel() == 0) if point != 9)
    assert territory(game, set())[4] == "."


def random_end(rng: random.Random, rules: str) -> tuple[Game, list[int]]:
    """A position that no two passes led to, and some of its stones."""
    game = Game(rng.randint(3, 7), rules, rng.randint(-9, 19) / 2)
    if game.size == 7 and rng.random() < 0.5:
        game.place_handicap(rng.randint(2, 4))
    for _move in range(rng.randint(0, 2 * game.size**2)):
        moves = [*game.legal_points(), *([] if game.last_was_pass else [game.pass_point])]
        if not moves:
            break
        game.play(rng.choice(moves))
    stones = np.flatnonzero(game.board.ravel() != 2).tolist()
    return game, rng.sample(stones, min(len(stones), rng.randint(0, 3)))


@pytest.mark.parametrize("rules", RULES)
def test_the_points_of_both_sides_differ_by_the_score(rules: str) -> None:
    """No part of the count is what is left over for another one: `resumed play` is."""
    rng, parts = random.Random(rules), set[str]()
    for _ in range(150):
        game, dead = random_end(rng, rules)
        black, white = points_of(game, dead)
        assert sum(black.values()) - sum(white.values()) == game.score(dead), game
        assert not black.get("resumed play") and not white.get("resumed play"), (game, dead)
        parts |= {part for points in (black, white) for part, value in points.items() if value}
    known = Rules.parse(rules)
    wanted = {"territory", "komi", "stones" if known.scoring == "area" else "prisoners"}
    used = {"handicap": known.bonus != "none", "button": known.button, "group tax": known.tax == "all"}
    assert parts == wanted | {part for part, is_used in used.items() if is_used}


@pytest.mark.parametrize("rules", RULES)
def test_the_eyes_of_a_seki_count_by_the_rules_whatever_is_dead(rules: str) -> None:
    game, rng = Game.from_diagram(TWO_SEKIS, rules, 0.5), random.Random(rules)
    stones = np.flatnonzero(game.board.ravel() != 2).tolist()
    for dead in [[], *(rng.sample(stones, rng.randint(1, 4)) for _ in range(60))]:
        black, white = points_of(game, dead)
        assert sum(black.values()) - sum(white.values()) == game.score(dead), dead
        assert not black.get("resumed play") and not white.get("resumed play"), dead


@pytest.mark.parametrize(
    ("rules", "komi", "dead", "black", "white"),
    [
        ("chinese", 7.5, ["B2"], "stones 15 + territory 12 = 27", "stones 11 + territory 10 + komi 7.5 = 28.5"),
        ("chinese", 7.5, [], "stones 15 + territory 4 = 19", "stones 12 + territory 10 + komi 7.5 = 29.5"),
        ("japanese", 6.5, ["B2"], "territory 12 + prisoners 1 = 13", "territory 10 + prisoners 0 + komi 6.5 = 16.5"),
        (
            "stone-scoring",
            -3,
            ["B2"],
            "stones 15 + territory 12 \u2212 group tax 2 = 25",
            "stones 11 + territory 10 \u2212 group tax 2 \u2212 komi 3 = 16",
        ),
    ],
)
def test_the_count_is_written_with_its_parts(rules: str, komi: float, dead: list[str], black: str, white: str) -> None:
    game = Game.from_diagram(SMALL, rules, komi)
    lines = points_lines(game, [point for vertex in dead if (point := game.point(vertex)) is not None])
    assert lines == [f"Black: {black}", f"White: {white}"]


def test_handicap_and_button_are_counted_for_their_side() -> None:
    game = Game(9, "aga-button", 7)
    game.place_handicap(2)
    for vertex in ("E5", "pass", "pass", "pass"):
        game.play(vertex)
    black, white = points_lines(game, [])
    assert black == "Black: stones 2 + territory 0 + button 0.5 = 2.5"
    assert white == "White: stones 1 + territory 0 + komi 7 + handicap 1 = 9" and game.score() == -6.5


def test_stones_that_show_what_is_dead_are_a_part_of_the_count() -> None:
    game = Game.from_diagram(SMALL, "japanese", 0, BLACK)
    for vertex in ("pass", "pass", "B1", "pass", "A2", "pass", "C2", "pass", "B3", "pass", "pass"):
        game.play(vertex)
    black, white = points_lines(game, [])
    assert black == "Black: territory 8 + prisoners 1 + resumed play 4 = 13"
    assert white == "White: territory 10 + prisoners 0 = 10" and game.score() == 3
