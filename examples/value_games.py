"""Positions for a value network, each of another game of policies, as AlphaGo's third stage makes them.

    python examples/value_games.py alphago-policy.onnx alphago-rl.onnx --games 30000000 --out stores/values
    tengen train alphago-value --set data.store=stores/values --set "data.plies=[-1, null]"

A number U is drawn from 1 to 450 for each game (19x19; on other boards in proportion to their points). The first
policy plays U - 1 moves, then a legal move is drawn evenly, and the second policy plays to the end. Only the position
after the random move learns the result, so the store has each game up to the move that follows this position, and
`data.plies` chooses its last move. Games that end before are played for nothing. With `--whole` the store has whole
games, as for a value network that sees all positions of a game (Silver et al. 2016, "Reinforcement learning of value
networks").
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np

from tengen.coords import MAX_SIZE, MIN_SIZE
from tengen.data import GameRecord, StoreWriter
from tengen.errors import TengenError
from tengen.evaluators.load import load_evaluator
from tengen.game import Game
from tengen.match.batch import BatchMatch
from tengen.match.conditions import Conditions
from tengen.match.player import Choice, Player, Reply, Turn
from tengen.match.players import PolicyPlayer
from tengen.match.settings import MatchSettings
from tengen.runs.progress import new_bar

LATEST = 450 / 361
"""The latest random move, as a share of the points of the board."""
TOGETHER = 256
"""Games that are played side by side, so that a network evaluates their positions as one batch."""


class ValueGamePlayer(Player):
    """Both sides of each game: the first policy, one random move, the second policy.

    `random_moves` has the number of the random move of each game under way, counted from 0.
    """

    name = "policies"

    def __init__(self, first: PolicyPlayer, second: PolicyPlayer, latest: int) -> None:
        self._first, self._second, self._latest = first, second, latest
        self._draws: dict[int, np.random.Generator] = {}
        self.random_moves: dict[int, int] = {}

    def start_game(self, id: int, game: Game, seed: int) -> None:
        for number, player in enumerate((self._first, self._second)):
            player.start_game(id, game, seed + number)
        self._draws[id] = np.random.default_rng([seed, 2])
        self.random_moves[id] = int(self._draws[id].integers(self._latest))

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        replies: dict[int, Reply] = {}
        for turn in turns:
            if turn.game.move_number == self.random_moves[turn.id]:
                points = turn.game.legal_points() or [turn.game.pass_point]
                replies[turn.id] = Choice(int(self._draws[turn.id].choice(points)))
        early = [turn for turn in turns if turn.game.move_number < self.random_moves[turn.id]]
        late = [turn for turn in turns if turn.game.move_number > self.random_moves[turn.id]]
        for player, asked in ((self._first, early), (self._second, late)):
            if asked:
                replies |= zip((turn.id for turn in asked), player.choose(asked), strict=True)
        return [replies[turn.id] for turn in turns]

    def end_game(self, id: int) -> None:
        for player in (self._first, self._second):
            player.end_game(id)
        self._draws.pop(id, None)


def value_games(
    player: ValueGamePlayer, games: int, size: int, komi: float, seed: int, whole: bool
) -> Iterator[GameRecord]:
    """So many games in the order of their starts: up to the move behind the position that learns the result, or whole.

    Those that end first are short, so the order of their ends would prefer these.
    """
    conditions = Conditions(
        size=size, rules="tromp-taylor", komi=komi, dead_stones="pass-alive", openings="random", opening=0, seed=seed
    )
    sides = [{"player": "policy:NETWORK", "name": f"{player.name} {side}"} for side in ("A", "B")]
    settings = MatchSettings.of(*sides, conditions=conditions)
    ended: dict[int, GameRecord | None] = {}  # by number; None for one without the position
    number = found = 0
    with BatchMatch(settings, min(games, TOGETHER), open_player=lambda *_, **__: player) as match:
        for played in match.play(count()):
            for one in played:
                record = one.game.record("value games")
                last = player.random_moves.pop(one.outcome.index) + 2
                if len(record.moves) < last or record.winner is None:
                    ended[one.outcome.index] = None
                else:
                    cut = replace(record, moves=record.moves[:last], ownership=None, hash=0)
                    ended[one.outcome.index] = record if whole else cut
            while number in ended:
                if (next_record := ended.pop(number)) is not None:
                    yield next_record
                    found += 1
                if found == games:
                    return
                number += 1


def positive(text: str) -> int:
    """A number of at least 1, for argparse."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


def temperature(text: str) -> float:
    """A finite number of at least 0, for argparse."""
    if not 0 <= (number := float(text)) < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no temperature: give 0 or more")
    return number


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Positions for a value network, each of another game of policies.")
    parser.add_argument("first", help="an installed network or a network file, which plays up to the random move")
    parser.add_argument("second", help="the network that plays on")
    parser.add_argument("--out", type=Path, required=True, help="folder of the new store")
    parser.add_argument("--size", type=int, default=19, choices=range(MIN_SIZE, MAX_SIZE + 1), metavar="SIZE")
    parser.add_argument("--games", type=positive, default=1000)
    parser.add_argument("--komi", type=float, default=7.5)
    parser.add_argument("--latest", type=positive, help="latest random move; AlphaGo's 450 on 19x19 unless given")
    parser.add_argument("--whole", action="store_true", help="write whole games")
    parser.add_argument("--temperatures", type=temperature, nargs=2, default=(1.0, 1.0), metavar=("FIRST", "SECOND"))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    latest, longest = given.latest or round(LATEST * given.size**2), 2 * given.size**2
    if latest > longest:
        parser.error(f"argument --latest: games end after {longest} moves: give a number up to that, not {latest}")
    first, second = (
        PolicyPlayer(load_evaluator(name, batch=TOGETHER), name, drawn, "no-useful-move")
        for name, drawn in zip((given.first, given.second), given.temperatures, strict=True)
    )
    player = ValueGamePlayer(first, second, latest)
    games = value_games(player, given.games, given.size, given.komi, given.seed, given.whole)
    moves = 0
    with StoreWriter(given.out) as writer, new_bar() as bar:
        for record in bar.track(games, given.games, description="games"):
            writer.add(record)
            moves += len(record.moves)
    evaluations = first.evaluations + second.evaluations
    print(json.dumps({"games": given.games, "moves": moves, "evaluations": evaluations}))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    try:
        main()
    except (TengenError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")
