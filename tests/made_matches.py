"""Match folders made up for tests: whole as `tengen match` leaves them, of games that nobody played."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tengen.game import Game
from tengen.match.folder import VERSION
from tengen.match.outcome import Outcome
from tengen.sgf import SgfInfo, write_game


def game(index: int, black: str, white: str, winner: str | None, **more: Any) -> Outcome:
    """A finished game, won by resignation unless `more` says otherwise."""
    color = "B" if winner == black else "W"
    fields: dict[str, Any] = {
        "index": index,
        "round": index // 2,
        "pair": index // 2,
        "result": "Draw" if winner is None else f"{color}+R",
        "reason": "count" if winner is None else "resign",
        "moves": 20 + index % 7,
        "seconds": {black: 2.0 + index, white: 4.0},
        **more,
    }
    return Outcome(black=black, white=white, winner=winner, **fields)


def series(one: str, other: str, wins: int, losses: int, draws: int = 0, start: int = 0) -> list[Outcome]:
    """Games of two players who swap colors, first those that `one` wins, then those it loses, then the draws."""
    winners = [one] * wins + [other] * losses + [None] * draws
    return [
        game(start + i, *((one, other) if i % 2 == 0 else (other, one)), winner) for i, winner in enumerate(winners)
    ]


def write_match(
    folder: Path,
    outcomes: Iterable[Outcome],
    *,
    players: Mapping[str, Mapping[str, Any]] | None = None,
    games: int | None = None,
    size: int = 5,
    komi: float = 0.5,
    rules: str = "chinese",
    kind: str = "round-robin",
    **more: Any,
) -> Path:
    """Write a folder with these games; `players` gives fields beside the names, `games` are those of a pairing."""
    outcomes = list(outcomes)
    (folder / "games").mkdir(parents=True)
    names = list(dict.fromkeys(name for o in outcomes for name in (o.black, o.white)))
    about = {
        "version": VERSION,
        "schedule": {"kind": kind},
        "players": [{"name": name, "player": name, **(players or {}).get(name, {})} for name in names],
        "conditions": {"size": size, "komi": komi, "rules": rules, "opening": 2, "seed": 1},
        "games": max((outcome.index + 1 for outcome in outcomes), default=0) if games is None else games,
        **more,
    }
    (folder / "match.json").write_text(json.dumps(about))
    (folder / "games.jsonl").write_text("".join(json.dumps(asdict(outcome)) + "\n" for outcome in outcomes))
    for outcome in outcomes:
        path = folder / "games" / f"{outcome.index:05d}.sgf"
        path.write_bytes(record(outcome, size, komi, rules))
    return folder


def record(outcome: Outcome, size: int, komi: float, rules: str, seed: int | None = None) -> bytes:
    """Random moves as the SGF of a game; the index is the seed."""
    rng = np.random.default_rng(outcome.index if seed is None else seed)
    played = Game(size, rules, komi)
    for _ in range(outcome.moves):
        legal: Sequence[int] = played.legal_points() or [size * size]
        played.play(int(rng.choice(legal)))
    return write_game(played, SgfInfo(black=outcome.black, white=outcome.white))
