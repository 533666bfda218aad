"""Evaluators made by hand, and duels played the slow way."""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

from tengen.engine.search import TreeSearch
from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch
from tengen.game import Game
from tengen.match.batch import Opening, Terms
from tengen.match.batch_player import Player


class Checksum(BatchEvaluator):
    """Priors and values drawn from a position alone; `key` makes another such player, `passing` is the mass of pass."""

    plane_set = "tengen"

    def __init__(self, key: str = "", passing: float = 0.02) -> None:
        self.name = f"checksum {key}"
        self.key, self.passing = key.encode(), passing

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, mask = batch.arrays
        result = Evaluation.zeros(*mask.shape[:2])
        for row in range(len(mask)):
            digest = hashlib.sha256(self.key + planes[row].tobytes() + scalars[row].tobytes()).digest()
            drawn = np.random.default_rng(int.from_bytes(digest[:8], "little")).random(mask[row].size + 1, np.float32)
            result.policy[row, :-1] = drawn[:-1] ** 2 * mask[row].ravel()
            result.policy[row, -1] = self.passing
            result.value[row] = 2 * drawn[-1] - 1
        result.policy[:] /= result.policy.sum(axis=1, keepdims=True)
        return result


class Passer(Checksum):
    """Always passes."""

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        result.policy[:] = 0
        result.policy[:, -1] = 1
        return result


def play_alone(
    players: tuple[Player, Player], terms: Terms, seed: int, number: int, games: int, opening: Opening
) -> list[int]:
    """The moves of one game of a duel of `games`, by single positions and TreeSearch; no player never passes."""
    if opening.moves and number % 2:
        start = play_alone(players, terms, seed, number - 1, games, opening)[: opening.moves]
    else:
        start = []
    game = Game(terms.size, terms.rules, terms.komi)
    trees = [_tree(player, seed, side, number, games) for side, player in enumerate(players)]
    while not _over(game, terms):
        ply, side = len(game.moves), (number + game.to_play) % 2
        if ply < len(start):
            game.play(start[ply])
        elif ply < opening.moves:
            opener = ((number // 2) + game.to_play) % 2
            draw = _stream(seed, 0, 0).random((games // 2 + 1, opening.moves))[number // 2, ply]
            game.play(_draw(game, players[opener], opening.temperature, draw, passing=False))
        elif players[side].visits == 1:
            draw = _stream(seed, 1, side).random((games, 2 * terms.size**2))[number, ply]
            game.play(_draw(game, players[side], players[side].temperature, draw))
        else:
            trees[side].set_root(game.copy().limit_moves(2 * terms.size**2))
            trees[side].run(players[side].visits)
            game.play(trees[side].choose(players[side].temperature or None))
    return [point for _, point in game.moves]


def _stream(seed: int, purpose: Literal[0, 1, 2], side: int) -> np.random.Generator:
    return np.random.default_rng([seed, purpose, side])


def _tree(player: Player, seed: int, side: int, number: int, games: int) -> TreeSearch:
    return TreeSearch(
        player.evaluator, player.params, 1, int(_stream(seed, 2, side).integers(0, 1 << 62, games)[number])
    )


def _over(game: Game, terms: Terms) -> bool:
    return game.is_over or len(game.moves) >= 2 * terms.size**2 or (terms.settle and 2 not in game.pass_alive())


def _draw(game: Game, player: Player, temperature: float, draw: float, passing: bool = True) -> int:
    policy = player.evaluator.evaluate([game]).policy[0].astype(float)
    points = game.legal_points()
    if passing or not points:
        points.append(game.size**2)
    if temperature == 0:
        return max(points, key=lambda point: (policy[point], -point))
    most = max(policy[point] for point in points)
    weights = [(policy[point] / most) ** (1 / temperature) for point in points]
    left = draw * sum(weights)
    for point, weight in zip(points, weights, strict=True):
        left -= weight
        if left < 0:
            return point
    return points[-1]
