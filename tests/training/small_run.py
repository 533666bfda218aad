"""Random games, and the settings of a run on them that takes seconds."""

from pathlib import Path
from typing import Any

import numpy as np

from tengen.data.record import GameRecord, pack_moves
from tengen.data.store import StoreWriter
from tengen.game import Game

SIZE = 7
GAMES = 64  # a full batch, so that one model is compiled to validate a network on them


def write_store(path: Path, games: int = GAMES, size: int = SIZE) -> Path:
    """Games of random legal moves, on 7x7 unless given; the side with more stones at the end wins."""
    with StoreWriter(path) as writer:
        for seed in range(games):
            writer.add(random_record(seed, size=size))
    return path


def random_record(seed: int, moves: int = 24, size: int = SIZE) -> GameRecord:
    random = np.random.default_rng(seed)
    game = Game(size, komi=0.5)
    for _ in range(moves):
        game.play(int(random.choice([p for p in game.legal_points() if p != size * size])))
    colors, points = zip(*game.moves, strict=True)
    stones = [int((game.board == color).sum()) for color in (0, 1)]
    return GameRecord(
        size, pack_moves(colors, points), komi=0.5, winner=int(stones[1] >= stones[0]), score=1.5, hash=seed * 7919 + 1
    )


def settings_of(store: Path) -> dict[str, Any]:
    """A recipe as a mapping: 30 steps of 8 positions, bit for bit repeatable."""
    return {
        "name": "small",
        "data": {"store": str(store), "validation_store": str(store)},
        "network": {"family": "residual", "size": "b1c8"},
        "training": {
            "batch_size": 8,
            "steps": 30,
            "precision": "f32",
            "device": "cpu",
            "threads": 1,
            "validate_every": 10,
            "validation_games": 20,
            "log_every": 5,
            "ema": 0.9,
            "schedule": {"warmup_steps": 5},
        },
    }
