"""Searches whose network does not see the moves before the root."""

from __future__ import annotations

import random

import numpy as np
import pytest
from known_answers import Noise

from tengen.data.planes import FeatureContext, PythonPlaneSet, plane_set_names, register_plane_set
from tengen.engine.params import SearchParams
from tengen.engine.positions import without_history
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluation, InputBatch
from tengen.game import Game

WITHOUT_HISTORY = {"bakago39-bug", "betago3", "betago7", "betago11-simple", "betago11-zero", "deepgo8"}


class Watching(Noise):
    """Noise that keeps what it was shown."""

    def __init__(self, plane_set: str) -> None:
        self.plane_set = plane_set
        self.shown: list[bytes] = []

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, _ = batch.arrays
        self.shown += [plane.tobytes() + scalar.tobytes() for plane, scalar in zip(planes, scalars, strict=True)]
        return super().infer(batch)


def shown(plane_set: str, game: Game, **params: object) -> list[bytes]:
    evaluator = Watching(plane_set)
    search = TreeSearch(evaluator, SearchParams(**params), batch=1)  # type: ignore[arg-type]
    search.set_root(game)
    search.run(60)
    return evaluator.shown


def played(seed: int) -> Game:
    """A random game that ends neither with a pass nor with a ko."""
    rng, game = random.Random(seed), Game(5, "chinese", 6.5)
    while len(game.moves) < 30 or game.passes or game.ko is not None:
        points = game.legal_points()
        game.play(rng.choice(points) if points and rng.random() > 0.1 else None)
    return game


@pytest.mark.parametrize("plane_set", plane_set_names())
def test_the_network_sees_the_game_begin_at_the_root(plane_set: str) -> None:
    """As in the same position without history, up to the komi: a game without moves has no captures to pay."""
    for seed in range(3):
        game = played(seed)
        hidden, bare = shown(plane_set, game, hide_history=True), shown(plane_set, without_history(game))
        assert hidden == bare
        assert (hidden == shown(plane_set, game)) == (plane_set in WITHOUT_HISTORY)


def test_a_plane_set_in_python_sees_what_a_native_one_sees() -> None:
    def features(f: FeatureContext) -> tuple[list[np.ndarray], list[float]]:
        planes = [f.stones(f.own), f.stones(f.other), f.stones(f.own, back=1), f.stones(f.other, back=2)]
        return planes, [f.self_komi]

    names = ("own_stones", "opponent_stones", "own_before", "opponent_before")
    register_plane_set(PythonPlaneSet("history_in_python", names, ("self_komi",), features))
    game = played(0)
    hidden, bare = (shown("history_in_python", *asked) for asked in ((game,), (without_history(game),)))
    assert hidden != bare
    assert shown("history_in_python", game, hide_history=True) == bare
    game = Game(5, komi=7.0)  # at which a draw is possible
    assert shown("history_in_python", game, draw_value=1.0) != shown("history_in_python", game)


def test_the_game_keeps_what_its_moves_did() -> None:
    """A ko forbids its point, and the search knows the passes."""
    game = Game(5, "japanese", 6.5)
    for vertex in ["B1", "C1", "A2", "D2", "B3", "C3", "C2", "B2"]:
        game.play(vertex)
    assert game.ko is not None
    search = TreeSearch(Watching("katago-v7"), SearchParams(hide_history=True), batch=1)
    search.set_root(game)
    search.run(40)
    assert game.ko not in search.stats().point


def test_a_tree_serves_one_root() -> None:
    """Below another root the network would see other moves."""
    game = played(1)
    search = TreeSearch(Watching("katago-v7"), SearchParams(hide_history=True), batch=1)
    search.set_root(game)
    search.run(40)
    search.set_root(game)
    assert search.visits == 40
    search.set_root(game.play(int(search.stats().point[0])))
    assert search.visits == 0
