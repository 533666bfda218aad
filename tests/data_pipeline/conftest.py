"""A small store of random games of several sizes and rules."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tengen.data import GameRecord, Store, StoreWriter
from tengen.data.record import pack_moves
from tengen.game import Game


def random_record(seed: int) -> GameRecord:
    """Play a random game; every field that a batch reads takes all its kinds of values over some seeds."""
    rng = random.Random(seed)
    size = rng.choice([5, 7, 9])
    rules = rng.choice(["chinese", "tromp-taylor", "japanese"])
    black = [size + 1, 2 * size + 2] if rng.random() < 0.3 else []
    first = 1 if black else 0
    game = Game(size, rules, 0.5).setup(black=black, to_play=first)
    for _ in range(rng.randrange(1, 60)):
        points = game.legal_points()
        game.play(rng.choice(points) if points and rng.random() > 0.1 else None)
    colors, points = zip(*game.moves, strict=True)
    owner = np.array([rng.randrange(3) for _ in range(size * size)], np.uint8)
    return GameRecord(
        size,
        pack_moves(colors, points),
        rules,
        komi=rng.choice([None, 0.5, 6.5]),
        handicap=len(black),
        black_stones=np.array(black, np.uint16),
        first=first,
        winner=rng.choice([0, 1, 2, None]),
        score=rng.choice([None, 3.5, -12.5]),
        hash=rng.getrandbits(64),
        ownership=rng.choice([None, owner]),
        weight=rng.choice([None, 0.25]),
        black_rank=rng.choice(["", "9d", "3d", "12k"]),
        white_rank=rng.choice(["", "2d", "1p"]),
    )


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path: Path = tmp_path_factory.mktemp("stores") / "random"
    with StoreWriter(path, rows_a_shard=30) as writer:
        for seed in range(100):
            writer.add(random_record(seed))
    return Store.open(path)
