"""Network evaluations for self-play as the AlphaGo-Zero-like 7x7 system of cody2007 searched, and as one searches else.

    python benchmarks/simulate_to_end.py [--games 2] [--simulations 100] [--turns 32]

Plays games of 32 turns a side with an untrained network and counts the positions that it is asked about: once with
simulations to the end of the game (preset cody-7x7), once with the same search stopping at its leaves. Both make that
many new simulations a move in the tree that is kept; the figures are scaled to 128 games. `every_position` is what the
first costs when each position of each simulation is evaluated anew, as the published system did it: simulations times
the moves that are left. The network is narrow (8 channels), so that the count takes minutes; it does not depend on how
fast a network is.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from tengen.data.planes import plane_set
from tengen.engine.params import SearchParams
from tengen.engine.pool import SearchPool
from tengen.evaluators import Evaluator, load_evaluator
from tengen.evaluators.network_file import Card
from tengen.game import Game
from tengen.networks import build
from tengen.networks.cody import CodyConfig
from tengen.networks.export import export

BATCH = 128  # games of the published figures
FULL = SearchParams.preset("cody-7x7").model_copy(update={"memory": 1 << 27})
WAYS = {"simulate_to_end": FULL, "leaves": FULL.model_copy(update={"simulate_to_end": False})}


def untrained(folder: Path) -> Evaluator:
    torch.manual_seed(1)
    config = CodyConfig(channels=8, hidden=16)
    planes, scalars = len(plane_set("cody3").planes), len(plane_set("cody3").scalars)
    card = Card(name="untrained", family="cody7x7", config=config.model_dump(), plane_set="cody3", board_sizes=[7])
    path = folder / "untrained.onnx"
    export(build(config, planes, scalars), planes, scalars, path, card.metadata())
    return load_evaluator(path)


def play(evaluator: Evaluator, params: SearchParams, games: int, simulations: int, turns: int) -> int:
    """Positions that the network was asked about in these games."""
    boards = [Game(7, "chinese", komi=0).limit_moves(2 * turns) for _ in range(games)]
    pool = SearchPool(evaluator, params, games)
    for _ in range(2 * turns):
        for i, game in enumerate(boards):
            pool.set_root(i, game)
        pool.run(np.minimum(pool.visits + simulations, np.iinfo(np.int32).max))
        for i, game in enumerate(boards):
            game.play(pool[i].choose())
    return pool.evaluations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--turns", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(untrained(Path(folder)), options.games, options.simulations, options.turns)))


def measure(evaluator: Evaluator, games: int, simulations: int, turns: int) -> dict[str, float | int | str]:
    moves = 2 * turns
    figures: dict[str, float | int | str] = {"benchmark": "simulate_to_end", "games": games, "simulations": simulations}
    figures["every_position"] = BATCH * simulations * moves * (moves + 1) // 2
    for name, params in WAYS.items():
        started = time.perf_counter()
        asked = play(evaluator, params, games, simulations, turns)
        figures[name] = round(asked * BATCH / games)
        figures[f"{name}_seconds"] = round(time.perf_counter() - started, 1)
    figures["full_games_against_leaves"] = round(float(figures["simulate_to_end"]) / float(figures["leaves"]), 1)
    return figures


if __name__ == "__main__":
    main()
