"""Local questions about stones, against diagrams and against what the native board does with the move."""

from __future__ import annotations

import random

import numpy as np
from known_positions import SEKI, SETTLED

from tengen import coords
from tengen.engine.shapes import Shapes
from tengen.game import BLACK, EMPTY, WHITE, Game


def points(text: str, size: int = 9) -> set[int]:
    return {coords.from_gtp(word, size) for word in text.split()}


def random_game(seed: int, size: int, moves: int) -> Game:
    generator, game = random.Random(seed), Game(size)
    for _ in range(moves):
        game.play(generator.choice(game.legal_points() or [size * size]))
    return game


def test_liberties_after_a_move_are_those_that_the_board_then_has() -> None:
    for seed in range(30):
        game = random_game(seed, 5 + seed % 5, 20 + seed)
        shapes, color = Shapes(game), game.to_play
        for point in game.legal_points():
            after = Shapes(game.copy().play(point))
            liberties = len(after.chain_at(point).liberties)
            assert shapes.liberties_after(point, color) == liberties
            taken = {s for chain in shapes.captured_by(point, color) for s in chain.stones}
            before, now = np.array(shapes.colors), np.array(after.colors)
            assert taken == set(np.flatnonzero((before != EMPTY) & (now == EMPTY)))
            assert shapes.is_self_atari(point, color) == (liberties == 1 and not taken)


def test_chains_part_the_stones() -> None:
    game = random_game(7, 9, 60)
    chains = Shapes(game).chains
    assert sum(len(chain.stones) for chain in chains) == int((game.board != EMPTY).sum())


def test_true_eyes_are_not_filled_and_false_ones_may_be() -> None:
    shapes = Shapes(Game.from_diagram(SETTLED))
    black = {p for p in range(81) if shapes.colors[p] == EMPTY and shapes.fills_own_eye(p, BLACK)}
    assert black == points("A9 B7 A5 C5 A3 A1")
    white = {p for p in range(81) if shapes.colors[p] == EMPTY and shapes.fills_own_eye(p, WHITE)}
    assert white == points("E9 G9 J9 E7 G4 H3")


def test_a_seki_is_found_and_the_living_groups_around_it_are_not() -> None:
    assert set(Game.from_diagram(SEKI).seki_stones([])) == points(
        "B9 B8 B7 C7 B6 C6 A9 A8 A7 A6 A5 B5 C5 D5 D6 D7 D8 D9"
    )


def test_a_dame_between_living_groups_is_no_seki() -> None:
    game = Game.from_diagram(SETTLED.replace("X X X X X O . O O", "X X X X X . . O O"))
    assert not game.seki_stones([])
