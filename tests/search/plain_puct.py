"""A slow, obvious PUCT in all its forms over `tengen.game.Game`: no memory to save, every formula in view."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tengen.engine.params import SearchParams
from tengen.evaluators import Evaluation, Evaluator
from tengen.game import Game


def stored(prior: float) -> float:
    """The prior rounded to 12 significant bits, as a node keeps it."""
    fraction, exponent = math.frexp(prior)
    return math.ldexp(math.floor(fraction * 4096 + 0.5), exponent - 12)


def turned(point: int, size: int, symmetry: int) -> int:
    """Where a symmetry brings a point: rows flipped, then columns, then both exchanged; a pass stays."""
    if point == size**2:
        return point
    row, column = divmod(point, size)
    row = size - 1 - row if symmetry & 1 else row
    column = size - 1 - column if symmetry & 2 else column
    return column * size + row if symmetry & 4 else row * size + column


def mean_over_symmetries(game: Game, evaluator: Evaluator) -> Evaluation:
    """The mean of what the evaluator says of the game played in each of the eight symmetries."""
    size, parts = game.size, []
    for symmetry in range(8):
        other = Game(size, game.rules, game.komi)
        for _, point in game.moves:
            other.play(turned(point, size, symmetry))
        found = evaluator.infer(evaluator.encoded([other]))
        policy = np.array([[found.policy[0, turned(p, size, symmetry)] for p in range(size**2 + 1)]], np.float64)
        illegal = np.setdiff1d(np.arange(size**2), list(game.legal_points()))
        policy[0, illegal] = 0
        parts.append(replace(found, policy=policy / policy.sum()))

    def mean(name: str) -> object:
        columns = [getattr(part, name) for part in parts]
        return None if columns[0] is None else np.mean(columns, axis=0)

    whole = {name: mean(name) for name in ("policy", "value", "score", "no_result", "lead")}
    whole |= {name: mean(name) for name in ("value_error", "score_error")}
    if parts[0].score_stdev is not None:
        squares = np.mean([part.score**2 + part.score_stdev**2 for part in parts], axis=0)
        whole["score_stdev"] = np.sqrt(squares - whole["score"] ** 2)
    return replace(parts[0], **whole)


class PlainNode:
    """A position: its moves with priors, its children, and the sum of the utilities seen here, for its side to move."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.visits = 0
        self.pending = 0
        self.total = 0.0
        self.own = 0.0  # the evaluation of this position itself
        self.children: dict[int, PlainNode] = {}
        self.priors: dict[int, float] = {}

    @property
    def mean(self) -> float:
        return self.total / self.visits


