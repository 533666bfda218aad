"""Real values, past boards, past ladders and ranks: the native set `_test` against plain definitions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from agreement import Pair
from data_pipeline.plain_batch import equal, turn
from data_pipeline.test_planes import random_game
from hypothesis import given, settings
from hypothesis import strategies as st
from known_games import tygem_records
from plain_go import Board
from plain_reading import TooLong, slow_ladders

from tengen import _native, sgf
from tengen.data import FeatureContext, PythonPlaneSet, Rows, Sampler, Store
from tengen.data.planes import (
    PLANE_SETS,
    NativePlaneSet,
    NativeSearch,
    PlaneSet,
    encode_game,
    plane_set,
    plane_set_names,
    register_plane_set,
)
from tengen.errors import NetworkError
from tengen.game import Game
from tengen.rules import Rules

INPUTS = NativePlaneSet.named("_test")
RANKS = ("", "9d", "1d", "4d", "12k", "3p")
STRENGTHS = dict(zip(RANKS, (0, 9, 1, 4, -12, 13), strict=True))

Planes = dict[str, np.ndarray]


def slow_inputs(boards: list[Board], moves: list[tuple[int, int]], own: int, ranks: tuple[str, str]) -> Planes:
    """Every plane by its definition, as [size, size]; `boards` are those before and after each move.

    Ladders that are too long to read slowly are left out.
    """
    points = len(boards[0])
    size = math.isqrt(points)
    planes: Planes = {}
    colors = {"own": own, "opponent": 1 - own}
    for back in range(8):
        board = boards[-1 - back] if back < len(boards) else (2,) * points
        for who, color in colors.items():
            planes[f"{who}_{back}"] = np.array([c == color for c in board], np.float32)
        if back > 2:
            continue
        try:
            laddered = slow_ladders(board, own, limit=2_000)
        except (TooLong, RecursionError):
            continue
        for who, color in colors.items():
            stones = (laddered.black, laddered.white)[color]
            planes[f"{who}_laddered_{back}"] = np.array([p in stones for p in range(points)], np.float32)
    for who, color in colors.items():
        last = [max((n for n, (_, q) in enumerate(moves, 1) if q == p), default=0) for p in range(points)]
        age = [math.exp(0.1 * (n - len(moves))) if boards[-1][p] == color else 0 for p, n in enumerate(last)]
        planes[f"{who}_age"] = np.array(age, np.float32)
    middle = (size - 1) / 2
    square = [(p // size - middle) ** 2 + (p % size - middle) ** 2 for p in range(points)]
    planes["gaussian"] = np.exp(-0.5 * np.array(square)).astype(np.float32)
    for dan in range(1, 10):
        planes[f"own_dan_{dan}"] = np.full(points, ranks[own] == f"{dan}d", np.float32)
    return {name: plane.reshape(size, size) for name, plane in planes.items()}


def check(game: Game, boards: list[Board], ranks: tuple[str, str], symmetry: int, edge: int) -> None:
    expected = slow_inputs(boards, game.moves, game.to_play, ranks)
    planes, scalars, _ = encode_game(INPUTS, game, symmetry, edge, ranks)
    assert set(expected) <= set(INPUTS.planes)
    for name, plane in zip(INPUTS.planes, planes, strict=True):
        if name in expected:
            padded = np.zeros((edge, edge), np.float32)
            padded[: game.size, : game.size] = turn(expected[name], symmetry)
            np.testing.assert_allclose(plane, padded, rtol=1e-5, atol=0, err_msg=f"{name}\n{game}")
    assert scalars == pytest.approx([STRENGTHS[ranks[1 - game.to_play]] / 20])


@pytest.mark.slow
@settings(max_examples=60)
@given(
    seed=st.integers(0, 1 << 30), size=st.sampled_from([5, 6, 7, 9]), moves=st.integers(0, 60),
    setup=st.integers(0, 6), symmetry=st.integers(0, 7), padding=st.integers(0, 3),
    black=st.sampled_from(RANKS), white=st.sampled_from(RANKS),
)  # fmt: skip
def test_inputs_by_their_definitions(
    seed: int, size: int, moves: int, setup: int, symmetry: int, padding: int, black: str, white: str
) -> None:
    rng = random.Random(seed)
    board = [2] * size * size
    for p in rng.sample(range(0, size * size, 2), setup):  # too few to leave a stone without liberties
        board[p] = rng.randrange(2)
    stones = Game(size)
    try:
        stones.setup(*([p for p, c in enumerate(board) if c == color] for color in (0, 1)), 0)
    except ValueError:
        board = [2] * size * size
    pair = Pair(size, Rules.parse("tromp-taylor"), board=tuple(board), to_play=rng.randrange(2))
    for _ in range(moves):
        points = pair.game.legal_points()
        pair.play(rng.choice(points) if points and rng.random() > 0.07 else size * size, pair.game.to_play)
    check(pair.game, [board for board, _ in pair.plain.history], (black, white), symmetry, size + padding)


@pytest.mark.slow
def test_inputs_of_real_positions() -> None:
    for i, record in enumerate(tygem_records()[:12]):
        game = sgf.read_game(record, partial=True)[0]
        while len(game.moves) > 8 + 12 * i:
            game.undo()
        past, boards = game.copy(), []
        while True:
            boards.insert(0, tuple(past.board.ravel().tolist()))
            if not past.moves:
                break
            past.undo()
        check(game, boards, ("9d", ""), i % 8, 19)


def features(f: FeatureContext) -> tuple[np.ndarray, np.ndarray]:
    """The planes of `_test`, in Python."""
    size = f.size
    everywhere, ply = np.ones((size, size), bool), len(f.game.moves())
    age = np.exp(0.1 * (f.last_played() - ply).astype(np.float32))
    offset = np.arange(size) - (size - 1) / 2
    gaussian = np.exp(-0.5 * (offset[:, None] ** 2 + offset**2))
    planes = [np.where(f.stones(f.own), age, 0), np.where(f.stones(f.other), age, 0), gaussian]
    planes += [f.stones(color, back) for back in range(8) for color in (f.own, f.other)]
    planes += [f.laddered(color, back) for back in range(3) for color in (f.own, f.other)]
    planes += [everywhere & (f.ranks[f.own] == dan) for dan in range(1, 10)]
    return np.array(planes, np.float32), np.array([f.ranks[f.other] / 20])


PYTHON = PythonPlaneSet("in_python", INPUTS.planes, INPUTS.scalars, features)


def all_positions(store: Store, every: int, symmetry: int) -> Rows:
    pairs = [(g, ply) for g in range(0, len(store), every) for ply in range(len(store.row(g).moves) + 1)]
    game, ply = map(np.ascontiguousarray, np.array(pairs, np.int64).T)
    return Rows.as_played(game, ply, np.full(len(pairs), symmetry, np.int64))


@pytest.mark.parametrize("symmetry", [0, 5])
def test_rows_of_a_store_encode_as_their_games(store: Store, symmetry: int) -> None:
    sampler = Sampler(store, "all", INPUTS, threads=2)
    rows = all_positions(store, 7, symmetry)
    batch = sampler.encode(rows)
    for i, (g, ply) in enumerate(zip(rows.game.tolist(), rows.ply.tolist(), strict=True)):
        record = store.row(g)
        game = record.game(ply)
        planes, scalars, _ = encode_game(INPUTS, game, symmetry, sampler.edge, (record.black_rank, record.white_rank))
        assert np.array_equal(batch.planes[i], planes) and np.array_equal(batch.scalars[i], scalars), (g, ply)
    ranked = batch.planes[:, [name.startswith("own_dan") for name in INPUTS.planes]].any((1, 2, 3))
    assert 0.3 < ranked.mean() < 0.9, "some players have a dan rank and some have not"


@pytest.mark.parametrize("symmetry", range(8))
def test_a_python_set_encodes_as_a_native_one(store: Store, symmetry: int) -> None:
    rows = all_positions(store, 25, symmetry)
    half = np.arange(len(rows.ply)) % 2 == 0
    rows = replace(rows, other_scoring=half, komi_shift=np.where(half, 2.5, 0).astype(np.float32))
    native, python = (Sampler(store, "all", planes, targets=True).encode(rows) for planes in (INPUTS, PYTHON))
    np.testing.assert_allclose(python.planes, native.planes, rtol=1e-5)
    np.testing.assert_allclose(python.scalars, native.scalars, rtol=1e-6)
    assert equal(replace(python, planes=native.planes, scalars=native.scalars), native)
    games = [store.row(3).game(9)] * 2
    ranks = [("3p", "9d"), ("", "1d")]
    encoded = (planes.encode_games(games, 11, [symmetry, 0], ranks) for planes in (PYTHON, INPUTS))
    for got, wanted in zip(*encoded, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_features_of_moves(store: Store) -> None:
    for g in range(0, len(store), 9):
        game = store.row(g).game()
        f = FeatureContext(game.native())
        native = _native.plane_set("tengen")[0]
        planes = dict(zip(native, encode_game("tengen", game)[0], strict=True))
        assert f.own == game.to_play == 1 - f.other and f.self_komi == (game.komi if f.own else -game.komi) + (
            game.white_bonus * (1 if f.own else -1)
        )
        assert np.flatnonzero(f.legal()).tolist() == sorted(game.legal_points())
        for name, found in (
            ("captures_1", f.captures() == 1),
            ("captures_2", f.captures() >= 2),
            ("leaves_1_liberty", f.liberties_after() == 1),
            ("leaves_2_liberties", f.liberties_after() == 2),
            ("own_3_liberties", f.stones(f.own) & (f.liberties() == 3)),
            ("opponent_4_liberties", f.stones(f.other) & (f.liberties() >= 4)),
            ("ko_ban", f.ko_bans()),
            ("third_last_move", f.recent(3)),
            ("own_laddered", f.laddered(f.own)),
            ("ladder_capture", f.ladder_captures()),
            ("ladder_escape", f.ladder_escapes()),
            ("opponent_pass_alive", f.pass_alive(f.other)),
        ):
            assert np.array_equal(planes[name], found), name
        planes = dict(zip(_native.plane_set("bakago39-moves")[0], encode_game("bakago39-moves", game)[0], strict=True))
        assert np.array_equal(planes["sensible"], f.sensible())
        eyes = encode_game("bakago39", game)[0][_native.plane_set("bakago39")[0].index("own_true_eyes")]
        assert np.array_equal(eyes, f.true_eyes(f.own))
        for size in range(1, 8):
            assert np.array_equal(planes[f"self_atari_{size}"], f.self_ataris() == size)
        assert f.was_pass(1) == (game.moves[-1][1] == game.size**2)


def gathered(planes: PlaneSet, native: NativeSearch, *arguments: np.ndarray | int) -> int | None:
    """None where the plane set fails."""
    try:
        return planes.gather(native, *arguments)
    except ValueError:
        return None


def searched(planes: PlaneSet, pool: bool) -> tuple[list[np.ndarray], list[list[int]]]:
    """The positions that searches of three games on boards of two sizes ask for, and the visits of their roots."""
    params = _native.SearchParams()
    params.leaf_symmetry = "random"
    games = [random_game(size, "tromp-taylor", seed, 20) for seed, size in enumerate((7, 5, 7))][: 3 if pool else 1]
    native = _native.SearchPool(params, [1, 2, 3], 2) if pool else _native.Search(params, 1)
    searches = [native.search(i) for i in range(3)] if pool else [native]
    for search, game in zip(searches, games, strict=True):
        search.set_root(game.native())
    rows, edge = 4 * len(games), 7
    limit = np.full(3, 4, np.int32) if pool else rows
    seen = []
    for _ in range(12):
        shapes = (len(planes.planes), edge, edge), (len(planes.scalars),), (edge, edge)
        arrays = [np.zeros((rows, *shape), np.float32) for shape in shapes]
        while (count := gathered(planes, native, *arrays, limit)) is None:
            pass
        seen += [array[:count] for array in arrays]
        stones, opponent = (arrays[0][:, planes.planes.index(name)] for name in ("own_0", "opponent_0"))
        policy = np.full((rows, edge * edge + 1), 0.02, np.float32)
        value = np.tanh((stones - opponent).sum((1, 2)) / 5).astype(np.float32)
        native.scatter(policy, value, value * 5, np.zeros((rows, edge, edge), np.float32), count)
    return seen, [search.root_stats()["visits"].tolist() for search in searches]


@pytest.mark.parametrize("pool", [False, True])
def test_a_search_takes_a_python_set_as_a_native_one(pool: bool) -> None:
    native, visits = searched(INPUTS, pool)
    python, same = searched(PYTHON, pool)
    assert visits == same and sum(map(sum, visits)) > 30
    assert len(native) == len(python) and sum(map(len, native)) > 90
    for wanted, got in zip(native, python, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("pool", [False, True])
def test_a_search_goes_on_after_a_python_set_that_failed(pool: bool) -> None:
    """The positions that it was to write are found again."""
    calls = 0

    def failing(context: FeatureContext) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        nonlocal calls
        calls += 1
        if calls % 40 == 7:
            raise ValueError("failed")
        return features(context)

    failing_set = PythonPlaneSet("failing", INPUTS.planes, INPUTS.scalars, failing)
    assert searched(failing_set, pool)[1] == searched(INPUTS, pool)[1] and calls > 47


def test_a_registered_set_is_found_by_its_name(
    store: Store, restored: Callable[..., None], registered: Callable[..., None]
) -> None:
    restored(PLANE_SETS)
    register_plane_set(PYTHON)
    assert plane_set_names()[-1] == "in_python"
    assert Sampler(store, "all", "in_python", batch_size=4).batch(0).planes.shape[1] == len(INPUTS.planes)
    registered(PLANE_SETS, "misnamed", PYTHON)
    with pytest.raises(NetworkError, match="no plane set of this name"):
        plane_set("misnamed")
    with pytest.raises(NetworkError, match="plane set 'text' is a str, no PlaneSet"):
        PLANE_SETS.register("text", "x")  # type: ignore[arg-type]


def test_an_error_of_features_names_the_set() -> None:
    unpacking = PythonPlaneSet("unpacking", ("a",), (), lambda f: (np.zeros((1, 9, 9)),))  # type: ignore[arg-type,return-value]
    with pytest.raises(NetworkError, match="plane set 'unpacking': not enough values to unpack"):
        encode_game(unpacking, Game(9))


def test_what_is_no_input_is_refused() -> None:
    broken = PythonPlaneSet("broken", ("a", "b"), (), lambda f: (np.zeros((1, f.size, f.size)), []))
    with pytest.raises(NetworkError, match=r"'broken' gives planes of shape \(1, 9, 9\), not \(2, 9, 9\)"):
        encode_game(broken, Game(9))
    for number in (np.nan, np.inf):
        for what, planes, scalars in (("planes", number, 0), ("scalars", 0, number)):
            made = PythonPlaneSet("odd", ("a",), ("s",), lambda f, p=planes, s=scalars: (np.full((1, 9, 9), p), [s]))
            with pytest.raises(NetworkError, match=rf"'odd' gives {what} that are not finite"):
                encode_game(made, Game(9))
    for context, wrong in (("stones", (0, 8)), ("laddered", (0, 3)), ("recent", (0,)), ("stones", (2, 0))):
        with pytest.raises(ValueError, match="must be"):
            getattr(FeatureContext(Game(9).native()), context)(*wrong)
    with pytest.raises(ValueError, match="'10d' is no rank: write one such as 5k"):
        encode_game("tengen", Game(9), ranks=("10d", ""))
