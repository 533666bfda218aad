"""A network's policy and nothing else."""

from __future__ import annotations

import numpy as np

from tengen.engine.clock import Clock
from tengen.evaluators.evaluator import Evaluator
from tengen.game import Game
from tengen.match.player import Choice, Probabilities, comment_of


class RawPlayer:
    """The policy of a network as it stands, as networks of self-play are measured.

    Its first move of a game is drawn from the policy over the legal points, all others are the likeliest legal move. It
    passes where its policy says so, never resigns and knows no dead stones. A network that knows no pass, such as the
    published one of 7x7, passes only where no point is legal.
    """

    def __init__(self, evaluator: Evaluator, name: str = "") -> None:
        self._evaluator = evaluator
        self._random = np.random.default_rng(0)
        self._begins = True
        self.name = name or f"{evaluator.name}, raw policy"

    def begin(self, game: Game, seed: int) -> None:
        self._evaluator.on(game.size)
        self._random = np.random.default_rng(seed)
        self._begins = True

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        legal = game.legal_points()
        if not legal:
            return Choice(game.size**2)
        found = self._evaluator.evaluate([game])
        comment = comment_of(
            game.to_play, float(found.value[0] + 1) / 2, None if found.score is None else float(found.score[0]), None
        )
        begins, self._begins = self._begins, False
        if begins:
            weights = found.policy[0][legal].astype(np.float64) + 1e-12  # never all 0
            return Choice(int(self._random.choice(legal, p=weights / weights.sum())), comment=comment)
        moves = [*legal, game.size**2]
        return Choice(moves[int(found.policy[0][moves].argmax())], comment=comment)

    def policy(self, game: Game) -> Probabilities:
        return policy_of(self._evaluator, game)

    def dead(self, game: Game) -> None:
        return None

    def score(self, game: Game) -> None:
        return None

    def close(self) -> None:
        pass


def policy_of(evaluator: Evaluator, game: Game) -> Probabilities:
    """Probabilities [size * size + 1] of the next move, as an evaluator gives them to the legal moves."""
    found: Probabilities = evaluator.evaluate([game]).policy[0]
    return found
