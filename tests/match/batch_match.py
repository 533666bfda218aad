"""Matches in one batch between players made by hand, and the same games played one position at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tengen.data.record import GameRecord
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluator
from tengen.game import Game
from tengen.match.batch import BatchMatch, FinishedGame
from tengen.match.conditions import Conditions
from tengen.match.outcome import Outcome
from tengen.match.player import Player
from tengen.match.players import evaluator_player
from tengen.match.settings import MatchSettings
from tengen.match.spec import PlayerSpec
from tengen.match.summary import tally
from tengen.statistics import Tally

NAMES = ("a", "b")


@dataclass(frozen=True)
class Side:
    """A player of these matches: the fields of its spec, and an evaluator."""

    evaluator: Evaluator
    fields: Mapping[str, object]

    def spec(self, name: str) -> PlayerSpec:
        return PlayerSpec.model_validate({"name": name, **self.fields})


def raw(evaluator: Evaluator, temperature: float = 0.0, pass_policy: str = "free") -> Side:
    """The raw policy of an evaluator."""
    return Side(evaluator, {"player": "policy:x", "temperature": temperature, "pass_policy": pass_policy})


def search(
    evaluator: Evaluator, visits: int, pass_policy: str = "free", temperature: float = 0.0, **params: float
) -> Side:
    """A search with an evaluator."""
    fields = {"player": "x", "visits": visits, "pass_policy": pass_policy, "temperature": temperature, "search": params}
    return Side(evaluator, fields)


def settings_of(sides: Sequence[Side], conditions: Conditions, games: int = 60) -> MatchSettings:
    specs = (side.spec(name) for name, side in zip(NAMES, sides, strict=True))
    return MatchSettings.of(*specs, conditions=conditions, games=games)


class Open:
    """Opens the players of these sides."""

    def __init__(self, *sides: Side) -> None:
        self._evaluators = {name: side.evaluator for name, side in zip(NAMES, sides, strict=True)}

    def __call__(self, spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player:
        return evaluator_player(spec, self._evaluators[spec.name], games, threads or 1)


def play(
    a: Side, b: Side, conditions: Conditions, games: int, at_once: int = 512, threads: int = 1
) -> list[FinishedGame]:
    """Games 0 to `games` - 1, of which a has Black in the even ones."""
    with BatchMatch(settings_of((a, b), conditions), at_once, threads, Open(a, b)) as match:
        return match.play_all(games)


def outcomes(played: Sequence[FinishedGame]) -> list[Outcome]:
    return [one.outcome for one in played]


def records(played: Sequence[FinishedGame]) -> list[GameRecord]:
    return [one.game.record("test") for one in played]


def by_color(played: Sequence[FinishedGame]) -> tuple[Tally, Tally]:
    """The results of a with Black and with White."""
    return tally(outcomes(played[::2]), "a"), tally(outcomes(played[1::2]), "a")


def moves(played: Sequence[FinishedGame]) -> list[list[int]]:
    return [[point for _, point in one.game.game.moves] for one in played]


def play_alone(sides: tuple[Side, Side], conditions: Conditions, number: int) -> list[int]:
    """The moves of one game, by single positions and TreeSearch; openings from both policies, passing is free."""
    seed = (conditions.seed * 1_000_003 + number) % 2**63
    game = conditions.new_game()
    uniform = np.random.default_rng((conditions.seed, number // 2)).random(conditions.drawn)
    for ply in range(conditions.drawn):
        opener = sides[(number // 2 + game.to_play) % 2]
        game.play(_drawn(game, opener.evaluator, conditions.opening_temperature, uniform[ply], passing=False))
    trees = [_tree(side, seed) for side in sides]
    draws = np.random.default_rng(seed).random(4 * conditions.size**2)
    while not (game.is_over or (conditions.settle and 2 not in game.pass_alive())):
        place = (number + game.to_play) % 2
        spec, tree = sides[place].spec("x"), trees[place]
        if tree is None:
            game.play(_drawn(game, sides[place].evaluator, spec.temperature, draws[len(game.moves)]))
            continue
        tree.set_root(game)
        tree.run(spec.visits or 0)
        game.play(tree.choose(spec.temperature or None))
    return [point for _, point in game.moves]


def _tree(side: Side, seed: int) -> TreeSearch | None:
    spec = side.spec("x")
    return None if spec.kind == "policy" else TreeSearch(side.evaluator, spec.params, 1, seed)


def _drawn(game: Game, evaluator: Evaluator, temperature: float, draw: float, passing: bool = True) -> int:
    policy = evaluator.evaluate([game]).policy[0].astype(float)
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
