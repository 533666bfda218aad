"""A player of your own: it plays near the centre, and takes part in `tengen match` under the name `centre`.

Tengen finds it through an entry point of your package::

    [project.entry-points."tengen.players"]
    centre = "my_package.player:open_centre"

or through `PLAYERS.register("centre", open_centre)` in a program, as below. The word `centre:3` sets the spread to 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tengen.game import Game
from tengen.match.player import Choice, Player, Reply, Turn
from tengen.match.spec import PLAYERS, PlayerSpec


class CentrePlayer(Player):
    """Draws a legal point with a probability that falls with the distance from the centre."""

    def __init__(self, spread: float) -> None:
        self.spread = spread
        self._random: dict[int, np.random.Generator] = {}

    def start_game(self, id: int, game: Game, seed: int) -> None:
        self._random[id] = np.random.default_rng(seed)  # so that the seed of the match decides all moves

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        return [Choice(self._move(turn)) for turn in turns]  # a network would evaluate all these positions at once

    def end_game(self, id: int) -> None:
        self._random.pop(id, None)

    def _move(self, turn: Turn) -> int:
        size, points = turn.game.size, np.array(turn.game.legal_points())
        if not len(points) or len(turn.game.moves) > size**2:
            return size**2  # pass
        rows, columns = np.divmod(points, size)
        distance = np.hypot(rows - size // 2, columns - size // 2)
        weights = np.exp(-distance / self.spread)
        return int(self._random[turn.id].choice(points, p=weights / weights.sum()))


def open_centre(spec: PlayerSpec, games: int) -> Player:
    """The factory: `spec.subject` is what follows the colon, `games` the number of games at once."""
    return CentrePlayer(float(spec.subject or 2))


if __name__ == "__main__":
    from pathlib import Path

    from tengen.match.runner import InBatch, play_match
    from tengen.match.settings import MatchSettings
    from tengen.match.summary import report

    PLAYERS.register("centre", open_centre)
    settings = MatchSettings.of("centre:3", "random", games=20, conditions={"size": 9})
    print(report(play_match(settings, Path("matches/centre"), InBatch())))
