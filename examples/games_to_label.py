"""Games of a network with itself: positions for a teacher to label (docs/guides/distillation.md).

    python examples/games_to_label.py distilled-9x9 --size 9 --games 20000 --out games/9.sgf
    python examples/games_to_label.py distilled-9x9 --size 9 --games 2000 --visits 32 --out games/9-searched.sgf
    tengen import games/*.sgf --out stores/games-9

Without a search the raw policy plays, with mistakes of all sizes: a teacher says nothing of mistakes that nobody makes.
In half of the games one side draws its moves at a high temperature, and in all of them a few moves are drawn from a
nearly flat policy. With `--visits` a search chooses the moves, as it does when the network plays. Such games reach the
positions that the network misjudges: a search prefers the moves whose values are too high.

A part of the games has the komi that was fair at one of its moves, so that what follows a mistake is not always lost
and the end is close. Others are won from the start: raw policies play some games with a handicap and some in which a
side passes early, which a search never does. A network that had not seen them gave the side that was winning a winrate
of 0.35 to 0.95.
Games are played side by side, so that the network evaluates their positions as one batch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tengen.coords import MAX_SIZE, MIN_SIZE
from tengen.disk import write_whole
from tengen.engine.presets import PRESETS
from tengen.errors import NetworkError, TengenError
from tengen.evaluators.evaluation import Evaluation
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.installed_networks import find_network_on
from tengen.evaluators.load import load_evaluator
from tengen.game import Game
from tengen.selfplay.conditions import CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.play import open_evaluators, play_games
from tengen.selfplay.transport import number_of
from tengen.sgf import write_game

OPENING_MOVES, OPENING_TEMPERATURE = 8, 1.5
"""At most so many first moves of a game are drawn at this temperature."""
GOOD, BAD, FLAT = (0.5, 1.0), (1.2, 1.6), 4.0
"""Temperatures: the ranges of sides that play well and badly, and that of a single large mistake."""
BAD_SIDES, MISTAKES, FAIR_KOMI = 0.5, 0.02, 0.35
"""Shares: games in which one side plays badly, large mistakes among the moves, games with a fair position's komi."""
HANDICAPS, MOST_STONES = 0.08, 5
"""The share of games with handicap stones, and how many at most."""
PASSERS, MOST_PASSES, PASSING_MOVES = 0.08, 4, 12
"""The share of games in which one side passes early, how often at most, and within how many moves."""
FAIR_KOMI_SEARCHED, FAIR_AFTER = 0.5, 0.3
"""Of games of searches: the share with a fair position's komi, and the part of the game before these positions."""


@dataclass
class PolicyGame:
    """A game, the temperatures of Black and White, the moves at which a side passes, and the score for Black before
    each move."""

    game: Game
    temperatures: tuple[float, float]
    opening: int
    passes: frozenset[int]
    scores: list[float]

    @classmethod
    def start(cls, size: int, komi: float, random: np.random.Generator) -> PolicyGame:
        good, bad = random.uniform(*GOOD, 2), random.uniform(*BAD)
        if random.random() < BAD_SIDES:
            good[random.integers(2)] = bad
        game, passes, kind = Game(size, komi=komi), frozenset[int](), random.random()
        if kind < HANDICAPS:
            game.place_handicap(int(random.integers(2, MOST_STONES + 1)))
        elif kind < HANDICAPS + PASSERS:
            turns = np.arange(random.integers(2), PASSING_MOVES, 2)
            passes = frozenset(random.choice(turns, random.integers(1, MOST_PASSES + 1), replace=False).tolist())
        return cls(game, (good[0], good[1]), int(random.integers(OPENING_MOVES + 1)), passes, [])

    def play(self, policy: np.ndarray, score: float, random: np.random.Generator) -> None:
        """Play a move drawn from the policy, [size * size + 1]; `score` is that of the side to move."""
        game = self.game
        self.scores.append(-score if game.to_play else score)
        if game.move_number in self.passes:
            game.play(len(policy) - 1)
            return
        temperature = self.temperatures[game.to_play]
        if game.move_number < self.opening:
            temperature = max(temperature, OPENING_TEMPERATURE)
        if random.random() < MISTAKES:
            temperature = FLAT
        logits = np.log(policy, where=policy > 0, out=np.full(len(policy), -np.inf)) / temperature
        shares = np.exp(logits - logits.max())
        game.play(int(random.choice(len(policy), p=shares / shares.sum())))

    @property
    def is_over(self) -> bool:
        return self.game.is_over or self.game.move_number >= 2 * self.game.size**2

    def finished(self, random: np.random.Generator) -> Game:
        """The game, at times under the komi of one of its positions."""
        if random.random() < FAIR_KOMI:
            set_fair_komi(self.game, self.scores[random.integers(len(self.scores))])
        return self.game


