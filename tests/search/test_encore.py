"""Searches under territory scoring with a network that knows the encore."""

from __future__ import annotations

import numpy as np
import pytest
from known_answers import Noise

from tengen import _native
from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.game import Game

PASS = 36
FIRST, SECOND = (_native.plane_set("katago-v7")[1].index(name) for name in ("encore", "second_encore"))

# White's stone in Black's territory is alive unless it is captured: then Black's 12 points and 1 prisoner, else none.
DEAD_STONE = """
    . . X O . .
    . O X O . .
    . . X O . .
    . . X O . .
    . . X O O O
    . . X O . .
"""


class Passing(UniformEvaluator):
    """Passes with 90%, and keeps the scalars that it is asked about."""

    def __init__(self, plane_set: str = "katago-v7", likely: float = 0.9) -> None:
        super().__init__(plane_set)
        self.likely = likely
        self.seen: list[np.ndarray] = []

    def infer(self, batch: InputBatch) -> Evaluation:
        self.seen.extend(batch.arrays[1].copy())
        result = super().infer(batch)
        result.policy[:] = (1 - self.likely) / (result.policy.shape[1] - 1)
        result.policy[:, -1] = self.likely
        return result


def searched(
    game: Game, evaluator: UniformEvaluator, visits: int = 60, encore: bool = True, **params: object
) -> TreeSearch:
    search = TreeSearch(evaluator, SearchParams(encore=encore, **params), batch=1)  # type: ignore[arg-type]
    search.set_root(game)
    search.run(visits)
    return search


@pytest.mark.parametrize(
    ("rules", "plane_set", "encore", "played"),
    [
        ("japanese", "katago-v7", True, True),
        ("japanese", "katago-v3", True, True),
        ("japanese", "katago-v7", False, False),
        ("japanese", "tengen", True, False),
        ("chinese", "katago-v7", True, False),
    ],
)
def test_who_plays_the_encore(rules: str, plane_set: str, encore: bool, played: bool) -> None:
    evaluator = Passing(plane_set)
    searched(Game.from_diagram(DEAD_STONE, rules), evaluator, encore=encore)
    scalars = _native.plane_set(plane_set)[1]
    phases = np.array(evaluator.seen)[:, [scalars.index(name) for name in scalars if name.endswith("encore")]]
    assert phases.any(axis=0).tolist() == [played] * phases.shape[1]
    assert evaluator.seen[0][scalars.index("self_komi")] != 0 and not phases[0].any()


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_the_end_of_the_encore_is_counted(selection: str) -> None:
    """All pass six times, which leaves the dead stone alive: the count is that of the same game."""
    game = Game.from_diagram(DEAD_STONE, "japanese", komi=0.5)
    end = game.copy().play_encore()
    for _ in range(6):
        end.play("pass")
    assert end.is_over
    stats = searched(game, Passing(likely=0.9999), 400, selection=selection).stats()
    assert stats.point[0] == PASS
    assert (stats.value[0], stats.score[0]) == pytest.approx((np.sign(end.score()), end.score()), abs=0.2)
    judged = searched(game, Passing(likely=0.9999), 100, selection=selection, encore=False).stats()
    assert (judged.value[0], judged.score[0]) == pytest.approx((0, 0), abs=0.05), "by the network"


@pytest.mark.parametrize(("passed", "line"), [(False, (PASS, PASS)), (True, (PASS,))])
def test_a_principal_variation_ends_with_the_passes(passed: bool, line: tuple[int, ...]) -> None:
    game = Game.from_diagram(DEAD_STONE, "japanese")
    if passed:
        game.play("pass")
    assert searched(game, Passing(likely=0.9999)).pv(PASS) == line


