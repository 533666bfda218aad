"""The plane sets of the published systems against slow definitions, written from docs/reference/planes.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from data_pipeline.plain_batch import turn
from data_pipeline.plain_move_planes import MOVE_SETS, marks, why_illegal
from data_pipeline.plain_positions import (
    Planes,
    Position,
    border,
    gaussian,
    ko_plane,
    random_positions,
    replayed,
    stones,
    with_liberties,
)
from known_games import tygem_records
from plain_go import Board, chain, liberties, neighbors
from plain_reading import TooLong, make_reader

from tengen import sgf
from tengen.data.planes import encode_game, plane_set
from tengen.game import Game

RECORDS = Path(__file__).parent.parent / "data"


def by_liberties(at: Position) -> Planes:
    """Six planes that four systems share: 1, 2, 3 and more liberties of both colors."""
    planes: Planes = {}
    for who, color in (("own", at.own), ("opponent", 1 - at.own)):
        planes[f"{who}_1_liberty"] = with_liberties(at.board, color, lambda n: n == 1)
        planes[f"{who}_2_liberties"] = with_liberties(at.board, color, lambda n: n == 2)
        planes[f"{who}_3_liberties"] = with_liberties(at.board, color, lambda n: n >= 3)
    return planes


def betago3(at: Position) -> Planes:
    planes = {"own_stones": stones(at.board, at.own), "opponent_stones": stones(at.board, 1 - at.own)}
    return {**planes, "ko": ko_plane(at, own_only=True)}


def betago7(at: Position) -> Planes:
    return {**by_liberties(at), "ko": ko_plane(at, own_only=True)}


def betago11(at: Position, players: dict[str, int], turn: dict[str, bool]) -> Planes:
    planes: Planes = {}
    for who, color in players.items():
        planes[f"{who}_1_liberty"] = with_liberties(at.board, color, lambda n: n == 1)
        planes[f"{who}_2_liberties"] = with_liberties(at.board, color, lambda n: n == 2)
        planes[f"{who}_3_liberties"] = with_liberties(at.board, color, lambda n: n == 3)
        planes[f"{who}_4_liberties"] = with_liberties(at.board, color, lambda n: n >= 4)
    planes |= {name: at.everywhere(float(there)) for name, there in turn.items()}
    banned = [p for p, why in enumerate(why_illegal(at)) if why in ("ko", "superko")]
    return {**planes, "ko_ban": marks(at, banned)}


def betago11_simple(at: Position) -> Planes:
    return betago11(at, {"black": 0, "white": 1}, {"black_to_move": at.own == 0, "white_to_move": at.own == 1})


def betago11_zero(at: Position) -> Planes:
    turn = {"own_komi": at.own == 1, "opponent_komi": at.own == 0}
    return betago11(at, {"own": at.own, "opponent": 1 - at.own}, turn)


def deepgo8(at: Position) -> Planes:
    return {**betago7(at), "border": border(at)}


def darkforest12(at: Position, masked: bool = True) -> Planes:
    planes = {**by_liberties(at), "ko": ko_plane(at, own_only=False)}
    planes |= {"own_stones": stones(at.board, at.own), "opponent_stones": stones(at.board, 1 - at.own)}
    planes["empty"] = stones(at.board, 2)
    ply = len(at.boards)  # counted from 1
    for who, color in (("own", at.own), ("opponent", 1 - at.own)):
        history = []
        for p, c in enumerate(at.board):
            # Setup stones are put at ply 1. A point without a stone of the color has ply 0.
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

    points = range(size**2)
    away = [(distance(p, at.own), distance(p, 1 - at.own)) for p in points]
    planes = darkforest12(at, masked=False) | {"border": border(at), "position": gaussian(at)}
    planes |= {"closest_own": [float(own < other) for own, other in away]}
    planes |= {"closest_opponent": [float(other < own) for own, other in away]}
    return planes | ranks(at)


def ladder(board: Board, count: int) -> Iterator[frozenset[int]]:
    """All chains of that many liberties that are captured in a ladder. Raises TooLong."""
    reader = make_reader(limit=2_000)
    for group in {chain(board, p) for p, c in enumerate(board) if c != 2}:
        free = liberties(board, min(group))
        caught = reader.caught if count == 2 else lambda *where: not reader.escapes(*where)
        if len(free) == count and caught(board, min(group)):
            yield group


def ladder_planes(board: Board, count: int) -> tuple[Iterable[float] | None, Iterable[float] | None]:
    """The chains of ladder(), and the chains of the other color that touch them."""
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
    planes: Planes = {"black_to_move": at.everywhere(at.own == 0), "atari_ladder": ladder_planes(at.board, 1)[0]}
    return planes | boards(at, 3)


def golois21(at: Position) -> Planes:
    planes: Planes = {"black_to_move": at.everywhere(at.own == 0)}
    planes["atari_ladder"], planes["beside_atari_ladder"] = ladder_planes(at.board, 1)
    planes["ladder"], planes["beside_ladder"] = ladder_planes(at.board, 2)
    counts = [0 if c == 2 else min(len(liberties(at.board, p)), 6) for p, c in enumerate(at.board)]
    planes |= {f"liberties_{n}": [float(count == n) for count in counts] for n in range(1, 7)}
    return planes | boards(at, 5)


def golois31(at: Position) -> Planes:
    return golois21(at) | {f"komi_{n}": at.everywhere(math.trunc(at.game.komi) == n) for n in range(10)}


def agz17(at: Position) -> Planes:
    return boards(at, 8) | {"black_to_move": at.everywhere(at.own == 0)}


def elf18(at: Position) -> Planes:
    return agz17(at) | {"white_to_move": at.everywhere(at.own == 1)}


def leela18(at: Position) -> Planes:
    planes = elf18(at)
    order = [f"{who}_{back}" for who in ("own", "opponent") for back in range(8)]
    return {name: planes[name] for name in (*order, "black_to_move", "white_to_move")}


SETS = MOVE_SETS | {
    f.__name__.replace("11_", "11-"): f
    for f in (
        betago3, betago7, betago11_simple, betago11_zero, deepgo8, darkforest12, darkforest21, darkforest25, golois8,
        golois21, golois31, agz17, elf18, leela18
    )
}  # fmt: skip


RARE = {"zeros"} | {f"komi_{n}" for n in range(10)} | {f"own_rank_{n}" for n in range(10)}
FAULTY = {f"turns_since_{n}" for n in range(1, 8)}


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
    white = at.game.komi + at.game.white_bonus
    assert scalars == pytest.approx([(white if at.own else -white) / 20])
    return {plane_name for plane_name, values in expected.items() if values is not None and any(values)}


def long_chains() -> Iterator[Position]:
    """A white chain of 1 to 9 stones in atari: Black captures it, White makes it longer, still in atari."""
    for length in range(1, 10):
        white = range(1, length + 1)
        black = [0, *(13 + p for p in (*white, length + 1))]
        for color in (0, 1):
            yield replayed(Game(13).setup(black=black, white=white, to_play=color))


@pytest.fixture(scope="module")
def random_games() -> list[Position]:
    sizes = [*product((5, 6, 7), range(6)), (9, 0), (9, 1), (13, 0)]
    return [at for size, seed in sizes for at in random_positions(size, seed)] + list(long_chains())


@pytest.mark.parametrize("name", SETS)
def test_random_positions_by_their_definition(name: str, random_games: list[Position]) -> None:
    seen: set[str] = set()
    for i, at in enumerate(random_games):
        seen |= check(name, at, symmetry=i % 8, edge=at.game.size + i % 3)
    absent = set(plane_set(name).planes) - seen
    assert absent <= RARE | (FAULTY if name == "bakago39-bug" else set()), f"never shown: {absent}"


@pytest.fixture(scope="module")
def real_games() -> list[Position]:
    """Positions of recorded games, with handicaps of all kinds and the ranks of the players."""
    sources = [*tygem_records()[:8], *sorted(RECORDS.glob("fox-[hr]a*-*.sgf"))]
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


def test_alphago49_adds_the_color_to_move(random_games: list[Position]) -> None:
    assert plane_set("alphago49").planes == (*plane_set("alphago48").planes, "black_to_move")
    for at in random_games:
        planes, scalars, mask = encode_game("alphago49", at.game)
        same, komi, _ = encode_game("alphago48", at.game)
        assert (planes[:48] == same).all() and (planes[48] == mask * (at.own == 0)).all() and scalars == komi
