"""A slow Gumbel search from the paper (Danihelka et al. 2022): rounds with sets of survivors, no schedule of visits."""

from __future__ import annotations

import math

from plain_puct import PlainNode, PlainPuct

from tengen.engine.params import SearchParams
from tengen.evaluators import Evaluator
from tengen.game import Game

MASK = (1 << 64) - 1


class SplitMix:
    """The random numbers of the native search (Steele, Lea and Flood 2014)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def gumbel(self) -> float:
        return -math.log(-math.log1p(-((self.next() >> 11) * 2.0**-53)))


class PlainGumbel(PlainPuct):
    """One search from a fresh root, simulation by simulation."""

    def __init__(
        self, game: Game, evaluator: Evaluator, params: SearchParams, seed: int, allow: tuple[int, ...] = ()
    ) -> None:
        super().__init__(game, evaluator, params)
        self._allow = allow
        draws = SplitMix(seed)
        self.draws = [params.gumbel_scale * draws.gumbel() for _ in range(game.size**2 + 1)]
        self.order: list[int] = []  # the root moves in the order of their visits
        self.survivors: list[int] = []
        self._forced: int | None = None

    def search(self, simulations: int) -> int:
        """Sequential halving with this many simulations, after the root's own evaluation; returns the move to play."""
        self._run_batch(1)
        root = self.root
        if self._allow:
            total = sum(root.priors[move] for move in self._allow)
            root.priors = {move: root.priors[move] / total for move in root.priors if move in self._allow}
        m = min(self._params.gumbel_moves, len(root.priors))
        entrants = sorted(root.priors, key=lambda a: self.draws[a] + self._logit(root, a), reverse=True)[:m]
        rounds = math.ceil(math.log2(m)) if m > 1 else 1
        size = m
        while len(self.order) < simulations:
            visits_each = max(1, simulations // (rounds * size))
            self.survivors = []
            for lap in range(visits_each):
                # The first lap takes the best of the entrants, one by one as their values become known.
                left = list(entrants if lap == 0 else self.survivors)
                for _ in range(size):
                    if len(self.order) == simulations:
                        return self._choice()
                    move = max(left, key=self._root_score)
                    left.remove(move)
                    if lap == 0:
                        self.survivors.append(move)
                    self._visit(move)
            entrants, size = self.survivors, max(2, size // 2) if m > 1 else 1
        return self._choice()

    def _visit(self, move: int) -> None:
        self._forced = move
        self._run_batch(1)
        self._forced = None
        self.order.append(move)

    def _choice(self) -> int:
        most = max(self.visits().values())
        return max((a for a, n in self.visits().items() if n == most), key=self._root_score)

    def _root_score(self, move: int) -> float:
        return self.draws[move] + self._logit(self.root, move) + self._sigma(self.root)[move]

    def improved(self, node: PlainNode) -> dict[int, float]:
        """softmax(logits + sigma(completed q))"""
        sigma = self._sigma(node)
        logits = {move: self._logit(node, move) + sigma[move] for move in node.priors}
        top = max(logits.values())
        weights = {move: math.exp(x - top) for move, x in logits.items()}
        return {move: w / sum(weights.values()) for move, w in weights.items()}

    def _select(self, node: PlainNode) -> int:
        if node is self.root and self._forced is not None:
            return self._forced
        improved = self.improved(node)
        visits = {move: node.children[move].visits if move in node.children else 0 for move in node.priors}
        total = sum(visits.values())
        return max(node.priors, key=lambda move: improved[move] - visits[move] / (1 + total))

    def _logit(self, node: PlainNode, move: int) -> float:
        return math.log(max(node.priors[move], 2.0**-32))

    def _sigma(self, node: PlainNode) -> dict[int, float]:
        """sigma of the completed q, in 0..1."""
        p = self._params
        seen = {move: child for move, child in node.children.items() if child.visits}
        q = {move: -child.mean for move, child in seen.items()}
        total = sum(child.visits for child in seen.values())
        mass = sum(max(node.priors[move], 2.0**-32) for move in seen)
        mean = sum(max(node.priors[move], 2.0**-32) * q[move] for move in seen) / mass if seen else 0.0
        mixed = (node.own + total * mean) / (1 + total)
        slope = (p.gumbel_c_visit + max((child.visits for child in seen.values()), default=0)) * p.gumbel_c_scale
        return {move: slope * (q.get(move, mixed) + 1) / 2 for move in node.priors}
