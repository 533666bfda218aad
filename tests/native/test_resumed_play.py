"""Territory scoring of play that goes on after two passes: showing what is dead costs nothing."""

from __future__ import annotations

import random

import pytest

from tengen.game import BLACK, WHITE, Game

# Black has the left with a dead white stone in it, White the right; D1 is the only dame.
SETTLED = """
    . X . X O . .
    X X X X O O .
    . X . X O . O
    X X X X O O O
    . . . X O . .
    . O . X O . .
    . . X . O . .
"""
# Black: A7 C7 A5 C5, eight points of the lower left, and B2 as a prisoner. White: F7 G7 G6 F5, six points below.
SCORE = 4 + 8 + 1 - (4 + 6)


def resumed(moves: str, to_play: int = BLACK, komi: float = 0) -> Game:
    game = Game.from_diagram(SETTLED, "japanese", komi, to_play)
    for vertex in f"pass pass {moves}".split():
        game.play(vertex)
    return game


def test_the_position_is_counted_by_hand() -> None:
    assert resumed("").score(["B2"]) == SCORE


@pytest.mark.parametrize(
    ("to_play", "moves", "dead"),
    [
        (BLACK, "B1 pass A2 pass C2 pass B3 pass pass", ""),  # Black captures the dead stone
        (BLACK, "B1 pass A2 pass C2 pass B3 F1 pass pass", ""),  # White answers once
        (BLACK, "B1 A1 A2 pass C2 pass B3 pass pass", "A1"),  # White adds stones in vain
        (WHITE, "C3 pass A3 pass pass", "B2 C3 A3"),  # White attacks, Black has no need to answer
        (WHITE, "C3 C2 A3 B3 pass pass", "B2 C3 A3"),  # and answers although he has no need to
        (WHITE, "G1 pass F2 pass F3 pass pass", "B2"),  # White fills his own territory
        (BLACK, "D1 pass pass", "B2"),  # a dame
        (BLACK, "B1 pass pass pass A2 pass pass pass C2 pass pass pass B3 pass pass", ""),  # four resumptions
    ],
)
def test_play_that_changes_nothing_costs_nothing(to_play: int, moves: str, dead: str) -> None:
    """However many stones either side plays: the score is that of the position in which the players first passed."""
    game = resumed(moves, to_play)
    assert game.is_over and game.score(dead.split()) == SCORE
    assert game.undo() and not game.is_over


def test_play_without_a_stop_costs_as_ever() -> None:
    game = Game.from_diagram(SETTLED, "japanese", 0, BLACK)
    for vertex in ["B1", "pass", "A2", "pass", "C2", "pass", "B3", "pass", "pass"]:
        game.play(vertex)
    assert game.score() == SCORE - 4


def test_a_group_that_comes_to_life_is_counted_as_played() -> None:
    """White makes two eyes where Black only passes: her stones are no points, and take Black's away."""
    game = resumed("A3 pass B3 pass C3 pass C2 pass A1 pass", WHITE)
    alive = Game.from_diagram(str(game), "japanese", 0, BLACK)
    assert game.score() == alive.score()
    assert game.board[4, 0] == WHITE and game.owners()[5, 0] == WHITE


@pytest.mark.parametrize("rules", ["japanese", "ancient-territory", "ko=simple,scoring=territory,tax=none"])
def test_a_game_that_begins_with_passes_is_an_ordinary_game(rules: str) -> None:
    """The points of an empty board belong to nobody, so nothing is free."""
    rng = random.Random(5)
    plain, stopped = Game(7, rules, 0), Game(7, rules, 0).play("pass").play("pass")
    for _ in range(60):
        point = rng.choice([*plain.legal_points(), 49])
        if plain.passes and point == 49:
            break
        plain.play(point)
        stopped.play(point)
    assert stopped.score() == plain.score()


def test_area_scoring_knows_no_resumption() -> None:
    game = Game.from_diagram(SETTLED, "chinese", 0, BLACK)
    agreed = game.score(["B2"])
    for vertex in ["pass", "pass", "B1", "pass", "A2", "pass", "C2", "pass", "B3", "pass", "pass"]:
        game.play(vertex)
    assert game.score() == agreed
