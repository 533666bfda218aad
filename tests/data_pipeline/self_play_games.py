"""Games as a network plays them against itself, with random visits."""

from __future__ import annotations

import random

import numpy as np

from tengen.data import GameRecord
from tengen.data.record import pack_moves
from tengen.game import Game


def self_played(seed: int, sizes: tuple[int, ...] = (5, 7, 9)) -> GameRecord:
    """A random game; about half of its moves have visits, and some games lack what others have."""
    rng = random.Random(seed)
    size = rng.choice(sizes)
    game = Game(size, "tromp-taylor", 6.5)
    visits, roots, surprises = [], [], []
    for _ in range(rng.randrange(1, 40)):
        legal = [*game.legal_points(), size * size]
        seen = rng.sample(legal, min(len(legal), rng.randrange(1, 9))) if rng.random() < 0.5 else []
        visits.append(np.array([p | rng.randrange(1, 1 << 16) << 16 for p in seen], np.uint32))
        roots.append(rng.uniform(-1, 1) if rng.random() < 0.8 else np.nan)
        surprises.append(rng.expovariate(2) if seen and rng.random() < 0.9 else np.nan)
        game.play(rng.choice(legal[:-1]) if len(legal) > 1 and rng.random() > 0.1 else None)
    colors, points = zip(*game.moves, strict=True)
    score = rng.choice([None, 3.5, -12.5])
    return GameRecord(
        size,
        pack_moves(colors, points),
        "tromp-taylor",
        komi=6.5,
        winner=rng.choice([0, 1]) if score is None else int(score < 0),
        score=score,
        ending="resign" if score is None else "count",
        source=f"00000/{seed:05d}",
        hash=rng.getrandbits(64),
        ownership=None if score is None else np.array([rng.randrange(3) for _ in range(size * size)], np.uint8),
        visits=tuple(visits) if rng.random() < 0.9 else None,
        root_values=np.array(roots, np.float32) if rng.random() < 0.8 else None,
        surprises=np.array(surprises, np.float32) if rng.random() < 0.8 else None,
        weight=rng.choice([None, 0.5]),
    )