def test_a_tree_of_the_encore_is_no_tree_of_the_game() -> None:
    """The game that is over has no encore, and may go on."""
    game = Game.from_diagram(DEAD_STONE, "japanese")
    evaluator = Passing()
    search = searched(game, evaluator)
    search.set_root(game.play("pass"))
    assert search.visits > 10, "one pass keeps the tree"
    search.set_root(game.play("pass"))
    assert search.visits == 0
    evaluator.seen.clear()
    evaluator.likely = 0.1
    search.run(300)
    assert not evaluator.seen[0][FIRST] and any(row[SECOND] for row in evaluator.seen)
    stats = search.stats()
    search.set_root(game.play(int(stats.point[(stats.point != PASS) & (stats.visits > 0)][0])))
    assert search.visits > 0, "a move after the end of the game leads to no encore"


def test_a_limit_of_moves_that_comes_with_the_last_pass() -> None:
    """The passes end the game, and the encore decides it as without a limit."""
    free = Game.from_diagram(DEAD_STONE, "japanese").play("pass")
    found = []
    for left in (1, 2, None):
        game = free.copy()
        if left is not None:
            game.limit_moves(1 + left, no_result=True)
        stats = searched(game, Passing(likely=0.9999), 400).stats()
        found.append((float(stats.value[0]), float(stats.score[0])))
        assert stats.point[0] == PASS
    assert found[0] == found[1] == found[2] and abs(found[0][0]) > 0.9


@pytest.mark.parametrize("encore", [True, False])
def test_a_root_in_the_encore(encore: bool) -> None:
    """Its tree is kept, its lines go on to the end of the phase, and the end of the game is counted."""
    game = Game.from_diagram(DEAD_STONE, "japanese", komi=0.5)
    plain = game.copy().play("pass").play("pass")
    played = game.play_encore().play("pass").play("pass")
    search = searched(plain, Passing(likely=0.9999), encore=encore)
    search.set_root(played)
    assert search.visits == 0, "a tree of the game without an encore"
    search.run(400)
    search.set_root(played)
    assert search.visits == 400 and search.pv(PASS)[:2] == (PASS, PASS)
    stats = search.stats()
    assert (stats.value[0], stats.score[0]) == pytest.approx((-1, -10.5), abs=0.2)
    for number in range(3):
        played.play("pass")
        search.set_root(played)
        search.run(400)
        stats = search.stats()
        sign = 1 if number % 2 else -1
        assert (stats.value[0], stats.score[0]) == pytest.approx((-sign, -sign * 10.5), abs=0.3)


@pytest.mark.parametrize("ko", ["simple", "positional"])
def test_superko_forbids_no_pass_for_ko(ko: str) -> None:
    """It leaves the stones as they are, and the tree of a graph returns to it."""
    game = Game.from_diagram(". X O .\nX . X O\n. X O .\n. . . .", f"ko={ko},scoring=territory", 0.5, to_play=1)
    game.play_encore().play("pass").play("pass").play("B3")
    ko_point = game.point("C3")
    assert game.captures == (0, 1) and game.is_legal(ko_point)

    class ForKo(UniformEvaluator):
        def infer(self, batch: InputBatch) -> Evaluation:
            result = super().infer(batch)
            result.policy[:] = 0.3 / 16
            result.policy[:, ko_point] = 0.7
            return result

    stats = searched(game, ForKo("katago-v7"), 300, transpositions=True).stats()
    assert stats.point[0] == ko_point and stats.visits[0] > 150


class NoisyKatago(Noise):
    plane_set = "katago-v7"


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize("transpositions", [False, True])
def test_kos_and_transpositions(ko: str, transpositions: bool) -> None:
    """Kos on a small board, with blocked stones and passes for ko: all visits count."""
    diagram = """
        . X O .
        X . X O
        . X O .
        . . . .
    """
    game = Game.from_diagram(diagram, f"ko={ko},scoring=territory", komi=0.5).play("pass")
    params = SearchParams.preset("katago").model_copy(update={"transpositions": transpositions})
    search = TreeSearch(NoisyKatago(), params, batch=4)
    search.set_root(game)
    search.run(3000)
    assert search.visits >= 3000
