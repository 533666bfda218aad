"""Slow and obvious readings of positions for tests: ladders, and life by Benson's definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from plain_go import Board, border, chain, chains, components, ko_after, liberties, neighbors, play

from tengen.game import BLACK, WHITE, Ladders


class TooLong(Exception):
    """The slow reader looked at more positions than it wants to."""


class Reader(NamedTuple):
    """Answers about the chain of a stone: is it caught with the attacker to move, by which of the moves to try; does it
    escape with the defender to move, by which moves. `left` moves may be played, as many as it takes unless given."""

    caught: Callable[..., bool]  # (board, stone, left)
    catching: Callable[..., set[int]]  # (board, stone, moves to try, left)
    escapes: Callable[..., bool]  # (board, stone, left)
    saving: Callable[..., set[int]]  # (board, stone, left)


def double_ko_death(board: Board, stone: int, free: set[int]) -> bool:
    """Whether each of two liberties is a ko that the attacker can take and the defender cannot fill to escape."""
    color = board[stone]
    beside = {n for s in chain(board, stone) for n in neighbors(board, s) if board[n] == 1 - color}
    if any(len(liberties(board, n)) == 1 for n in beside):
        return False
    for p in free:
        around = neighbors(board, p)
        in_atari = [n for n in around if board[n] == color and len(liberties(board, n)) == 1]
        filled = play(board, p, color)
        if any(board[n] != color for n in around) or len(in_atari) != 1 or len(chain(board, in_atari[0])) != 1:
            return False
        if filled and len(liberties(filled.board, p)) > 2:
            return False
    return True


def make_reader(limit: int, double_ko: bool = False) -> Reader:
    """Build a reader by the rules that native/board/ladder.h states; it raises TooLong after `limit` positions.

    With `double_ko` a chain in double-ko death counts as caught, as KataGo has it.
    """
    visited = 0

    @cache
    def caught(board: Board, stone: int, left: float = math.inf) -> bool:
        nonlocal visited
        visited += 1
        if visited > limit:
            raise TooLong
        free = liberties(board, stone)
        if len(free) != 2:
            return len(free) < 2
        if double_ko and double_ko_death(board, stone, free):
            return True
        return left > 0 and bool(catching(board, stone, free, left))

    def catching(board: Board, stone: int, tries: set[int], left: float = math.inf) -> set[int]:
        color = 1 - board[stone]
        replies = {p: play(board, p, color) for p in sorted(tries)}
        legal = {p: after for p, after in replies.items() if after and ko_after(board, after, color) is None}
        return {p for p, after in legal.items() if not escapes(after.board, stone, left - 1)}

    @cache
    def escapes(board: Board, stone: int, left: float = math.inf) -> bool:
        return len(liberties(board, stone)) > 1 or left <= 0 or bool(saving(board, stone, left))

    def saving(board: Board, stone: int, left: float = math.inf) -> set[int]:
        color = board[stone]
        beside = {n for s in chain(board, stone) for n in neighbors(board, s) if board[n] == 1 - color}
        tries = liberties(board, stone).union(*(free for n in beside if len(free := liberties(board, n)) == 1))
        replies = {p: play(board, p, color) for p in tries}
        return {p for p, after in replies.items() if after and not caught(after.board, stone, left - 1)}

    return Reader(caught, catching, escapes, saving)


def slow_ladders(
    board: Board, to_play: int, ko: int | None = None, limit: int = 20_000, moves: float = math.inf
) -> Ladders:
    """Read all ladders of a position, in lines of `moves`; `ko` is forbidden to the side to play. Raises TooLong."""
    caught, catching, escapes, saving = make_reader(limit)
    laddered: tuple[set[int], set[int]] = (set(), set())
    captures: set[int] = set()
    saves: set[int] = set()
    for color in (BLACK, WHITE):
        for stones in chains(board, color):
            stone = min(stones)
            free = liberties(board, stone)
            if len(free) == 1 and color == to_play:
                saves |= saving(board, stone, moves)
            if (len(free) == 1 and not escapes(board, stone, moves)) or (
                len(free) == 2 and caught(board, stone, moves)
            ):
                laddered[color].update(stones)
            if len(free) == 2 and color != to_play:
                captures |= catching(board, stone, free, moves)
    return Ladders(sorted(laddered[0]), sorted(laddered[1]), sorted(captures - {ko}), sorted(saves - {ko}))


def benson(board: Board, color: int, suicide: bool) -> tuple[set[int], set[frozenset[int]]]:
    """Benson 1976 in sets: shrink chains and regions until every chain has two vital regions.

    Returns the stones that live, and the regions that they enclose without room for an eye inside.
    """
    regions = components(board, {1 - color, 2})
    alive = chains(board, color)

    def vital(region: frozenset[int], stones: frozenset[int]) -> bool:
        return all(set(neighbors(board, p)) & stones for p in region if suicide or board[p] == 2)

    while True:
        points = {p for stones in alive for p in stones}
        eyes = {r for r in regions if border(board, r, color) <= points}
        left = {stones for stones in alive if sum(vital(r, stones) for r in eyes) >= 2}
        if left == alive:
            break
        alive = left
    inner = {r: sum(all(board[n] != color for n in neighbors(board, p)) for p in r) for r in eyes}
    return points, {r for r in eyes if border(board, r, color) and inner[r] <= 1}


def slow_pass_alive(board: Board, color: int, suicide: bool) -> set[int]:
    """Return the pass-alive stones and the territory that they enclose."""
    stones, regions = benson(board, color, suicide)
    return stones.union(*regions)


def slow_area(board: Board, suicide: bool, safe_only: bool = False) -> Board:
    """Color by color, in this order: pass-alive stones and territory, then what is empty and touches one color only.

    With `safe_only` no other stones, and empty regions among pass-alive stones only.
    """
    owner = [2] * len(board)
    for color in (0, 1):
        alive, enclosed = benson(board, color, suicide)
        for p in alive:
            owner[p] = color
        for region in components(board, {1 - color, 2}):
            open_region = all(board[p] == 2 for p in region)
            if not border(board, region, color):
                continue
            certain = region in enclosed or (open_region and border(board, region, color) <= alive)
            for p in region:
                if certain or (open_region and owner[p] == 2 and not safe_only):
                    owner[p] = color
    return tuple(c if owner[p] == 2 and not safe_only else owner[p] for p, c in enumerate(board))
