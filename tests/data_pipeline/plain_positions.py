"""Positions with their past, by the slow rules, and what several plane sets say of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from data_pipeline.test_planes import play_takes
from plain_go import Board, after_stone, ko_after, liberties, neighbors

from tengen.game import Game
from tengen.rules import Rules

Planes = dict[str, "Iterable[float] | None"]
"""Plane by plane in the order of the set, the values of all points; None where the slow reader takes too long."""
STRENGTHS = ("", "9d", "1d", "4d", "12k", "3p")


class Position(NamedTuple):
    """A game with its boards before and after each move, and the ban of simple ko."""

    game: Game
    boards: list[Board]
    ko: int | None
    ranks: tuple[str, str] = ("", "")

    @property
    def board(self) -> Board:
        return self.boards[-1]

    @property
    def own(self) -> int:
        return self.game.to_play

    def past(self, back: int) -> Board:
        return self.boards[-1 - back] if back < len(self.boards) else (2,) * len(self.board)

    def everywhere(self, value: float) -> list[float]:
        return [value] * len(self.board)


def replayed(game: Game, ranks: tuple[str, str] = ("", "")) -> Position:
    """Replay a game by the slow rules."""
    setup = {p: color for color, p in game.setup_stones}
    boards: list[Board] = [tuple(setup.get(p, 2) for p in range(game.size**2))]
    ko = None
    for color, p in game.moves:
        before, ko = boards[-1], None
        if p < len(before):
            move = after_stone(before, p, color)
            ko = ko_after(before, move, color)
        boards.append(before if p == len(before) else move.board)
    return Position(game, boards, ko, ranks)


def stones(board: Board, color: int) -> list[float]:
    return [float(c == color) for c in board]


def with_liberties(board: Board, color: int, wanted: Callable[[int], bool]) -> list[float]:
    return [float(c == color and wanted(len(liberties(board, p)))) for p, c in enumerate(board)]


def ko_plane(at: Position, own_only: bool) -> list[float]:
    """All kos in these games are made by the move before, so the ban binds the side that did not play it."""
    banned = at.ko if not own_only or (at.game.moves and at.game.moves[-1][0] != at.own) else None
    return [float(p == banned) for p in range(len(at.board))]


def border(at: Position) -> list[float]:
    return [float(len(neighbors(at.board, p)) < 4) for p in range(len(at.board))]


def gaussian(at: Position) -> list[float]:
    size, middle = at.game.size, (at.game.size - 1) / 2
    return [math.exp(-0.5 * ((p // size - middle) ** 2 + (p % size - middle) ** 2)) for p in range(size**2)]


def random_positions(size: int, seed: int) -> Iterator[Position]:
    """Positions of a random game after a setup, more often where a ko is banned."""
    rng = random.Random(seed)
    game = Game(size, Rules.parse(rng.choice(["chinese", "tromp-taylor"])), rng.choice([0, 0.5, 6.5, 7.5, -3, 12]))
    points = rng.sample(range(0, size * size, 2), rng.randrange(4))
    game.setup(black=points[1:], white=points[:1], to_play=rng.randrange(2))
    strengths = (rng.choice(STRENGTHS), rng.choice(STRENGTHS))
    for _ in range(rng.choice([3, size * size, 2 * size * size])):
        legal = game.legal_points()
        board = tuple(game.board.ravel().tolist())
        hot = [p for p in legal if play_takes(board, p, game.to_play)] if rng.random() < 0.4 else []
        game.play(rng.choice(hot or legal) if legal and rng.random() > 0.05 else None)
        if rng.random() < 1 / size**2 or (game.ko is not None and rng.random() < 0.2):
            yield replayed(game.copy(), strengths)
    yield replayed(game, strengths)
