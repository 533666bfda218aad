"""The plane sets of the published systems against slow definitions, written from docs/reference/planes.md."""

from __future__ import annotations

import lzma
import math
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from data_pipeline.plain_batch import turn
from data_pipeline.test_planes import play_takes
from plain_go import Board, after_stone, chain, ko_after, liberties, neighbors
from plain_reading import TooLong, make_reader

from tengen import sgf
from tengen.data.planes import encode_game, plane_set
from tengen.game import Game
from tengen.rules import Rules

RECORDS = Path(__file__).parent.parent / "data"
Planes = dict[str, "Iterable[float] | None"]
"""Plane by plane in the order of the set, the values of all points; None where the slow reader takes too long."""


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


def by_liberties(at: Position) -> Planes:
    """Six planes that four systems share: 1, 2, 3 and more liberties of both colours."""
    planes: Planes = {}
    for who, color in (("own", at.own), ("opponent", 1 - at.own)):
        planes[f"{who}_1_liberty"] = with_liberties(at.board, color, lambda n: n == 1)
        planes[f"{who}_2_liberties"] = with_liberties(at.board, color, lambda n: n == 2)
        planes[f"{who}_3_liberties"] = with_liberties(at.board, color, lambda n: n >= 3)
    return planes


def ko_plane(at: Position, own_only: bool) -> list[float]:
    """All kos in these games are made by the move before, so the ban binds the side that did not play it."""
    banned = at.ko if not own_only or (at.game.moves and at.game.moves[-1][0] != at.own) else None
    return [float(p == banned) for p in range(len(at.board))]


def border(at: Position) -> list[float]:
    return [float(len(neighbors(at.board, p)) < 4) for p in range(len(at.board))]


def betago7(at: Position) -> Planes:
    return {**by_liberties(at), "simple_ko": ko_plane(at, own_only=True)}


def deepgo8(at: Position) -> Planes:
    return {**betago7(at), "border": border(at)}


def darkforest12(at: Position, masked: bool = True) -> Planes:
    planes = {**by_liberties(at), "simple_ko": ko_plane(at, own_only=False)}
    planes |= {"own_stones": stones(at.board, at.own), "opponent_stones": stones(at.board, 1 - at.own)}
    planes["empty"] = stones(at.board, 2)
    ply = len(at.boards)  # counted from 1
    for who, color in (("own", at.own), ("opponent", 1 - at.own)):
        history = []
        for p, c in enumerate(at.board):
            # Setup stones are put at ply 1. A point without a stone of the colour has ply 0.
            last = max((n for n, (_, q) in enumerate(at.game.moves, 1) if q == p), default=1) if c == color else 0
            history.append(0.0 if masked and c != color else math.exp(0.1 * (last - ply)))
        planes[f"{who}_history"] = history
    return planes


def ranks(at: Position) -> Planes:
    text = at.ranks[at.own] or "9d"
    number = 1 if text.endswith("k") else 9 if text.endswith("p") else int(text[:-1])
    return {f"own_rank_{n}": at.everywhere(n == number) for n in range(1, 10)}


def darkforest21(at: Position) -> Planes:
    return darkforest12(at) | ranks(at)


