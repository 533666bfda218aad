"""Games of a raw policy with mistakes of all sizes: positions for a teacher to label (docs/guides/distillation.md).

    python examples/policy_games.py distilled-9x9 --size 9 --games 20000 --out games/9.sgf
    tengen import games/*.sgf --out stores/games-9

A teacher says nothing of mistakes that nobody makes. In half of the games one side draws its moves at a high
temperature, and in all of them a few moves are drawn from a nearly flat policy. A third of the games has the komi that
was fair at one of its moves, so that what follows a mistake is not always lost.

`--at-once` games are played side by side, so that the network evaluates their positions as one batch.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tengen.errors import NetworkError, TengenError
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.load import load_evaluator
from tengen.game import Game
from tengen.sgf import write_game

OPENING_MOVES, OPENING_TEMPERATURE = 8, 1.5
"""At most so many first moves of a game are drawn at this temperature."""
GOOD, BAD, FLAT = (0.5, 1.0), (1.2, 1.6), 4.0
"""Temperatures: the ranges of sides that play well and badly, and that of a single large mistake."""
BAD_SIDES, MISTAKES, FAIR_KOMI = 0.5, 0.02, 0.35
"""Shares: games in which one side plays badly, large mistakes among the moves, games with a fair position's komi."""


@dataclass
class PolicyGame:
    """A game, the temperatures of Black and White, and the score for Black before each move."""

    game: Game
    temperatures: tuple[float, float]
    opening: int
    scores: list[float]

    @classmethod
    def start(cls, size: int, komi: float, random: np.random.Generator) -> PolicyGame:
        good, bad = random.uniform(*GOOD, 2), random.uniform(*BAD)
        if random.random() < BAD_SIDES:
            good[random.integers(2)] = bad
        return cls(Game(size, komi=komi), (good[0], good[1]), int(random.integers(OPENING_MOVES + 1)), [])

    def play(self, policy: np.ndarray, score: float, random: np.random.Generator) -> None:
        """Play a move drawn from the policy, [size * size + 1]; `score` is that of the side to move."""
        game = self.game
        self.scores.append(-score if game.to_play else score)
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

    def record(self, random: np.random.Generator) -> bytes:
        """The SGF record."""
        if random.random() < FAIR_KOMI:
            fair = self.game.komi + self.scores[random.integers(len(self.scores))]
            self.game.komi = float(np.clip(round(2 * fair) / 2, -60, 60))
        return write_game(self.game)


def play(evaluator: Evaluator, path: Path, *, size: int, games: int, komi: float, at_once: int, seed: int) -> int:
    """Write so many games to an SGF file; returns the number of moves."""
    random = np.random.default_rng(seed)
    playing = [PolicyGame.start(size, komi, random) for _ in range(min(games, at_once))]
    started, moves = len(playing), 0
    with path.open("wb") as file:
        while playing:
            found = evaluator.evaluate([one.game for one in playing])
            if found.score is None:
                raise NetworkError(f"{evaluator.name} gives no score: choose a network that does")
            for one, policy, score in zip(playing, found.policy, found.score, strict=True):
                one.play(policy.astype(np.float64), float(score), random)
            for place, one in enumerate(playing):
                if one.is_over:
                    file.write(one.record(random) + b"\n")
                    moves += one.game.move_number
                    if started < games:
                        playing[place] = PolicyGame.start(size, komi, random)
                        started += 1
            playing = [one for one in playing if not one.is_over]
    return moves


def main() -> None:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(description="Games of a raw policy with mistakes, as one SGF file.")
    parser.add_argument("network", help="an installed network or a network file")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--komi", type=float, default=7.0)
    parser.add_argument("--at-once", type=int, default=256)
    parser.add_argument("--threads", type=int, default=0, help="of the network; 0: all cores")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    evaluator = load_evaluator(given.network, batch=given.at_once, threads=given.threads)
    moves = play(
        evaluator,
        given.out,
        size=given.size,
        games=given.games,
        komi=given.komi,
        at_once=given.at_once,
        seed=given.seed,
    )
    print(f"{given.games:,} games with {moves:,} moves in {given.out}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    try:
        main()
    except TengenError as error:
        sys.exit(f"error: {error}")
