"""A second, slow and obvious account of the stones for tests: boards are tuples of 0 black, 1 white, 2 empty.

With plain_game (rules, history, counting) and plain_reading (ladders, life) this is the twin of the native core. It
shares nothing with it but the numbers of points: row by row from the top-left corner.
"""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

Board = tuple[int, ...]


class Played(NamedTuple):
    """The board after a move, the other side's stones that it took and the own ones that it lost."""

    board: Board
    taken: frozenset[int]
    lost: frozenset[int]


def empty_board(size: int) -> Board:
    return (2,) * (size * size)


@cache
def neighbor_table(points: int) -> list[list[int]]:
    size = round(points**0.5)

    def around(row: int, column: int) -> list[int]:
        places = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [r * size + c for r, c in places if 0 <= r < size and 0 <= c < size]

    return [around(row, column) for row in range(size) for column in range(size)]


def neighbors(board: Board, p: int) -> list[int]:
    return neighbor_table(len(board))[p]


def connected(board: Board, p: int, colors: set[int]) -> frozenset[int]:
    """Return the points joined to p through points of the colors."""
    near = neighbor_table(len(board))
    found, waiting = {p}, [p]
    while waiting:
        for n in near[waiting.pop()]:
            if n not in found and board[n] in colors:
                found.add(n)
                waiting.append(n)
    return frozenset(found)


def chain(board: Board, p: int) -> frozenset[int]:
    return connected(board, p, {board[p]})


def border(board: Board, points: frozenset[int], color: int) -> set[int]:
    """Return the points of the color that touch the given points."""
    near = neighbor_table(len(board))
    return {n for p in points for n in near[p] if board[n] == color} - points


def liberties(board: Board, p: int) -> set[int]:
    return border(board, chain(board, p), 2)


def has_liberty(board: Board, p: int) -> bool:
    return any(board[n] == 2 for stone in chain(board, p) for n in neighbors(board, stone))


def components(board: Board, colors: set[int]) -> set[frozenset[int]]:
    """Return the connected pieces of all points of the colors."""
    left = {p for p, c in enumerate(board) if c in colors}
    found = set()
    while left:
        piece = connected(board, min(left), colors)
        left -= piece
        found.add(piece)
    return found


def chains(board: Board, color: int) -> set[frozenset[int]]:
    return components(board, {color})


def put(board: Board, points: frozenset[int], color: int) -> Board:
    """Return the board with the color, or emptiness, on the points."""
    after = list(board)
    for p in points:
        after[p] = color
    return tuple(after)


def after_stone(board: Board, p: int, color: int) -> Played:
    """Put a stone on an empty point, lift the other side's chains without liberties, then the own one without any."""
    board = put(board, frozenset({p}), color)
    beside = [n for n in neighbors(board, p) if board[n] == 1 - color and not has_liberty(board, n)]
    taken = frozenset[int]().union(*(chain(board, n) for n in beside))
    board = put(board, taken, 2)
    lost = frozenset[int]() if has_liberty(board, p) else chain(board, p)
    return Played(put(board, lost, 2), taken, lost)


def play(board: Board, p: int, color: int, suicide: bool = False) -> Played | None:
    """Play a move; None if the point is taken or the move a suicide that is not allowed. Knows nothing of ko bans."""
    if board[p] != 2:
        return None
    after = after_stone(board, p, color)
    return None if after.lost and not (suicide and len(after.lost) > 1) else after


def ko_after(before: Board, move: Played, color: int) -> int | None:
    """Return the point where the other side's answer would restore the board before this move of a color."""
    for p in move.taken if len(move.taken) == 1 else ():
        if after_stone(move.board, p, 1 - color).board == before:
            return p
    return None


def random_board(size: int, moves: int, rng: random.Random) -> Board:
    """Play random moves of alternating colors, sparing own one-point eyes so that life comes about."""
    board = empty_board(size)
    for turn in range(moves):
        color = turn % 2
        points = [p for p, c in enumerate(board) if c == 2 and any(board[n] != color for n in neighbors(board, p))]
        rng.shuffle(points)
        board = next((after.board for p in points if (after := play(board, p, color))), board)
    return board


def diagram(board: Board) -> str:
    size = round(len(board) ** 0.5)
    return "\n".join(" ".join("XO."[c] for c in board[r * size : (r + 1) * size]) for r in range(size))


def read_diagram(text: str) -> Board:
    """Read what diagram() writes, indented or not."""
    return tuple("XO.".index(sign) for sign in text.split())
