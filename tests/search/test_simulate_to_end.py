"""Simulations to the end of the game against a plain twin that keeps every value in a list; alone and in a pool."""

from __future__ import annotations

import math

import numpy as np
import pytest
from known_answers import Noise
from plain_puct import stored

from tengen.engine.params import SearchParams
from tengen.engine.pool import SearchPool
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluator
from tengen.game import Game

FULL = SearchParams.preset("cody-7x7")


class Position:
    """What the twin knows of a position: its own value, and what every move has heard so far."""

    def __init__(self, value: float, priors: dict[int, float]) -> None:
        self.value = value
        self.priors = priors
        self.heard: dict[int, list[float]] = {move: [] for move in priors}

    def select(self) -> int:
        total = sum(len(values) for values in self.heard.values())

        def score(move: int) -> float:
            values = self.heard[move]
            mean = sum(values) / len(values) if values else 0.0
            return mean + self.priors[move] * math.sqrt(total) / (1 + len(values))

        return max(self.priors, key=score)


class PlainFullGames:
    """Whole games one after another, positions known by their moves."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self.game, self.evaluator = game, evaluator
        self.known: dict[tuple[int, ...], Position] = {}
        self.evaluations = 0

    def run(self, simulations: int) -> None:
        for _ in range(simulations):
            self.simulate()

    def simulate(self) -> None:
        game = self.game.copy()
        line: list[tuple[int, Position, int]] = []
        while not game.is_over:
            position = self.at(game)
            line.append((game.to_play, position, position.select()))
            game.play(line[-1][2])
        won = float(np.sign(game.score()))  # for Black
        for i, (color, position, move) in enumerate(line):
            for later, other, _ in line[i + 1 :]:
                if later == color:
                    position.heard[move].append(other.value)
            position.heard[move].append(won if color == 0 else -won)

    def at(self, game: Game) -> Position:
        moves = tuple(point for _, point in game.moves)
        if moves not in self.known:
            self.evaluations += 1
            result = self.evaluator.infer(self.evaluator.encoded([game]))
            legal = game.legal_points() or [game.size**2]
            mass = {move: float(result.policy[0, move]) for move in legal}
            priors = {move: stored(p / sum(mass.values())) for move, p in mass.items()}
            ordered = dict(sorted(priors.items(), key=lambda item: (-item[1], item[0])))
            self.known[moves] = Position(float(result.value[0]), ordered)
        return self.known[moves]


def started(size: int, seed: int, limit: int) -> Game:
    game, rng = Game(size, "tromp-taylor", komi=0.5), np.random.default_rng(seed)
    for _ in range(4):
        game.play(int(rng.choice(game.legal_points())))
    return game.limit_moves(limit)


@pytest.mark.parametrize(("size", "limit"), [(5, 9), (5, 30), (7, 64)])
def test_agrees_with_the_plain_twin(size: int, limit: int) -> None:
    game = started(size, limit, limit)
    twin = PlainFullGames(game, Noise())
    twin.run(60)
    search = TreeSearch(Noise(), FULL, 1)
    search.set_root(game)
    search.run(60)
    assert search.visits == 60 and search.evaluations == twin.evaluations
    stats = search.stats()
    heard = twin.known[tuple(point for _, point in game.moves)].heard
    visits = {int(p): int(n) for p, n in zip(stats.point, stats.visits, strict=True) if n}
    assert visits == {move: len(values) for move, values in heard.items() if values}
    for point, value in zip(stats.point, stats.value, strict=True):
        if heard[int(point)]:
            assert np.mean(heard[int(point)]) == pytest.approx(float(value), abs=1e-5)


def test_a_game_in_a_pool_finds_what_it_finds_alone() -> None:
    games = [started(5, seed, 14) for seed in range(4)]
    pool = SearchPool(Noise(), FULL, len(games), batch_per_game=2, seed=3)
    for i, game in enumerate(games):
        pool.set_root(i, game)
    pool.run(25)
    for i, game in enumerate(games):
        alone = TreeSearch(Noise(), FULL, 2, seed=3 + i)
        alone.set_root(game)
        alone.run(25)
        assert pool[i].text(6) == alone.text(6)
        assert pool[i].visits == 25


def test_moves_are_drawn_in_proportion_to_what_they_heard() -> None:
    search = TreeSearch(Noise(), FULL, 1)
    search.set_root(started(5, 1, 12))
    search.run(50)
    stats = search.stats()
    drawn = [search.choose() for _ in range(2000)]
    for point, share in zip(stats.point, stats.visits / stats.visits.sum(), strict=True):
        assert drawn.count(int(point)) / 2000 == pytest.approx(float(share), abs=0.05)
    target = search.policy_target()
    assert target[stats.point] == pytest.approx(stats.visits / stats.visits.sum(), abs=1e-6)


@pytest.mark.parametrize(
    "setting",
    [
        {"selection": "puct"},
        {"playouts": 1},
        {"priors": "uniform"},
        {"transpositions": True},
        {"stop_futile": True},
    ],
)
def test_what_cannot_go_to_the_end_is_refused(setting: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="simulate_to_end needs"):
        SearchParams(**{**FULL.model_dump(), **setting})


def test_one_simulation_is_a_target() -> None:
    search = TreeSearch(Noise(), FULL, 1)
    search.set_root(Game(5))
    search.run(1)
    assert search.policy_target().sum() == pytest.approx(1)
