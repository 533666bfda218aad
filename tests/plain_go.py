"""A second, slow and obvious account of the rules for tests: boards are lists of 0 black, 1 white, 2 empty."""

from __future__ import annotations

import random
from typing import NamedTuple

Board = tuple[int, ...]


class Played(NamedTuple):
    """The board after a move, and the point where the move made a ko."""

    board: Board
    ko: int | None


def side(board: Board) -> int:
    return round(len(board) ** 0.5)


def neighbors(board: Board, p: int) -> list[int]:
    size = side(board)
    row, column = divmod(p, size)
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * size + c for r, c in around if 0 <= r < size and 0 <= c < size]


def connected(board: Board, p: int, colors: set[int]) -> frozenset[int]:
    """Return the points joined to p through points of the colours."""
    found, waiting = {p}, [p]
    while waiting:
        for n in neighbors(board, waiting.pop()):
            if n not in found and board[n] in colors:
                found.add(n)
                waiting.append(n)
    return frozenset(found)


def chain(board: Board, p: int) -> frozenset[int]:
    return connected(board, p, {board[p]})


def border(board: Board, points: frozenset[int], color: int) -> set[int]:
    """Return the points of the colour that touch the given points."""
    return {n for p in points for n in neighbors(board, p) if board[n] == color} - points


def liberties(board: Board, p: int) -> set[int]:
    return border(board, chain(board, p), 2)


def chains(board: Board, color: int) -> set[frozenset[int]]:
    return {chain(board, p) for p, c in enumerate(board) if c == color}


def play(board: Board, p: int, color: int, suicide: bool = False) -> Played | None:
    """Play a move; None if the point is taken or the move a suicide that is not allowed. Knows nothing of ko bans."""
    if board[p] != 2:
        return None
    after = list(board)
    after[p] = color
    taken = {s for n in neighbors(board, p) if board[n] == 1 - color and not liberties(tuple(after), n)
             for s in chain(board, n)}  # fmt: skip
    for s in taken:
        after[s] = 2
    own = chain(tuple(after), p)
    if liberties(tuple(after), p):
        ko = taken.copy().pop() if len(taken) == 1 and len(own) == 1 and liberties(tuple(after), p) == taken else None
        return Played(tuple(after), ko)
    if not suicide or len(own) == 1:
        return None
    for s in own:
        after[s] = 2
    return Played(tuple(after), None)


def random_board(size: int, moves: int, rng: random.Random) -> Board:
    """Play random moves of alternating colours, sparing own one-point eyes so that life comes about."""
    board: Board = (2,) * (size * size)
    for turn in range(moves):
        color = turn % 2
        points = [p for p, c in enumerate(board) if c == 2 and any(board[n] != color for n in neighbors(board, p))]
        rng.shuffle(points)
        board = next((after.board for p in points if (after := play(board, p, color))), board)
    return board


def diagram(board: Board) -> str:
    size = side(board)
    return "\n".join(" ".join("XO."[c] for c in board[r * size : (r + 1) * size]) for r in range(size))
