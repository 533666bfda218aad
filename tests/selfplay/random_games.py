"""Self-play games made up for tests: random moves that fill no own eye, values that know the result more or less."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tengen.data.record import GameRecord, game_hash, pack_moves
from tengen.data.store import Store, StoreWriter
from tengen.game import Game

NONE = np.empty(0, np.uint16)


def sensible(game: Game) -> list[int]:
    """Legal points that are no own eye: not all neighbours are stones of the side to play."""
    size, board, own = game.size, game.board, game.to_play
    padded = np.full((size + 2, size + 2), own, np.int8)
    padded[1:-1, 1:-1] = board
    eye = (padded[:-2, 1:-1] == own) & (padded[2:, 1:-1] == own) & (padded[1:-1, :-2] == own)
    eye &= padded[1:-1, 2:] == own
    return [point for point in game.legal_points() if not eye.flat[point]]


def played_game(
    seed: int, size: int = 5, komi: float = 0.5, *, skill: float = 0.6, opening: Sequence[int] = (), source: str = ""
) -> GameRecord:
    """A game to two passes or 2 x size x size moves. Values are `skill` of the truth and noise for the rest.

    Every move has visits: three quarters on the move that was played; every second one a surprise of its ply / 100.
    """
    random = np.random.default_rng(seed)
    game = Game(size, "tromp-taylor", komi)
    for point in opening:
        game.play(point)
    while not game.is_over and len(game.moves) < 2 * size * size:
        points = sensible(game)
        game.play(int(random.choice(points)) if points else None)
    colors, points = (np.array(part) for part in zip(*game.moves, strict=True))
    score = game.score()
    black = np.sign(score) * (1 - 2 * colors)
    noise = random.uniform(-1, 1, len(colors))
    moves = pack_moves(colors, points)
    other = (points + 1) % (size * size)
    return GameRecord(
        size,
        moves,
        "tromp-taylor",
        komi=komi,
        winner=int(score < 0) if score else 2,
        score=score,
        ending="count",
        source=source,
        hash=game_hash(size, moves, NONE, NONE),
        ownership=game.owners().astype(np.uint8).ravel(),
        visits=tuple(
            np.array([point | 24 << 16, second | 8 << 16], np.uint32)
            for point, second in zip(points.tolist(), other.tolist(), strict=True)
        ),
        root_values=(skill * black + (1 - skill) * noise).astype(np.float32),
        surprises=np.where(np.arange(len(colors)) % 2, np.arange(len(colors)) / 100, np.nan).astype(np.float32),
    )


def write_store(path: Path, records: Sequence[GameRecord]) -> Store:
    with StoreWriter(path, rows_a_shard=7) as writer:
        for record in records:
            writer.add(record)
    return Store.open(path)
