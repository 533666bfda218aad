"""A network, or playouts, with the engine's search."""

from __future__ import annotations

from functools import partial

import numpy as np

from tengen.engine import Engine, Limits, SearchResult
from tengen.engine.clock import Clock
from tengen.evaluators import SymmetricEvaluator, load_evaluator
from tengen.game import Game
from tengen.match.player import Choice, Probabilities, comment_of
from tengen.match.raw_player import policy_of
from tengen.match.spec import PlayerSpec


class EnginePlayer:
    """Searches within the limits of its spec, on threads of its own, and ends once no other move can overtake.

    Each game has an engine of its own, so that at given visits its moves follow from the game's seed alone, whatever
    was played before. Raises NetworkError for a network that is not there, or not for this size.
    """

    def __init__(self, spec: PlayerSpec) -> None:
        network = "uniform" if spec.kind == "playouts" else spec.subject
        self._spec = spec
        self._evaluator = load_evaluator(network, spec.backend, threads=spec.threads)
        self._engine: Engine | None = None
        self._warm: set[int] = set()  # board sizes
        self._random = np.random.default_rng(0)
        self.name = spec.name

    def begin(self, game: Game, seed: int) -> None:
        self._evaluator.on(game.size)
        self.close()
        self._random = np.random.default_rng(seed)
        engine = self._begun(seed)
        if game.size not in self._warm and (self._spec.seconds is not None or self._spec.time is not None):
            engine.warm_up(game.size)
            self._warm.add(game.size)
        engine.set_position(game)

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        engine = self._engine or self._begun(0)
        engine.set_position(game)
        result = engine.think(self._limits(clock))
        point = self._varied(result, game.size) if self._spec.diversity and not result.resign else result.move
        comment = comment_of(result.to_play, result.winrate, result.score, result.visits)
        return Choice(point, result.resign, comment, result.visits)

    def policy(self, game: Game) -> Probabilities | None:
        return policy_of(self._evaluator, game) if self._spec.params.asks_network else None

    def dead(self, game: Game) -> frozenset[int]:
        return frozenset((self._engine or self._begun(0)).count(game).dead)

    def score(self, game: Game) -> None:
        return None

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def _begun(self, seed: int) -> Engine:
        """The engine of a new game."""
        spec = self._spec
        evaluator = self._evaluator
        if spec.symmetries:
            evaluator = evaluator.wrapped(partial(SymmetricEvaluator, mode="random", seed=seed))
        self._engine = Engine(evaluator, spec.params, seed=seed, threads=spec.threads)
        return self._engine

    def _limits(self, clock: Clock | None) -> Limits:
        spec = self._spec
        visits = 1 if spec.kind == "policy" else spec.visits
        # A search that ends early leaves the second move fewer visits than the rule of diversity compares.
        return Limits(visits=visits, seconds=spec.seconds, clock=clock, early_stop=not spec.diversity)

    def _varied(self, result: SearchResult, size: int) -> int:
        """The second move instead of the best half of the time where it has more than half of the best's visits."""
        best, second = second_best(result)
        if second is None or result.move != best or size**2 in (best, second):
            return result.move
        return second if self._random.random() < 0.5 else best


def second_best(result: SearchResult) -> tuple[int, int | None]:
    """The move with most visits, and the next if it has more than half as many."""
    ranked = sorted(result.candidates, key=lambda candidate: -candidate.visits)
    near = len(ranked) > 1 and 2 * ranked[1].visits > ranked[0].visits
    return ranked[0].point, ranked[1].point if near else None
