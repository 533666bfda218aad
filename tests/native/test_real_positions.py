"""Ladders and life of positions from real games, against the slow readings."""

from __future__ import annotations

import pytest
from known_games import tygem_records
from plain_reading import TooLong, slow_ladders, slow_pass_alive

from tengen import sgf
from tengen.game import Game


@pytest.fixture(scope="module")
def games() -> list[Game]:
    return [sgf.read_game(record, partial=True)[0] for record in tygem_records()[:80]]


@pytest.fixture(scope="module")
def positions(games: list[Game]) -> list[Game]:
    """One position of each of the first games, from ever later in the game."""
    found = [game.copy() for game in games[:24]]
    for i, game in enumerate(found):
        while len(game.moves) > 40 + 8 * i:
            game.undo()
    return found


def test_ladders(positions: list[Game]) -> None:
    read, laddered = 0, 0
    for game in positions:
        try:
            expected = slow_ladders(tuple(game.board.ravel().tolist()), game.to_play)
        except (TooLong, RecursionError):
            continue
        assert game.ko is not None or game.ladders() == expected, str(game)
        read += 1
        laddered += bool(expected.black or expected.white)
    assert read >= len(positions) - 2 and laddered >= len(positions) // 3


def test_pass_alive(games: list[Game]) -> None:
    alive = 0
    for game in sorted(games, key=lambda game: len(game.moves))[-10:]:  # short games end before there are two eyes
        board = tuple(game.board.ravel().tolist())
        owners = game.pass_alive().ravel().tolist()
        for color in (0, 1):
            expected = slow_pass_alive(board, color, game.rules.suicide)
            assert {p for p, owner in enumerate(owners) if owner == color} == expected, str(game)
            alive += bool(expected)
    assert alive >= 3