def darkforest25(at: Position) -> Planes:
    size = at.game.size

    def distance(p: int, color: int) -> float:
        return min(
            (abs(p // size - q // size) + abs(p % size - q % size) for q, c in enumerate(at.board) if c == color),
            default=math.inf,
        )

    middle = (size - 1) / 2
    points = range(size**2)
    position = [math.exp(-0.5 * ((p // size - middle) ** 2 + (p % size - middle) ** 2)) for p in points]
    away = [(distance(p, at.own), distance(p, 1 - at.own)) for p in points]
    planes = darkforest12(at, masked=False) | {"border": border(at), "position": position}
    planes |= {"closest_own": [float(own < other) for own, other in away]}
    planes |= {"closest_opponent": [float(other < own) for own, other in away]}
    return planes | ranks(at)


def ladder(board: Board, count: int) -> Iterator[frozenset[int]]:
    """All chains of that many liberties that are captured in a ladder. Raises TooLong."""
    reader = make_reader(limit=2_000)
    for stones in {chain(board, p) for p, c in enumerate(board) if c != 2}:
        free = liberties(board, min(stones))
        caught = reader.caught if count == 2 else lambda *where: not reader.escapes(*where)
        if len(free) == count and caught(board, min(stones)):
            yield stones


def ladder_planes(board: Board, count: int) -> tuple[Iterable[float] | None, Iterable[float] | None]:
    """The chains of ladder(), and the chains of the other colour that touch them."""
    try:
        caught = list(ladder(board, count))
    except (TooLong, RecursionError):
        return None, None
    inside = frozenset[int]().union(*caught)
    touching = {n for p in inside for n in neighbors(board, p) if board[n] == 1 - board[p]}
    beside = frozenset[int]().union(*(chain(board, n) for n in touching))
    return tuple([float(p in points) for p in range(len(board))] for points in (inside, beside))  # type: ignore[return-value]


def boards(at: Position, count: int) -> Planes:
    return {
        f"{who}_{back}": stones(at.past(back), color)
        for back in range(count)
        for who, color in (("own", at.own), ("opponent", 1 - at.own))
    }


def golois8(at: Position) -> Planes:
    planes: Planes = {"black_to_play": at.everywhere(at.own == 0), "atari_ladder": ladder_planes(at.board, 1)[0]}
    return planes | boards(at, 3)


def golois21(at: Position) -> Planes:
    planes: Planes = {"black_to_play": at.everywhere(at.own == 0)}
    planes["atari_ladder"], planes["beside_atari_ladder"] = ladder_planes(at.board, 1)
    planes["ladder"], planes["beside_ladder"] = ladder_planes(at.board, 2)
    counts = [0 if c == 2 else min(len(liberties(at.board, p)), 6) for p, c in enumerate(at.board)]
    planes |= {f"liberties_{n}": [float(count == n) for count in counts] for n in range(1, 7)}
    return planes | boards(at, 5)


def golois31(at: Position) -> Planes:
    return golois21(at) | {f"komi_{n}": at.everywhere(math.trunc(at.game.komi) == n) for n in range(10)}


def agz17(at: Position) -> Planes:
    return boards(at, 8) | {"black_to_play": at.everywhere(at.own == 0)}


def elf18(at: Position) -> Planes:
    return agz17(at) | {"white_to_play": at.everywhere(at.own == 1)}


def leela18(at: Position) -> Planes:
    planes = elf18(at)
    order = [f"{who}_{back}" for who in ("own", "opponent") for back in range(8)]
    return {name: planes[name] for name in (*order, "black_to_play", "white_to_play")}


SETS = {
    f.__name__: f
    for f in (
        betago7, deepgo8, darkforest12, darkforest21, darkforest25, golois8, golois21, golois31, agz17, elf18, leela18
    )
}  # fmt: skip
STRENGTHS = ("", "9d", "1d", "4d", "12k", "3p")


def check(name: str, at: Position, symmetry: int, edge: int) -> set[str]:
    """Compare a set with its definition; returns the planes that were compared and had two values or more."""
    expected = SETS[name](at)
    planes, scalars, _ = encode_game(name, at.game, symmetry, edge, at.ranks)
    assert tuple(expected) == plane_set(name).planes
    size = at.game.size
    for (plane_name, values), plane in zip(expected.items(), planes, strict=True):
        if values is not None:
            wanted = np.zeros((edge, edge))
            wanted[:size, :size] = turn(np.array(values).reshape(size, size), symmetry)
            np.testing.assert_allclose(plane, wanted, rtol=1e-5, err_msg=f"{name}, {plane_name}\n{at.game}")
    white = at.game.komi + at.game._native.white_bonus
    assert scalars == pytest.approx([(white if at.own else -white) / 20])
    return {plane_name for plane_name, values in expected.items() if values is not None and any(values)}


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


@pytest.fixture(scope="module")
def random_games() -> list[Position]:
    sizes = [*product((5, 6, 7), range(6)), (9, 0), (9, 1), (13, 0)]
    return [at for size, seed in sizes for at in random_positions(size, seed)]


@pytest.mark.parametrize("name", SETS)
def test_random_positions_by_their_definition(name: str, random_games: list[Position]) -> None:
    seen: set[str] = set()
    for i, at in enumerate(random_games):
        seen |= check(name, at, symmetry=i % 8, edge=at.game.size + i % 3)
    absent = set(plane_set(name).planes) - seen
    assert absent <= {f"komi_{n}" for n in range(10)} | {f"own_rank_{n}" for n in range(10)}, f"never shown: {absent}"


@pytest.fixture(scope="module")
def real_games() -> list[Position]:
    """Positions of recorded games, with handicaps of all kinds and the ranks of the players."""
    records = lzma.decompress((RECORDS / "tygem-300.sgf.xz").read_bytes()).removeprefix(b"(;").split(b"\n(;")[:8]
    sources = [b"(;" + record for record in records] + sorted(RECORDS.glob("fox-[hr]a*-*.sgf"))
    positions = []
    for i, source in enumerate(sources):
        game, info = sgf.read_game(source, partial=True)
        while len(game.moves) > 6 + 22 * i:
            game.undo()
        positions.append(replayed(game, (info.black_rank, info.white_rank)))
    assert any(at.game.setup_stones for at in positions) and {at.own for at in positions} == {0, 1}
    assert len({at.ranks for at in positions}) > 3
    return positions


@pytest.mark.parametrize("name", SETS)
def test_real_positions_by_their_definition(name: str, real_games: list[Position]) -> None:
    seen = [check(name, at, i % 8, edge=19) for i, at in enumerate(real_games)]
    if name.startswith("golois"):
        assert sum("atari_ladder" in planes for planes in seen) > 2
