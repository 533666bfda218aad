"""BakaGo's point score against a slow account of the published formula."""

from __future__ import annotations

import random

import numpy as np
import plain_go
import pytest
from plain_go import Board

from tengen import _native
from tengen.game import Game


def near(board: Board, p: int, places: list[int]) -> float:
    """0 to 100: the first of the four moves that p is near enough to counts, less for each earlier move."""
    size = round(len(board) ** 0.5)
    for base, place in zip((100, 75, 50, 25), places, strict=False):
        if place == len(board):
            continue
        squared = (p // size - place // size) ** 2 + (p % size - place % size) ** 2
        if squared <= 18:
            return base * (36 - squared) / 36
    return 0.0


def phase(size: int, move: int) -> int:
    """The move numbers of 19x19, in proportion to the points."""
    return int(move * size * size / 361 + 0.5)


def score(board: Board, p: int, moves: list[int], published: bool) -> float:
    """The published score; its parts run from 0 to 100."""
    size = round(len(board) ** 0.5)
    recent = moves[-7:]
    places = recent[:4] if published else recent[::-1][:4]
    stones = [n for n in plain_go.neighbors(board, p) if board[n] != 2]
    fewest = min((len(plain_go.liberties(board, n)) for n in stones), default=6)
    liberty = 100 * max(6 - fewest, 0) / 5
    atari = 100 if fewest == 1 else 0
    proximity = near(board, p, places)
    row, column = divmod(p, size)
    border = row in (0, size - 1) or column in (0, size - 1)
    total = 5 + 10 * (not border) + 0.2 * liberty + 0.2 * atari + 0.2 * proximity
    if len(moves) < phase(size, 30):
        share = len(moves) / phase(size, 30)
        away = min(abs(at - line) for at in (row, column) for line in (3, size - 4))
        fourth = 100 * (1 - min(away, 7) / 7)
        return total + 0.25 * fourth * (1 - share) + share * 0.25 * (liberty + atari + proximity) / 3
    if len(moves) <= phase(size, 190):
        return total + 0.25 * (liberty + atari + proximity) / 3
    both = {board[n] for n in stones} == {0, 1}
    return total + 0.125 * (liberty + atari) + 50 * both


@pytest.mark.parametrize("size", [5, 9, 13, 19])
def test_point_score(size: int) -> None:
    rng = random.Random(size)
    game = Game(size)
    board = plain_go.empty_board(size)
    moves: list[int] = []
    while len(moves) < phase(size, 250):
        legal = game.legal_points()
        p = size * size if rng.random() < 0.1 or not legal else rng.choice(legal)
        if p < size * size:
            played = plain_go.play(board, p, game.to_play)
            assert played
            board = played.board
        game.play(p)
        moves.append(p)
        if rng.random() > 0.2 and len(moves) > 8:
            continue
        for published in (False, True):
            scores = _native.bakago_scores(game.native(), published)
            slow = [score(board, q, moves, published) if board[q] == 2 else 0.0 for q in range(size * size)]
            assert np.allclose(scores.ravel(), slow, atol=1e-3), (moves, published)


def test_the_queue_as_published_forgets_the_newest_moves() -> None:
    game = Game(19)
    moves = ["D4", "E4", "D5", "E5", "Q16", "R16", "Q15"]
    for move in moves:
        game = game.play(move)
    meant, published = (_native.bakago_scores(game.native(), queue) for queue in (False, True))
    near_old, near_new = game.point("F3"), game.point("P17")
    assert published.ravel()[near_new] < meant.ravel()[near_new]
    assert published.ravel()[near_old] > meant.ravel()[near_old]


def test_weights_are_the_scores_of_good_points() -> None:
    game = Game(9).play("E5").play("C3")
    weights = _native.playout_weights(game.native(), "bakago")
    scores = _native.bakago_scores(game.native()).ravel()
    empty = [p for p in range(81) if p not in (game.point("E5"), game.point("C3"))]
    assert np.allclose(weights[empty], scores[empty])
    assert weights[81] == 1
    assert weights[game.point("E5")] == 0
