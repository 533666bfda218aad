"""The folder of a made-up run: games, log, ratings and recipe, as a run leaves them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from selfplay.random_games import played_game

from tengen.data.store import Store, StoreWriter
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.diagnose import diagnose
from tengen.selfplay.rating_book import AnchorResult, RatingBook, RatingEvent, Standing
from tengen.selfplay.statistics import game_statistics

FAIR = 3.5


def run_config(cycles: int, games: int, size: int = 5) -> SelfPlayConfig:
    return SelfPlayConfig.model_validate(
        {
            "name": "made-up",
            "description": "Random games that look like a run.",
            "cycles": cycles,
            "games_per_cycle": games,
            "network": {"family": "residual"},
            "game": {"sizes": {size: 1}, "komi": {"start": FAIR}},
            "learn": {"batch_size": 8},
            "resign": {"after": 2},
            "rating": {"every": 4},
        }
    )


def write_run(
    folder: Path, cycles: int = 6, games: int = 12, size: int = 5, cycles_done: int | None = None
) -> SelfPlayConfig:
    """Fill FOLDER with a run of which `cycles_done` (all) of its cycles are over; return its recipe."""
    config = run_config(cycles, games, size)
    done = cycles if cycles_done is None else cycles_done
    folder.mkdir(parents=True, exist_ok=True)
    with StoreWriter(folder / "games", rows_a_shard=games) as writer:
        for row in range(done * games):
            cycle, index = divmod(row, games)
            opening = [size * size // 2] * ((cycle * index) % 7 > 2)
            source = f"{cycle:05d}/{index:05d}"
            writer.add(played_game(row, size, FAIR + (row % 3 - 1) / 2, opening=opening, source=source))
    store = Store.open(folder / "games")
    events: list[dict[str, Any]] = []
    for cycle in range(done):
        events.append(_event(store, cycle, games, size))
        events[-1]["warnings"] = [warning.as_dict() for warning in diagnose(events, config)]
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    rated = tuple(_rated(cycle + 1) for cycle in range(3, done, 4))
    RatingBook(anchor="random", events=rated).write(folder)
    (folder / "recipe.yaml").write_text("name: made-up\ncycles: 6 # <as given>\n")
    return config


def _event(store: Store, cycle: int, games: int, size: int) -> dict[str, Any]:
    known = 1 - math.exp(-cycle / 8)  # how far the learning is
    statistics = game_statistics(
        store, cycle * games, (cycle + 1) * games, fair_komi={size: FAIR}, resign_winrate=0.05, resign_turns=2
    )
    positions = sum(int(n) for n in store.lengths[: (cycle + 1) * games])
    return {
        "event": "cycle",
        "step": cycle,
        "time": 1.7e9 + 60 * cycle,
        "cycle": cycle,
        "hours": (cycle + 1) / 60,
        "seconds": {"generate": 40.0 + cycle / 2, "learn": 15.0, "rate": 20.0 * (cycle % 4 == 3), "other": 1.0},
        "evaluations": games * 1300,
        "positions": positions,
        "fair_komi": {str(size): FAIR + 2 * known},
        "window_positions": min(positions, 4000),
        "window_games": min((cycle + 1) * games, 5 * games),
        "steps": 20,
        "fresh_positions": 40,
        "losses": {"policy": 3.2 - 1.6 * known, "value": 0.9 - 0.4 * known, "score": 0.4 - 0.1 * known},
        "lr": 0.02 * (1 - cycle / 100),
        "agreement": 0.2 + 0.5 * known,
        "fresh": {
            "agreement": 0.2 + 0.5 * known,
            "policy": 3.3 - 1.5 * known,
            "surprise": 0.6,
            "value": 0.8 - known / 3,
        },
        "seen": {
            "agreement": 0.25 + 0.5 * known,
            "policy": 3.2 - 1.5 * known,
            "surprise": 0.5,
            "value": 0.75 - known / 3,
        },
        "symmetry": {"policy": 0.3 - 0.25 * known, "value": 0.2 - 0.15 * known, "best": 0.9},
        "normalisation": {"batch": 0.0, "training": 0.0},
        "statistics": statistics,
    }


def _rated(network: int) -> RatingEvent:
    """A rating by 100 games against each anchor."""
    elo = 1200 * (1 - math.exp(-network / 8)) - 300
    share = 1 / (1 + 10 ** (-elo / 400))
    player = f"network {network}"
    pairings = []
    for anchor, word, own, factor in (
        ("random", "random", False, 1.0),
        (f"network {network // 2}", "past", True, 0.8),
        ("GNU Go level 1", "gtp:gnugo --level 1", False, 0.6),
    ):
        wins = round(50 * share * factor)
        games = (wins, 0, 50 - wins)
        pairings.append(
            AnchorResult(player=player, anchor=anchor, word=word, own=own, black=games, white=games, distinct=100)
        )
    return RatingEvent(
        number=network,
        games=40 * network,
        hours=network / 60,
        player=player,
        size=5,
        komi=FAIR,
        pairings=tuple(pairings),
        elo=Standing(elo=elo, low=None if network == 4 else elo - 60, high=elo + 70),
        outside=Standing(elo=0.9 * elo, low=0.9 * elo - 70, high=0.9 * elo + 80),
        left_out=("playouts is left out: <not here>",),
    )
