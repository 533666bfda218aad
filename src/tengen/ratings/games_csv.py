"""games.csv: a row a game, for spreadsheets and other programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tengen.disk import write_whole
from tengen.match.game import Outcome
from tengen.ratings.pool import GameSet, Pool


def write_games(pool: Pool, path: Path) -> Path:
    """Write all games that are known one by one; return `path`. Rules, komi and size are in every row."""
    rows = [_row(game_set, outcome) for game_set, outcome in pool.outcomes]
    with write_whole(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["game"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def _row(game_set: GameSet, outcome: Outcome) -> dict[str, Any]:
    terms = {"size": game_set.terms.size, "rules": game_set.terms.rules, "komi": game_set.terms.komi}
    return {
        "match": str(game_set.source),
        "game": outcome.index,
        "round": outcome.round,
        "pair": outcome.pair,
        **terms,
        **dict(_facts(outcome)),
        "disputed": outcome.disputed,
        "counts": json.dumps(outcome.counts, ensure_ascii=False) if outcome.counts else "",
        "detail": outcome.detail,
    }


def _facts(outcome: Outcome) -> Iterator[tuple[str, Any]]:
    for name in ("black", "white", "winner", "result", "reason", "moves", "score"):
        yield name, getattr(outcome, name)
    for what in ("seconds", "visits"):
        for color in ("black", "white"):
            yield f"{color}_{what}", getattr(outcome, what).get(getattr(outcome, color))
