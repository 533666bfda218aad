"""Ladders against diagrams decided by hand and against the slow reader."""

from __future__ import annotations

import random

import pytest
from plain_go import chains, diagram, liberties, random_board
from plain_reading import TooLong, make_reader, slow_ladders

from tengen.errors import IllegalMove
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


@pytest.mark.parametrize(("size", "count"), [(5, 60), (7, 50), (9, 30)])
def test_questions_about_one_chain_agree_with_the_slow_reader(size: int, count: int) -> None:
    rng = random.Random(100 + size)
    in_atari, with_two = 0, 0
    for _ in range(count):
        board = random_board(size, rng.randrange(size, size * size), rng)
        game, reader = Game.from_diagram(diagram(board)), make_reader(20_000)
        for stones in chains(board, 0) | chains(board, 1):
            stone = min(stones)
            free = liberties(board, stone)
            try:
                if len(free) == 1:
                    assert game.ladder_escapes(stone) == sorted(reader.saving(board, stone))
                    assert game.is_laddered(stone) == (not reader.escapes(board, stone))
                    assert game.ladder_captures(stone) == sorted(free)
                    in_atari += 1
                else:
                    catching = reader.catching(board, stone, free) if len(free) == 2 else set()
                    assert game.ladder_captures(stone) == sorted(catching)
                    assert game.is_laddered(stone) == bool(catching)
                    with pytest.raises(IllegalMove, match="not in atari"):
                        game.ladder_escapes(stone)
                    with_two += bool(catching)
            except (TooLong, RecursionError):
                continue
    assert in_atari > count and with_two > count // 4


def test_a_reading_that_runs_out_of_nodes_finds_no_ladder() -> None:
    """This ladder runs over the board for some thirty moves: a few hundred positions decide it, ten do not."""
    game = Game(19).setup(black=["D3", "C4", "E3"], white=["D4"]).play("C17").play("R4")
    after = str(game)
    assert game.is_laddered("D4") and game.ladder_captures("D4") == [game.point("D5")]
    assert not game.is_laddered("D4", nodes=10) and game.ladder_captures("D4", nodes=10) == []
    hit = game.copy().play("D5")
    assert hit.ladder_escapes("D4") == [] and hit.is_laddered("D4")
    with pytest.raises(IllegalMove, match="nodes must be 1 or more, not 0"):
        game.is_laddered("D4", nodes=0)
    assert str(game) == after


# Ladders that were composed to be hard to read: a stone that is caught at the end of each.
NAKAYAMA = """
    . . . . O . . . . . . . . . . . . . .
    O . . . . . . . . . . . . . . . . . O
    . . . . . . . . . . . . . . . . . . O
    . . . O O X O . . . . . . . . . . . .
    O . . . O X O O O O . O . . . . . O .
    O X X X X X X X X X O . . . . . . . .
    X O O O . X . . . . X . . . . . . . O
    X . O O O X . . . . X O . . . . . . .
    X O O O O X . . . . X . . . . . . . .
    O X X X X X X X X X O . . . . . . . O
    O O . . . X O . . O . . . . . . . . .
    . O . O . X . O . . . . . . . . . . .
    . . . . . . O . . . . . . . . . . . .
    . . . . O . . . . X . . . . . . . . .
    O . . . . X . . . X . . . X O . . . .
    . . . . . X . . . X . . . X . . . . .
    . . . . . X . . . X . . . X . . . . .
    . . . . O . X X X X X X X O . . . O .
    . O . . . . O O O O O O O . O . . . .
"""
BRANCHING = """
    . . . O O O O O O O O . . . . . O . O
    X X X . X X X X X . . . O O O O O . O
    O . . . . . O O . . . . . . . X X X .
    . . . . . . . O O O . . . . . . O . .
    O . O . . . . . . . . . . . . . . . .
    . . O . . . . . . O . . . . . . O . O
    . . O . . . . . . . X . . . . . O . .
    . . . . . . . . . O X . . . . . . . .
    . . . . . . . X . X . O . O . . . . .
    O X X . . . . . X . O . . . . . . . .
    O X . . . . . . X O . . . . . . . . .
    . . X O . . . . . X . . . . . . . . .
    O . . . X . . . . . . . . . . . . . .
    . . . . . . . . . . . . . . . . . . .
    . . . . . . . . . . . . . . . . . . .
    O . . . . . . . . . . . . . . . O . .
    . . . . . . . . . X O . . . . . O . .
    . . . O O . . . . X O X . X . . . X .
    . . . . . . X . O O O X . X . . O O O
"""


@pytest.mark.parametrize(("text", "stone", "nodes"), [(NAKAYAMA, "G1", 2346), (BRANCHING, "K9", 30829)])
def test_the_default_limit_is_enough_for_composed_ladders(text: str, stone: str, nodes: int) -> None:
    game = Game.from_diagram(text)
    assert game.is_laddered(stone) and game.is_laddered(stone, nodes) and not game.is_laddered(stone, nodes - 1)
    assert game.point(stone) in game.ladders().white


def test_a_chain_in_atari_and_a_forbidden_ko() -> None:
    text = """
        . X O . .
        X O . O .
        . X O . .
        . . . . .
        . . . . .
    """
    game = Game.from_diagram(text).play("C4")
    assert game.ladder_captures("C4") == [], "White may not take back at once"
    assert game.play("E1").play("E2").ladder_captures("C4") == [game.point("B4")], "a ko ban is for one move"
    for stone in ("E5", "A5"):
        with pytest.raises(IllegalMove, match="no stone"):
            game.ladder_captures(stone)
