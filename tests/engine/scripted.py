"""Evaluators with scripted answers, for everything above the network, and engines with them."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tengen.engine import Engine, Limits, SearchResult, Style
from tengen.engine.search import MoveRestriction
from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.evaluation import Floats
from tengen.game import BLACK, Game


class ScriptedEvaluator(BatchEvaluator):
    """The uniform evaluator with what a test wants instead: the same for every position, seen by its side to move.

    `policy` maps points to weights that stand beside a weight of 1 for every other point. `value` may be a function of
    the planes. `ownership` is float32 [n, n]. `delay` seconds are slept for each batch.
    """

    plane_set = "tengen"

    def __init__(
        self,
        policy: dict[int, float] | None = None,
        value: float | Callable[[Floats], Floats] = 0.0,
        score: float = 0.0,
        ownership: NDArray[np.float32] | None = None,
        delay: float = 0.0,
    ) -> None:
        self.name = "scripted"
        self.policy, self.value, self.score = policy or {}, value, score
        self.ownership, self.delay = ownership, delay
        self.calls = 0

    def infer(self, batch: InputBatch) -> Evaluation:
        planes = batch.planes
        self.calls += 1
        time.sleep(self.delay)
        plain = UniformEvaluator().infer(batch)
        policy = plain.policy.copy()
        for point, weight in self.policy.items():
            policy[:, point] *= weight
        policy /= policy.sum(axis=1, keepdims=True)
        value = self.value(planes) if callable(self.value) else np.full(len(plain), self.value, np.float32)
        ownership = plain.ownership if self.ownership is None else np.repeat(self.ownership[None], len(plain), 0)
        return Evaluation(policy, value, np.full(len(plain), self.score, np.float32), ownership)


def engine_on(game: Game, evaluator: object | None = None, **settings: object) -> Engine:
    """An engine with these settings at the position of a game; its evaluator is uniform unless another is given."""
    engine = Engine(evaluator or UniformEvaluator(), **settings)  # type: ignore[arg-type]
    engine.set_position(game)
    return engine


def result_of(game: Game, evaluator: object | None = None, visits: int = 50, **settings: object) -> SearchResult:
    """What such an engine finds with so many visits."""
    return engine_on(game, evaluator, **settings).think(Limits(visits=visits))


def play_hopeless_game(style: Style, moves: int = 60, forgetful: bool = False, avoided: bool = False) -> list[int]:
    """The numbers of the moves at which Black, who always sees a lost game, resigns.

    He may forget each tree, and he may have to avoid the move that he prefers.
    """
    game, resigned = Game(9), []
    engine = Engine(ScriptedEvaluator(value=-0.99), style=style)
    order = [p for p in range(81) if (p // 9 + p) % 2 == 0] + [p for p in range(81) if (p // 9 + p) % 2]
    for number in range(moves):
        if forgetful:
            engine.forget()
        engine.set_position(game, restrictions=[MoveRestriction(BLACK, [order[-1]])] if avoided else [])
        if number % 2 == 0 and engine.think(Limits(visits=1)).resign:
            resigned.append(number)
        legal = set(game.legal_points())
        game.play(next(p for p in order if p in legal))
    return resigned
