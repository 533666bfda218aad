"""A player of your own: it captures stones where it can, and plays at random otherwise.

    python examples/player.py FOLDER

plays 8 games against the player `random` on 7x7 and prints the score. `PLAYERS.register` makes the player known in this
program. An installed package makes it known to `tengen match` and to ratings by an entry point in its pyproject.toml::

    [project.entry-points."tengen.players"]
    greedy = "my_package.players:open_greedy"

A command or a YAML file then names it: `tengen match greedy random --size 7`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tengen.data import encode_game, plane_set
from tengen.game import Game
from tengen.match.player import Choice, Player, Turn
from tengen.match.runner import InBatch, play_match
from tengen.match.settings import MatchSettings
from tengen.match.spec import PLAYERS, PlayerSpec


class GreedyPlayer(Player):
    """Plays many games at once; `id` tells them apart."""

    def __init__(self) -> None:
        self.draws: dict[int, np.random.Generator] = {}

    def start_game(self, id: int, game: Game, seed: int) -> None:
        self.draws[id] = np.random.default_rng(
            seed
        )  # all chance follows from the seed, so that a match can be repeated

    def choose(self, turns: Sequence[Turn]) -> list[Choice]:
        return [Choice(self.move(turn.game, self.draws[turn.id])) for turn in turns]

    def move(self, game: Game, draw: np.random.Generator) -> int:
        """A point, or `game.pass_point` for a pass."""
        own = np.pad(game.board == game.to_play, 1, constant_values=True)
        eyes = own[:-2, 1:-1] & own[2:, 1:-1] & own[1:-1, :-2] & own[1:-1, 2:]
        moves = [point for point in game.legal_points() if not eyes.flat[point]]
        if not moves:
            return game.pass_point
        planes, _, _ = encode_game("tengen", game)
        names = plane_set("tengen").planes
        captures = planes[names.index("captures_1")] + 2 * planes[names.index("captures_2")]
        draw.shuffle(moves)
        return max(moves, key=lambda point: captures.flat[point])

    def end_game(self, id: int) -> None:
        self.draws.pop(id, None)  # the game may never have started


def open_greedy(spec: PlayerSpec, games: int) -> Player:
    """The factory: `spec` is the description of the player, `games` the number of games at once."""
    return GreedyPlayer()


def main(folder: str) -> dict[str, Any]:
    """Play a match and return its figures."""
    PLAYERS.register("greedy", open_greedy)
    settings = MatchSettings.of("greedy", "random", games=8, conditions={"size": 7, "komi": 9, "openings": "random"})
    figures = play_match(settings, Path(folder), InBatch())
    pairing = figures["pairings"][0]
    print(f"{pairing['a']}: {pairing['wins']} of {pairing['games']} games won against {pairing['b']}")
    return figures


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
