"""Evaluators whose answers are known: written down for a position instead of learned."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tengen import _native
from tengen.engine.search import MoveRestriction
from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch
from tengen.evaluators.evaluation import Floats
from tengen.game import BLACK

PLANE_NAMES, SCALAR_NAMES = _native.plane_set("tengen")
OWN, OTHER = (PLANE_NAMES.index(name) for name in ("own_stones", "opponent_stones"))
SELF_KOMI = SCALAR_NAMES.index("self_komi")


@dataclass(frozen=True)
class View:
    """What an evaluator sees of one position of a game in which White has komi."""

    own: frozenset[int]
    other: frozenset[int]
    black_to_move: bool

    @property
    def black(self) -> frozenset[int]:
        return self.own if self.black_to_move else self.other

    @property
    def white(self) -> frozenset[int]:
        return self.other if self.black_to_move else self.own


def views(planes: Floats, scalars: Floats) -> list[View]:
    points = [[frozenset(np.flatnonzero(plane).tolist()) for plane in row[[OWN, OTHER]]] for row in planes]
    return [View(own, other, extra[SELF_KOMI] < 0) for (own, other), extra in zip(points, scalars, strict=True)]


def only(points: Sequence[int], color: int = BLACK) -> list[MoveRestriction]:
    """The restriction of a root at which this player is to move: to these points, size * size for a pass."""
    return [MoveRestriction(color, points, allow=True)]


class Scripted(BatchEvaluator):
    """Equal priors unless `policy` gives them, and the value (or score) that a function gives for Black."""

    plane_set = "tengen"

    def __init__(
        self,
        value: Callable[[View], float] = lambda view: 0.0,
        score: Callable[[View], float] = lambda view: 0.0,
        policy: Callable[[View], Floats] | None = None,
    ) -> None:
        self.name = "scripted"
        self._value = value
        self._score = score
        self._policy = policy
        self.rows = 0

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, mask = batch.arrays
        seen = views(planes, scalars)
        self.rows += len(seen)
        sign = np.array([1 if view.black_to_move else -1 for view in seen], np.float32)
        moves = mask[0].size + 1
        even = np.full(moves, 1 / moves, np.float32)
        return Evaluation(
            policy=np.array([self._policy(view) if self._policy else even for view in seen], np.float32),
            value=sign * np.array([self._value(view) for view in seen], np.float32),
            score=sign * np.array([self._score(view) for view in seen], np.float32),
            ownership=sign[:, None, None] * np.ones_like(mask),
        )


class Noise(BatchEvaluator):
    """Random priors and values that depend on nothing but the position."""

    name, plane_set = "noise", "tengen"

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, mask = batch.arrays
        moves = mask[0].size + 1
        policy, value = np.zeros((len(mask), moves), np.float32), np.zeros(len(mask), np.float32)
        for row in range(len(mask)):
            digest = hashlib.sha256(planes[row, [OWN, OTHER]].tobytes() + scalars[row].tobytes()).digest()
            rng = np.random.default_rng(int.from_bytes(digest[:8], "little"))
            policy[row] = rng.dirichlet(np.full(moves, 0.5))
            value[row] = rng.uniform(-0.8, 0.8)
        return Evaluation(policy, value, 10 * value, np.zeros_like(mask))