def set_fair_komi(game: Game, score: float) -> None:
    """Give the game the komi under which a position of this score for Black is even."""
    game.komi = float(np.clip(round(2 * (game.komi + score)) / 2, -60, 60))


def scores_of(evaluator: Evaluator, found: Evaluation) -> np.ndarray:
    """The scores for the sides to move. Raises NetworkError where the network gives none."""
    if found.score is None:
        raise NetworkError(f"{evaluator.name} gives no score: choose a network that does")
    return found.score


def policy_games(
    evaluator: Evaluator, *, size: int, games: int, komi: float, at_once: int, seed: int
) -> Iterator[Game]:
    """Games of the raw policy with mistakes, as they end."""
    random = np.random.default_rng(seed)
    playing = [PolicyGame.start(size, komi, random) for _ in range(min(games, at_once))]
    started = len(playing)
    while playing:
        found = evaluator.evaluate([one.game for one in playing])
        for one, policy, score in zip(playing, found.policy, scores_of(evaluator, found), strict=True):
            one.play(policy.astype(np.float64), float(score), random)
        for place, one in enumerate(playing):
            if one.is_over:
                yield one.finished(random)
                if started < games:
                    playing[place] = PolicyGame.start(size, komi, random)
                    started += 1
        playing = [one for one in playing if not one.is_over]


def search_games(
    network: str, evaluator: Evaluator, *, size: int, games: int, komi: float, at_once: int, seed: int, visits: int
) -> Iterator[Game]:
    """Games of searches of so many visits, as they end: the games of `tengen zero`, with the search of a match."""
    config = SelfPlayConfig.model_validate(
        {
            "name": "games-to-label",
            "cycles": 1,
            "games_per_cycle": games,
            "games_at_once": at_once,
            "seed": seed,
            "network": {"family": "residual"},  # for training, which does not happen here
            "game": {"sizes": {size: 1}, "rules": "chinese", "komi": {"start": komi, "learn": False}},
            "opening": {"moves_mean": 0.6 * size, "temperature": 1.4},
            "search": {
                "visits": visits,
                "params": PRESETS["katago"],
                "temperature": 0.5,
                "temperature_late": 0.15,
                "decided": {"winrate": 0.97, "cheap_share": 0.9},
                "cheap_visits": 4,
            },
            "resign": {"after": 0, "played_out": 0.3, "turns": 5},
        }
    )
    conditions = CycleConditions({size: komi}, resign_winrate=0.02)
    evaluators = open_evaluators(config, find_network_on(network, size))
    for records, _ in play_games(config, 0, conditions, evaluators, range(games)):
        for record in records:
            game, random = record.game(), np.random.default_rng([seed, number_of(record)])
            if random.random() < FAIR_KOMI_SEARCHED:
                position = record.game(int(random.integers(int(FAIR_AFTER * len(record.moves)), len(record.moves))))
                score = float(scores_of(evaluator, evaluator.evaluate([position]))[0])
                set_fair_komi(game, -score if position.to_play else score)
            yield game


def positive(text: str) -> int:
    """A number of at least 1, for argparse."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Games of a network with itself, as one SGF file.")
    parser.add_argument("network", help="an installed network or a network file")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=9, choices=range(MIN_SIZE, MAX_SIZE + 1), metavar="SIZE")
    parser.add_argument("--games", type=positive, default=1000)
    parser.add_argument("--komi", type=float, default=7.0)
    parser.add_argument("--visits", type=positive, default=1, help="of a search; 1: the raw policy, with mistakes")
    parser.add_argument("--at-once", type=positive, default=256)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.out.is_dir():
        parser.error(f"argument --out: {given.out} is a folder: name a file")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    evaluator = load_evaluator(given.network, batch=given.at_once)
    options = {name: getattr(given, name) for name in ("size", "games", "komi", "at_once", "seed")}
    if given.visits > 1:
        games = search_games(given.network, evaluator, visits=given.visits, **options)
    else:
        games = policy_games(evaluator, **options)
    moves = 0
    with write_whole(given.out) as partial, partial.open("wb") as file:
        for game in games:
            file.write(write_game(game) + b"\n")
            moves += game.move_number
    print(f"{given.games:,} games with {moves:,} moves in {given.out}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    try:
        main()
    except (TengenError, OSError) as error:
        sys.exit(f"error: {error}")
