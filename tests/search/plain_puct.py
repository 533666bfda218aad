"""A slow, obvious PUCT over `tengen.game.Game`: one simulation at a time, no memory to save, every formula in view."""

from __future__ import annotations

import math

import numpy as np

from tengen.data.planes import encode_game
from tengen.engine.search import SearchParams
from tengen.evaluators import Evaluator
from tengen.game import Game


def stored(prior: float) -> float:
    """The prior rounded to 12 significant bits, as a node keeps it."""
    fraction, exponent = math.frexp(prior)
    return math.ldexp(math.floor(fraction * 4096 + 0.5), exponent - 12)


class PlainNode:
    """A position: its moves with priors, its children, and the sum of the utilities seen here, for its side to move."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.visits = 0
        self.total = 0.0
        self.children: dict[int, PlainNode] = {}
        self.priors: dict[int, float] = {}

    @property
    def mean(self) -> float:
        return self.total / self.visits


class PlainPuct:
    def __init__(self, game: Game, evaluator: Evaluator, params: SearchParams) -> None:
        self.root = PlainNode(game)
        self._evaluator = evaluator
        self._params = params

    def run(self, visits: int) -> None:
        for _ in range(visits):
            self._simulate(self.root)

    def visits(self) -> dict[int, int]:
        return {move: child.visits for move, child in self.root.children.items()}

    def _simulate(self, node: PlainNode) -> float:
        """Visit the node once; returns what came of it for its side to move."""
        if node is not self.root and node.game.is_over:
            black = node.game.score()
            utility = self._utility(float(np.sign(black)), black, node)
        elif not node.visits:
            utility = self._expand(node)
        else:
            move = self._select(node)
            if move not in node.children:
                game = node.game.copy()
                game.play(move)
                node.children[move] = PlainNode(game)
            utility = -self._simulate(node.children[move])
        node.visits += 1
        node.total += utility
        return utility

    def _utility(self, black_value: float, black_score: float, node: PlainNode) -> float:
        sign = 1 if node.game.to_play == 0 else -1
        return sign * self._mix(black_value, black_score)

    def _mix(self, value: float, score: float) -> float:
        weight = self._params.score_weight
        return (1 - weight) * value + weight * math.atan(score / self._params.score_scale) * 2 / math.pi

    def _expand(self, node: PlainNode) -> float:
        result = self._evaluator.evaluate(*(part[None] for part in encode_game(self._evaluator.plane_set, node.game)))
        moves = [*node.game.legal_points(), node.game.size**2]
        mass = {move: float(result.policy[0, move]) for move in dict.fromkeys(moves)}
        total = sum(mass.values())
        priors = ((move, stored(p / total)) for move, p in mass.items())
        node.priors = dict(sorted(priors, key=lambda item: (-item[1], item[0])))
        return self._mix(float(result.value[0]), float(result.score[0]))

    def _select(self, node: PlainNode) -> int:
        p = self._params
        c = p.c_puct + p.c_puct_factor * math.log((1 + node.visits + p.c_puct_base) / p.c_puct_base)
        tried = sum(node.priors[move] for move in node.children)
        reduction = p.root_fpu_reduction if node is self.root else p.fpu_reduction
        unknown = node.mean - reduction * math.sqrt(min(tried, 1))

        def score(move: int) -> float:
            child = node.children.get(move)
            visits = child.visits if child else 0
            q = -child.mean if child else unknown
            return q + c * node.priors[move] * math.sqrt(node.visits) / (1 + visits)

        return max(node.priors, key=score)
