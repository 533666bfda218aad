"""Boards above 19x19 in a run for them (`make test MAX_SIZE=25`): everything that a program or a user meets.

Rules, counting and planes are compared with their twins in tests/equivalence and tests/data_pipeline, up to the largest
board of the build.
"""

from __future__ import annotations

import random
from pathlib import Path

import katago_twin
import numpy as np
import pytest
from gtp_fakes import FakeEngine, ask, session_of
from talk import Talk

from tengen import _native
from tengen.coords import MAX_SIZE, SIZES, to_gtp
from tengen.data import GameRecord, Sampler, Store, StoreWriter
from tengen.data.record import pack_moves
from tengen.engine import Engine, Limits
from tengen.evaluators import UniformEvaluator, load_evaluator
from tengen.formats.katago_reader import read_katago
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.sgf import GameTree, SgfInfo, read_game, read_tree, write_game, write_tree
from tengen.web.settings import GameSettings

pytestmark = pytest.mark.skipif(MAX_SIZE == 19, reason="this run plays to 19x19; another: make test MAX_SIZE=25")


def random_game(seed: int, moves: int) -> Game:
    game, rng = Game(MAX_SIZE, komi=6.5), random.Random(seed)
    for _ in range(moves):
        game.play(rng.choice(game.legal_points()))
    return game


def test_the_far_corner() -> None:
    game, size = Game(MAX_SIZE), MAX_SIZE
    last = size**2 - 1
    game.play(last).play(last - 1).play(0).play(last - size)
    assert game.board[-1, -1] == EMPTY and game.captures == (0, 1), "captured in the corner"
    assert not game.is_legal(last, BLACK) and game.is_legal(last, WHITE)
    assert f"{size}  (" not in str(game) and f"{size}  X ." in str(game) and to_gtp(size - 1, size)[0] in str(game)


def test_records(tmp_path: Path) -> None:
    game = random_game(1, 300).play(19 * MAX_SIZE + 19 if Game(MAX_SIZE).is_legal(19 * MAX_SIZE + 19) else None)
    data = write_game(game, SgfInfo())
    assert f"SZ[{MAX_SIZE}]".encode() in data
    assert read_game(data)[0].moves == game.moves
    assert read_tree(write_tree(GameTree.of_game(game))).size == MAX_SIZE
    assert read_game(b"(;SZ[20];B[tt];W[])")[0].moves == [(BLACK, 399), (WHITE, 400)], "tt is a point here"


def test_a_store_and_its_batches(tmp_path: Path) -> None:
    game = random_game(2, 80)
    colors, points = zip(*game.moves, strict=True)
    owner = np.resize(np.array([0, 1, 2], np.uint8), MAX_SIZE**2)
    with StoreWriter(tmp_path / "store") as writer:
        writer.add(GameRecord(MAX_SIZE, pack_moves(colors, points), "chinese", komi=6.5, winner=0, ownership=owner))
    store = Store.open(tmp_path / "store")
    assert store.row(0).points.tolist() == list(points)
    batch = Sampler(store, "all", "katago-v7", 8, 0).batch(0)
    assert batch.planes.shape[2:] == (MAX_SIZE, MAX_SIZE) and (batch.policy < MAX_SIZE**2).all()
    assert (batch.mask == 1).all() and sorted(set(batch.ownership.ravel().tolist())) == [-1, 0, 1]


@pytest.mark.parametrize("policy", _native.playout_policies())
def test_playouts(policy: str) -> None:
    game = random_game(3, 40)
    assert _native.run_playouts(game.native(), 3, 1, policy) / 3 > MAX_SIZE**2 / 2
    assert np.abs(game.ownership_by_playouts(8)).max() <= 1


def test_gtp() -> None:
    session = session_of(FakeEngine(script=[to_gtp(MAX_SIZE - 1, MAX_SIZE)]))
    assert ask(session, f"boardsize {MAX_SIZE + 1}") == f"? unacceptable size: choose {SIZES}"
    assert ask(session, f"boardsize {MAX_SIZE}") == ""
    assert ask(session, "play b U20") == "" and ask(session, "genmove w") == to_gtp(MAX_SIZE - 1, MAX_SIZE)
    assert ask(session, "fixed_handicap 2").startswith("? board not empty")
    assert ask(session, "clear_board") == "" and len(ask(session, "fixed_handicap 4").split()) == 4


def test_the_analysis_protocol() -> None:
    with Talk(UniformEvaluator("katago-v7")) as talk:
        (answer,) = talk.ask(
            boardXSize=MAX_SIZE, boardYSize=MAX_SIZE, moves=[["B", "U20"]], includePolicy=True, includeOwnership=True
        )
        (error,) = talk.ask(boardXSize=MAX_SIZE + 1, boardYSize=MAX_SIZE + 1)
    assert len(answer["policy"]) == MAX_SIZE**2 + 1 and answer["rootInfo"]["visits"] == 20
    assert error["field"] == "boardXSize" and f"to {MAX_SIZE} expected" in error["error"]


@pytest.mark.parametrize("device", ["onnxruntime", "cpu"])
def test_a_network_of_katago_plays(tmp_path: Path, device: str) -> None:
    """It says what a slow forward pass says, and the engine plays legal moves by it."""
    path = katago_twin.written(tmp_path / "net.txt", metadata=False)
    evaluator, game = load_evaluator(path, device, precision="f32"), random_game(4, 12)  # type: ignore[arg-type]
    found = evaluator.evaluate([game])
    batch = evaluator.on(MAX_SIZE).encoded([game], MAX_SIZE)
    expected = katago_twin.forward(read_katago(path), batch.planes[0], batch.scalars[0], batch.mask[0])
    assert found.ownership is not None and found.ownership[0] == pytest.approx(expected["ownership"], abs=2e-4)
    assert found.policy.shape == (1, MAX_SIZE**2 + 1) and found.policy.sum() == pytest.approx(1, abs=1e-4)
    engine = Engine(evaluator, batch=4, limits=Limits(visits=4))
    try:
        for _ in range(4):
            engine.set_position(game)
            game.play(engine.think().move)
    finally:
        engine.close()


def test_the_settings_of_the_page() -> None:
    assert GameSettings(size=MAX_SIZE, handicap=4, komi=0.5).size == MAX_SIZE
