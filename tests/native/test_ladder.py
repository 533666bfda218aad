"""Ladders against diagrams decided by hand and against the slow reader."""

from __future__ import annotations

import random

import pytest
from plain_go import diagram, random_board
from plain_reading import TooLong, slow_ladders

from tengen.game import BLACK, WHITE, Game


@pytest.mark.parametrize(("size", "count"), [(5, 150), (7, 120), (9, 80), (13, 20)])
def test_agrees_with_a_slow_reader(size: int, count: int) -> None:
    rng = random.Random(size)
    compared, laddered = 0, 0
    for _ in range(count):
        board = random_board(size, rng.randrange(size, size * size), rng)
        to_play = rng.randrange(2)
        try:
            expected = slow_ladders(board, to_play)
        except (TooLong, RecursionError):
            continue
        assert Game.from_diagram(diagram(board), to_play=to_play).ladders() == expected, diagram(board)
        compared += 1
        laddered += bool(expected.captures)
    assert compared > count * 0.9
    assert laddered > count * 0.2


def mark(text: str, to_play: int) -> str:
    """Draw the answer: # laddered stones of the side to play, @ of the other, c and e its moves that catch or save."""
    game = Game.from_diagram(text, to_play=to_play)
    found = game.ladders()
    signs = {p: "." for p in range(game.size**2)}
    signs |= dict.fromkeys((found.black, found.white)[to_play], "#")
    signs |= dict.fromkeys((found.black, found.white)[1 - to_play], "@")
    signs |= dict.fromkeys(found.captures, "c") | dict.fromkeys(found.escapes, "e")
    return "\n".join(" ".join(signs[r * game.size + c] for c in range(game.size)) for r in range(game.size))


def expect(text: str, to_play: int, answer: str) -> None:
    assert mark(text, to_play) == "\n".join(line.strip() for line in answer.strip().splitlines())


def test_a_working_ladder_runs_either_way() -> None:
    text = """
        . . . . . . .
        . . . . . . .
        . . . X . . .
        . . X O . . .
        . . . . X . .
        . . . . . . .
        . . . . . . .
    """
    answer = """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . @ c . .
        . . . c . . .
        . . . . . . .
        . . . . . . .
    """
    expect(text, BLACK, answer)
    expect(text, WHITE, answer.replace("@", "#").replace("c", "."))


def test_a_breaker_leaves_the_other_way() -> None:
    text = """
        . . . . . . . . .
        . . . . . . . . .
        . . . X . . . . .
        . . X O . . . . .
        . . . . X . . . .
        . . . . . . . . .
        . O . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """
    answer = """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . @ . . . . .
        . . . c . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """
    expect(text, BLACK, answer)


@pytest.mark.parametrize("breaker", [False, True])
def test_a_chain_in_atari_escapes_only_to_a_breaker(breaker: bool) -> None:
    text = """
        . . . . . . .
        . . . X . . .
        . . X O X . .
        . . . . X . .
        . . . . . . .
        . ? . . . . .
        . . . . . . .
    """.replace("?", "O" if breaker else ".")
    answer = """
        . . . . . . .
        . . . . . . .
        . . . # . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """
    if breaker:
        answer = answer.replace("# . . .\n        . . . .", ". . . .\n        . . . e")
    expect(text, WHITE, answer)


def test_the_edge_stops_a_chain() -> None:
    text = """
        . . O . . . O X .
        . X O X . X O X .
        . . X . . . X . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """
    answer = """
        . c @ c . . @ . .
        . . @ . . . @ . .
    """ + "        . . . . . . . . .\n" * 7  # fmt: skip
    expect(text, BLACK, answer)  # with one liberty even an extension along the edge is caught


def test_a_throw_in_that_may_be_taken() -> None:
    text = """
        O . . X .
        O O O X .
        X X X . .
        . . . . .
        . . . . .
    """
    answer = """
        @ c c . .
        @ @ @ . .
        . . . . .
        . . . . .
        . . . . .
    """
    expect(text, BLACK, answer)  # after the throw-in on the left, taking it leaves White in atari


def test_an_attacker_in_atari_can_be_captured() -> None:
    text = """
        . . . . . . .
        . . . O . . .
        . . O X . . .
        . . X O X . .
        . . X . X . .
        . . . X . . .
        . . . . . . .
    """
    answer = """
        . . . . . . .
        . . . . . . .
        . . . . e . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """
    expect(text, WHITE, answer)


@pytest.mark.parametrize("ko", [False, True])
def test_a_ko_is_no_ladder(ko: bool) -> None:
    # Black catches the stone in the second row by taking the one below it, unless that is a ko.
    text = """
        . X . X . . .
        . X O X . . .
        . O . O X . .
        . . ? X . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """.replace("?", "O" if ko else ".")
    nothing = ". . . . . . .\n"
    caught = nothing + ". . @ . . . .\n. . c . . . .\n" + nothing * 4
    expect(text, BLACK, nothing * 7 if ko else caught)
