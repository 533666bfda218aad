"""A slow, obvious search by KataGo's weights over `tengen.game.Game`, with every formula in view."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from plain_go import liberties
from plain_puct import PlainNode, PlainPuct
from scipy.special import stdtr

from tengen.engine.params import SearchParams
from tengen.evaluators import Evaluation, Evaluator
from tengen.game import Game

_NORMAL = np.linspace(-6, 6, 4001)
_DENSITY = np.exp(-(_NORMAL**2) / 2) / np.exp(-(_NORMAL**2) / 2).sum()
_GRID = 16


@cache
def score_value_at(row: int, column: int) -> float:
    """The mean of 2 / pi * atan(x), x normal with mean `row` / 16 and standard deviation `column` / 16."""
    return float(_DENSITY @ np.arctan(row / _GRID + column / _GRID * _NORMAL)) * 2 / math.pi


def score_value(mean: float, stdev: float, center: float, scale: float) -> float:
    """The same for any mean and deviation, between the four nearest points of the grid."""
    row, column = _GRID * (mean - center) / scale, _GRID * stdev / scale
    top, left = math.floor(row), math.floor(column)
    down, right = row - top, column - left
    upper = (1 - right) * score_value_at(top, left) + right * score_value_at(top, left + 1)
    lower = (1 - right) * score_value_at(top + 1, left) + right * score_value_at(top + 1, left + 1)
    return (1 - down) * upper + down * lower


@dataclass
class Bias:
    difference: float = 0
    weight: float = 0
    nodes: int = 0

    @property
    def mean(self) -> float:
        return self.difference / self.weight if self.weight > 0.001 else 0.0


@dataclass
class Result:
    """Means for one side."""

    value: float = 0
    no_result: float = 0
    score: float = 0
    score_square: float = 0
    lead: float = 0
    utility: float = 0
    utility_square: float = 0

    def __neg__(self) -> Result:
        return Result(
            -self.value,
            self.no_result,
            -self.score,
            self.score_square,
            -self.lead,
            -self.utility,
            self.utility_square,
        )


def mean_of(results: list[tuple[float, Result]]) -> Result:
    total = sum(weight for weight, _ in results)
    columns = zip(*(vars(result).values() for _, result in results), strict=True)
    weights = [weight for weight, _ in results]
    return Result(*(sum(w * x for w, x in zip(weights, column, strict=True)) / total for column in columns))


@dataclass(eq=False)
class KatagoNode(PlainNode):
    game: Game
    result: Result = field(default_factory=Result)  # its own
    average: Result = field(default_factory=Result)
    errors: tuple[float, float] | None = None
    weight: float = 0
    weight_square: float = 0
    bias: Bias | None = None
    added: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        super().__init__(self.game)


class PlainKatago(PlainPuct):
    def __init__(self, game: Game, evaluator: Evaluator, params: SearchParams, batch: int = 1) -> None:
        super().__init__(game, evaluator, params, batch)
        self.root: KatagoNode = KatagoNode(game)
        self._size = game.size
        self._center = 0.0  # for the side to move at the root
        self._entries: dict[object, Bias] = {}
        self.draws = 0  # finished games that were a draw, as often as they were visited

    def advance(self, move: int) -> None:
        """Make the position after a move the root.

        A node that is dropped takes a share of what it added to its entry with it, and the last one the entry.
        """
        kept = self._children(self.root)[move]
        dropped = [self.root]
        for node in dropped:  # grows
            dropped += [child for child in self._children(node).values() if child is not kept]
            if node.bias is not None:
                node.bias.difference -= self._params.value_bias_free * node.added[0]
                node.bias.weight -= self._params.value_bias_free * node.added[1]
                node.bias.nodes -= 1
        self._entries = {key: entry for key, entry in self._entries.items() if entry.nodes}
        self.root = kept
        self._center_at(kept.average.score)
        if self._params.dynamic_score_utility or self._params.value_bias:
            self._recompute_below(kept)

    # --- Utilities

    def _center_at(self, expected: float) -> None:
        p = self._params
        room = p.score_center_scale * self._size
        self._center = min(max(expected * (1 - p.score_center_pull), expected - room), expected + room)

    def _utility(self, node: KatagoNode, result: Result) -> float:
        p = self._params
        root_side = node.game.to_play == self.root.game.to_play
        center = self._center if root_side else -self._center
        stdev = math.sqrt(max(result.score_square - result.score**2, 0))
        return (
            p.win_utility * result.value
            + (p.no_result_utility if node.game.to_play == 1 else -p.no_result_utility) * result.no_result
            + p.static_score_utility * score_value(result.score, stdev, 0, 2 * self._size)
            + p.dynamic_score_utility * score_value(result.score, stdev, center, p.score_center_scale * self._size)
        )

    def _own_weight(self, node: KatagoNode) -> float:
        p = self._params
        if p.uncertainty == 0 or self.root.errors is None:  # the network predicts no errors
            return 1
        if node.game.is_over:
            return p.uncertainty_max_weight
        assert node.errors is not None
        center = self._center if node.game.to_play == self.root.game.to_play else -self._center

        def slope(middle: float, scale: float) -> float:
            return 2 / math.pi * scale / (scale**2 + (node.result.score - middle) ** 2)

        per_point = p.static_score_utility * slope(0, 2 * self._size)
        per_point += p.dynamic_score_utility * slope(center, p.score_center_scale * self._size)
        error = p.win_utility * node.errors[0] + per_point * node.errors[1]
        return p.uncertainty / (error**p.uncertainty_exponent + p.uncertainty / p.uncertainty_max_weight)

    # --- Leaves

    def _run_batch(self, limit: int) -> None:
        super()._run_batch(min(limit, max(2, self.root.visits // 16)))

    def _descend(self) -> list[PlainNode]:
        path: list[PlainNode] = [self.root]
        while path[-1].priors:
            node = path[-1]
            move = self._select(node)
            if move not in node.children:
                game = node.game.copy()
                game.play(move)
                node.children[move] = child = KatagoNode(game)
                reached = bool(node.game.moves)
                if move != self._size**2 and reached and self._params.value_bias and not child.game.is_over:
                    child.bias = self._entries.setdefault(self._surroundings(node.game, move), Bias())
                    child.bias.nodes += 1
            path.append(node.children[move])
        return path

    def _surroundings(self, game: Game, move: int) -> object:
        row, column = divmod(move, self._size)
        seen, board = [], tuple(game.board.ravel().tolist())
        for y in range(row - 2, row + 3):
            for x in range(column - 2, column + 3):
                if 0 <= y < self._size and 0 <= x < self._size and (color := game.board[y, x]) != 2:
                    in_atari = len(liberties(board, y * self._size + x)) == 1
                    seen.append((y, x, int(color), in_atari))
        return game.to_play, game.moves[-1][1], move, game.ko, tuple(seen)

    def _evaluation(self, node: PlainNode) -> Evaluation:
        """A draw that is a win or a loss is half a point of komi; others need an evaluator that does not read it."""
        if abs(self._params.draw_value) != 1 or node.game.komi % 1:
            return super()._evaluation(node)
        told = node.game.copy()
        told.komi += self._params.draw_value / 2
        return self._evaluator.infer(self._evaluator.encoded([told]))

    def _expand(self, node: PlainNode) -> None:
        assert isinstance(node, KatagoNode)
        super()._expand(node)
        found = self._evaluation(node)

        def of(name: str, missing: float) -> float:
            column = getattr(found, name)
            return missing if column is None else float(column[0])

        score = of("score", 0)
        node.result = Result(
            of("value", 0), of("no_result", 0), score, score**2 + of("score_stdev", 0) ** 2, of("lead", score)
        )
        if found.value_error is not None:
            node.errors = of("value_error", 0), of("score_error", 0)

    # --- The way up

    def _back_up(self, path: list[PlainNode], utility: float) -> None:
        *above, leaf = [node for node in path if isinstance(node, KatagoNode)]
        if leaf is self.root:
            self._center_at(leaf.result.score)
        if leaf.game.is_over:
            score = leaf.game.score() * (1 if leaf.game.to_play == 0 else -1)
            # A whole score is half a point less or more; the more a draw is worth, the more often it is more.
            worth = self._params.draw_value * (1 if leaf.game.to_play else -1)
            ends = [(1.0, score)] if score % 1 else [((1 - worth) / 2, score - 0.5), ((1 + worth) / 2, score + 0.5)]
            mean, square = (sum(chance * end**power for chance, end in ends) for power in (1, 2))
            leaf.result = Result(worth if score == 0 else float(np.sign(score)), 0, mean, square, mean)
            self.draws += score == 0
        leaf.visits += 1
        own = self._corrected(leaf)
        weight = self._own_weight(leaf)
        leaf.average = mean_of([(leaf.weight, leaf.average), (weight, own)])
        leaf.weight += weight
        leaf.weight_square += weight**2
        for node in reversed(above):
            node.visits += 1
            self._recompute(node)

    def _corrected(self, node: KatagoNode) -> Result:
        node.result.utility = self._utility(node, node.result)
        own = Result(**vars(node.result))
        if node.bias is not None:
            own.utility += self._params.value_bias * node.bias.mean
        own.utility_square = own.utility**2
        return own

    def _recompute(self, node: KatagoNode) -> None:
        p = self._params
        moves = [(move, child) for move, child in node.children.items() if child.visits]
        children = [child for _, child in moves if isinstance(child, KatagoNode)]
        weights = [child.weight for child in children]
        whole = sum(weights)
        utilities = [-child.average.utility for child in children]

        # A move that is worse than the mean of those before it keeps twice its share by the prior.
        if p.noise_pruning:
            priors = [node.priors[move] for move, _ in moves]
            for i in range(1, len(weights)):
                before = sum(weights[:i])
                gap = sum(w * u for w, u in zip(weights[:i], utilities[:i], strict=True)) / before - utilities[i]
                excess = weights[i] - 2 * before * priors[i] / sum(priors[:i])
                if gap > 0 and excess > 0:
                    weights[i] -= excess * (1 - math.exp(-gap / p.noise_pruning))

        # Bad moves count less.
        total = sum(weights)
        if p.value_weight_exponent and total:
            mean = sum(w * u for w, u in zip(weights, utilities, strict=True)) / total
            chances = [
                float(stdtr(3, (u - mean) / math.sqrt(1e-8 + 1 / (1.5 * math.sqrt(w))))) + 1e-4
                for w, u in zip(weights, utilities, strict=True)
            ]
            weights = [w * c**p.value_weight_exponent for w, c in zip(weights, chances, strict=True)]
            weights = [w * total / sum(weights) for w in weights]

        below = [(w, -child.average) for w, child in zip(weights, children, strict=True)]
        own = self._corrected(node)
        if node.bias is not None and below:
            counts = whole**p.value_bias_exponent
            difference = (mean_of(below).utility - node.result.utility) * counts
            node.bias.difference += difference - node.added[0]
            node.bias.weight += counts - node.added[1]
            node.added = difference, counts
            own = self._corrected(node)
        weight = self._own_weight(node)
        node.average = mean_of([*below, (weight, own)])
        node.weight = total + weight
        node.weight_square = weight**2 + sum(
            (w / child.weight) ** 2 * child.weight_square for w, child in zip(weights, children, strict=True)
        )

    def _recompute_below(self, node: KatagoNode) -> None:
        """The node and all below it, from the leaves up."""
        below = [child for child in self._children(node).values() if child.visits]
        for child in below:
            self._recompute_below(child)
        if below:
            return self._recompute(node)
        node.average = self._corrected(node)
        weight = self._own_weight(node)
        node.weight, node.weight_square = node.visits * weight, node.visits * weight**2

    # --- Selection

    def _children(self, node: KatagoNode) -> dict[int, KatagoNode]:
        return {move: child for move, child in node.children.items() if isinstance(child, KatagoNode)}

    @property
    def _radius(self) -> float:
        return self._params.win_utility + self._params.static_score_utility + self._params.dynamic_score_utility

    def _exploration(self, node: KatagoNode) -> float:
        p = self._params
        total = sum(child.weight for child in self._children(node).values())
        squared = node.average.utility**2
        spread = p.c_puct_stdev_prior
        if node.weight > 1:
            known = p.c_puct_stdev_weight
            variance = (squared + spread**2) * known + max(node.average.utility_square, squared) * node.weight
            spread = math.sqrt(max(variance / (known + node.weight - 1) - squared, 0))
        factor = 1 + p.c_puct_stdev_scale * (spread / p.c_puct_stdev_prior - 1)
        c = p.c_puct + p.c_puct_factor * math.log((total + p.c_puct_base) / p.c_puct_base)
        return c * math.sqrt(total + 0.01) * factor

    def _select(self, node: PlainNode) -> int:
        assert isinstance(node, KatagoNode)
        p, root, radius = self._params, node is self.root, self._radius
        children = self._children(node)
        mass = min(sum(node.priors[move] for move in children), 1)
        explore = self._exploration(node)

        share = mass**p.fpu_mass_power
        first = share * node.average.utility + (1 - share) * node.result.utility
        first -= (p.root_fpu_reduction if root else p.fpu_reduction) * math.sqrt(mass)
        first += (-radius - first) * (p.root_fpu_loss if root else p.fpu_loss)

        def is_futile(move: int) -> bool:
            """Whether a root move cannot get the weight that a choice needs, at its mean weight a visit."""
            tries = {other: child.visits + child.pending for other, child in children.items()}
            left = self._planned - sum(tries.values())
            if not (root and p.stop_futile and left > 0):
                return False
            needed = (p.lcb_share if p.lcb else 1) * max((child.weight for child in children.values()), default=0)
            visits, weight = (children[move].visits, children[move].weight) if move in children else (0, 0)
            return tries.get(move, 0) + left < needed * (visits + 1) / (weight + node.weight / node.visits)

        def score(move: int) -> float:
            child = children.get(move)
            weight, utility = 0.0, first
            if child is not None and child.visits:
                weight, utility = child.weight, -child.average.utility
            if child is not None and child.pending:
                lost = child.pending * p.virtual_loss
                utility += (-radius - utility) * lost / (lost + max(weight, 0.25))
                weight += lost
            return utility + explore * node.priors[move] / (1 + weight)

        return max((move for move in node.priors if not is_futile(move)), key=score)

    # --- The moves to play

    def lower_bound(self, child: KatagoNode) -> tuple[float, float]:
        """The bound of a move's utility and its distance from the mean."""
        mean, least = -child.average.utility, child.average.utility**2 + 1e-8
        size = child.weight**2 / child.weight_square
        share = 1 / size**3  # of the weight of an observation of the largest variance
        square = max(child.average.utility_square, least)
        variance = (square + share * (square + self._radius**2)) / (1 + share) - mean**2
        size = (child.weight * (1 + share)) ** 2 / (child.weight_square + (share * child.weight) ** 2)
        radius = self._params.lcb_deviations * math.sqrt(variance / size)
        return mean - radius, radius

    def play_weights(self, node: KatagoNode, *, by_bounds: bool = True) -> dict[int, float]:
        p, children = self._params, {move: child for move, child in self._children(node).items() if child.visits}
        weights = {move: child.weight for move, child in children.items()}

        def merit(move: int) -> float:
            visits = children[move].visits
            return weights[move] * (visits - 1) / visits + 2 * node.priors[move]

        explored = max(children, key=merit)
        if node is self.root:
            explore = self._exploration(node)

            def score(move: int, weight: float) -> float:
                return explore * node.priors[move] / (1 + weight) - children[move].average.utility

            bar = score(explored, weights[explored])
            for move in children:
                if move != explored and score(move, weights[move]) < bar:
                    wanted = explore * node.priors[move] / (bar + children[move].average.utility) - 1
                    weights[move] = min(weights[move], max(wanted, 0))
                if move != explored:
                    weights[move] = math.ceil(weights[move])
        if not (p.lcb and by_bounds):
            return weights
        bounds = {move: self.lower_bound(child) for move, child in children.items()}
        least = p.lcb_share * weights[explored]
        best = max((m for m in children if weights[m] > 0 and weights[m] >= least), key=lambda m: bounds[m][0])
        for move in children:
            excess = bounds[best][0] - bounds[move][0]
            if move != best and excess >= 0:
                factor = (bounds[move][1] + excess) / (bounds[move][1] + 0.2 * excess)
                weights[best] = max(weights[best], factor**2 * weights[move])
        return weights

    def pruned(self) -> Result:
        """The root's own evaluation and its moves, by the weights without the bounds."""
        weights, children = self.play_weights(self.root, by_bounds=False), self._children(self.root)
        own = (self._own_weight(self.root), self.root.result)
        return mean_of([own, *((weight, -children[move].average) for move, weight in weights.items())])

    def line(self, move: int) -> list[int]:
        """The moves that would be played after this one at the root."""
        moves, node = [move], self._children(self.root)[move]
        while any(child.visits for child in node.children.values()):
            weights = self.play_weights(node)
            moves.append(max(weights, key=weights.__getitem__))
            node = self._children(node)[moves[-1]]
        return moves