class PlainPuct:
    def __init__(self, game: Game, evaluator: Evaluator, params: SearchParams, batch: int = 1) -> None:
        self.root = PlainNode(game)
        self._evaluator = evaluator
        self._params = params
        self._batch = batch
        self._planned = params.planned_visits

    def run(self, visits: int) -> None:
        self._planned = visits - max(self.root.visits, 1)  # the root's own visit tries no move
        while self.root.visits < visits:
            self._run_batch(min(self._batch, visits - self.root.visits))

    def visits(self) -> dict[int, int]:
        return {move: child.visits for move, child in self.root.children.items() if child.visits}

    def _run_batch(self, limit: int) -> None:
        """Simulations that do not see each other's results; one that meets a waiting leaf counts until the end only."""
        waiting: list[list[PlainNode]] = []
        blocked: list[list[PlainNode]] = []
        done = 0
        while done < limit and len(blocked) < limit:
            path = self._descend()
            leaf = path[-1]
            if leaf is not self.root and leaf.game.is_over:
                black = leaf.game.score()
                self._back_up(path, self._mix(float(np.sign(black)), black) * (1 if leaf.game.to_play == 0 else -1))
                done += 1
                continue
            for node in path:
                node.pending += 1
            if any(leaf is other[-1] for other in waiting):
                blocked.append(path)
                if leaf is self.root:
                    break
            else:
                waiting.append(path)
                done += 1
        for path in [*waiting, *blocked]:
            for node in path:
                node.pending -= 1
        for path in waiting:
            self._expand(path[-1])
            self._back_up(path, path[-1].own)

    def _descend(self) -> list[PlainNode]:
        """The way from the root to a position without priors or after the end of a game."""
        path = [self.root]
        while path[-1].priors:
            node = path[-1]
            move = self._select(node)
            if move not in node.children:
                game = node.game.copy()
                game.play(move)
                node.children[move] = PlainNode(game)
            path.append(node.children[move])
        return path

    def _back_up(self, path: list[PlainNode], utility: float) -> None:
        for node in reversed(path):
            node.visits += 1
            node.total += utility
            utility = -utility

    def _mix(self, value: float, score: float) -> float:
        weight = self._params.score_weight
        return (1 - weight) * value + weight * math.atan(score / self._params.score_scale) * 2 / math.pi

    def _evaluation(self, node: PlainNode) -> Evaluation:
        if node is self.root and self._params.root_symmetries > 1:
            assert self._params.root_symmetries == 8
            return mean_over_symmetries(node.game, self._evaluator)
        return self._evaluator.infer(self._evaluator.encoded([node.game]))

    def _expand(self, node: PlainNode) -> None:
        result = self._evaluation(node)
        moves = [*node.game.legal_points(), node.game.size**2]
        mass = {move: float(result.policy[0, move]) for move in dict.fromkeys(moves)}
        total = sum(mass.values())
        priors = ((move, stored(p / total)) for move, p in mass.items())
        node.priors = dict(sorted(priors, key=lambda item: (-item[1], item[0])))
        node.own = self._mix(float(result.value[0]), float(result.score[0]))

    # --- Selection

    def _select(self, node: PlainNode) -> int:
        unknown = self._first_play(node)
        moves = list(node.priors)
        if node is self.root:
            moves = [move for move in moves if not self._futile(move)]
            for move in node.children:
                if move in moves and self._owed(move):
                    return move
        return max(moves, key=lambda move: self._score(node, move, unknown))

    def _tries(self, move: int) -> int:
        child = self.root.children.get(move)
        return child.visits + child.pending if child else 0

    def _futile(self, move: int) -> bool:
        """Whether a root move cannot get the share of the visits that it needs to be chosen."""
        p = self._params
        tries = {other: self._tries(other) for other in self.root.priors}
        left = self._planned - sum(tries.values())
        return p.stop_futile and tries[move] + left < max(tries.values()) * (p.lcb_share if p.lcb else 1)

    def _owed(self, move: int) -> bool:
        total = sum(self._tries(other) for other in self.root.children)
        owed = math.sqrt(self._params.forced_playouts * self.root.priors[move] * total)
        return self.root.children[move].visits > 0 and self._tries(move) < owed

    def target(self) -> dict[int, float]:
        """Visits of the root without those that were forced and not earned, as shares."""
        visits = self.visits()
        best = max(visits, key=lambda move: visits[move])
        unknown, total = self._first_play(self.root), sum(visits.values())
        bar = self._score(self.root, best, unknown)
        for move, child in self.root.children.items():
            forced = math.floor(math.sqrt(self._params.forced_playouts * self.root.priors[move] * total))
            n = child.visits
            for fewer in range(n - 1, max(n - forced, 0) - 1, -1):
                if move == best or self._score(self.root, move, unknown, fewer) >= bar:
                    break
                visits[move] = 0 if fewer <= 1 else fewer
        return {move: n / sum(visits.values()) for move, n in visits.items()}

    def _first_play(self, node: PlainNode) -> float:
        """What an untried move is worth."""
        p = self._params
        form, reduction, value = (
            (p.root_fpu, p.root_fpu_reduction, p.root_fpu_value)
            if node is self.root
            else (p.fpu, p.fpu_reduction, p.fpu_value)
        )
        if form == "absolute":
            return value
        tried = sum(node.priors[move] for move, child in node.children.items() if child.visits)
        parent = node.own if form == "network" else node.mean
        return parent - reduction * math.sqrt(min(tried, 1))

    def _score(self, node: PlainNode, move: int, unknown: float, visits: int | None = None) -> float:
        """Q + U of a move, with the losses of simulations under way in both where the published form has them.

        `visits`: as if it had so many of the same mean.
        """
        p = self._params
        child, prior = node.children.get(move), node.priors[move]
        n = visits if visits is not None else child.visits if child else 0
        lost = (child.pending if child else 0) * p.virtual_loss
        total = -child.mean * n if child and n else 0.0  # of utilities, for the side to move here
        q = (total - lost) / (n + lost) if n + lost else unknown
        children = node.children.values()
        if p.selection == "puct":
            parent = node.visits + node.pending
            c = p.c_puct + p.c_puct_factor * math.log((1 + parent + p.c_puct_base) / p.c_puct_base)
            return q + c * prior * math.sqrt(parent) / (1 + n + lost)
        if p.selection == "puct-alphago":
            others = sum(other.visits + other.pending * p.virtual_loss for other in children)
            return q + p.c_puct * prior * math.sqrt(others) / (1 + n + lost)
        if p.selection == "puct-leela-zero":
            others = sum(other.visits for other in children)
            return q + p.c_puct * prior * math.sqrt(others * math.log(0.015 * others + 1.7)) / (1 + n)
        assert p.selection == "puct-darkforest" and not p.puct_noise and not p.virtual_games
        wins = (total - lost + n + lost) / 2  # utilities of -1..1 as games won and lost
        rate = (wins + 0.5) / (n + lost + 1)
        explore = (p.c_puct / 2) * prior * math.sqrt(node.visits + node.pending + 1) / (n + lost + 1)
        return 2 * (rate + explore) - 1
