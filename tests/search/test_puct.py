"""The search against answers known by hand and against a plain twin."""

import numpy as np
import pytest
from known_answers import Noise, Scripted, View
from plain_puct import PlainPuct

from tengen import _native
from tengen.coords import from_gtp
from tengen.engine.search import SearchParams, TreeSearch
from tengen.evaluators import UniformEvaluator
from tengen.game import Game

CENTRE = 12  # of a 5x5 board


def searched(game: Game, evaluator: object, visits: int, batch: int = 1, **params: object) -> TreeSearch:
    search = TreeSearch(evaluator, SearchParams(**params), batch=batch)  # type: ignore[arg-type]
    search.set_root(game)
    search.run(visits)
    return search


@pytest.mark.parametrize("batch", [1, 8])
def test_the_best_arm_gets_the_visits(batch: int) -> None:
    def value(view: View) -> float:
        return 0.6 if CENTRE in view.black else -0.2

    search = searched(Game(5), Scripted(value), 400, batch)
    stats = search.stats()
    assert stats.point[0] == CENTRE == search.choose()
    assert stats.visits[0] > 300
    assert stats.value[0] == pytest.approx(0.6, abs=0.2)
    assert stats.visits.sum() == search.visits - 1


def test_a_good_prior_is_tried_first_and_a_bad_value_ends_it() -> None:
    def policy(view: View) -> np.ndarray:
        weights = np.ones(26, np.float32)
        weights[7] = 40
        return weights / weights.sum()

    search = searched(Game(5), Scripted(lambda view: -0.9 if 7 in view.black else 0.1, policy=policy), 2)
    assert search.stats().point[0] == 7
    search.run(300)
    stats = search.stats()
    assert stats.visits[stats.point == 7] < 100
    assert stats.value[stats.point == 7] == pytest.approx(-0.9, abs=0.05)


def test_white_wants_the_opposite() -> None:
    game = Game(5)
    game.play("A1")
    game.play("A5")
    game.play("E1")

    def value(view: View) -> float:
        return -0.7 if CENTRE in view.white else 0.0

    search = searched(game, Scripted(value), 300)
    assert search.choose() == CENTRE
    assert search.value > 0.3  # for White, who is to move


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [5, 7])
def test_agrees_with_the_plain_twin(seed: int, size: int) -> None:
    game = Game(size, komi=0.5)
    rng = np.random.default_rng(seed)
    for _ in range(6):
        game.play(int(rng.choice(game.legal_points())))
    params = SearchParams(prune_eyes=False, score_weight=0.1)
    twin = PlainPuct(game, Noise(), params)
    twin.run(200)
    search = TreeSearch(Noise(), params, batch=1)
    search.set_root(game)
    search.run(200)
    stats = search.stats()
    mine = {int(p): int(n) for p, n in zip(stats.point, stats.visits, strict=True) if n}
    assert mine == twin.visits()
    for point, utility in zip(stats.point[:3], stats.utility[:3], strict=True):
        assert -twin.root.children[int(point)].mean == pytest.approx(float(utility), abs=1e-5)


STRAIGHT_THREE = """
    . X . X X X X
    X X X X X X X
    X X X X X X X
    X X X X X X X
    X X X X X X X
    O O O O X X X
    . . . O X X X
"""


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize(
    "diagram, to_play, komi, best",
    [
        (STRAIGHT_THREE, 0, 40.5, "B1"),  # the vital point kills,
        (STRAIGHT_THREE, 1, 40.5, "B1"),  # or lives with two eyes
    ],
)
def test_tactics_by_reading_alone(diagram: str, to_play: int, komi: float, best: str, batch: int) -> None:
    """The evaluator knows nothing; what finished games count must find the only move that wins."""
    game = Game.from_diagram(diagram, komi=komi, to_play=to_play)
    for symmetry in (0, 3, 5):
        turned = Game(game.size, komi=komi)
        stones = [
            [_native.transform(int(p), game.size, symmetry) for p in np.flatnonzero(game.board == c)] for c in (0, 1)
        ]
        turned.setup(stones[0], stones[1], to_play)
        search = searched(turned, UniformEvaluator(), 1500, batch)
        assert search.choose() == _native.transform(from_gtp(best, game.size), game.size, symmetry)
        assert search.stats().visits[0] > 1200


def test_finished_games_are_counted_without_the_evaluator() -> None:
    """Black leads on the board: after White's pass a pass wins, and search sees it without any knowledge."""
    game = Game.from_diagram(". X . O .\n. X . O .\n. X X O O\n. X . O .\n. X . O .", komi=0.5)
    game.play("pass", color=1)
    assert game.score() > 0 and game.to_play == 0
    search = searched(game, UniformEvaluator(), 100)
    stats = search.stats()
    passed = stats.point == 25
    assert stats.value[passed] == 1
    assert stats.score[passed] == pytest.approx(game.score())
    assert search.choose() == 25


def test_a_lost_pass_is_seen() -> None:
    game = Game.from_diagram(". X . O .\n. X . O .\n. X X O O\n. X . O .\n. X . O .", komi=7.5)
    game.play("pass", color=1)
    search = searched(game, UniformEvaluator(), 200)
    stats = search.stats()
    assert stats.value[stats.point == 25] == -1
    assert search.choose() != 25


@pytest.mark.parametrize("weight, wanted", [(0.3, True), (0.0, False)])
def test_score_breaks_the_tie_between_won_moves(weight: float, wanted: bool) -> None:
    """Every move wins; the centre wins by more, which only a search with weight on the score can tell."""
    evaluator = Scripted(lambda view: 1.0, lambda view: 30.0 if CENTRE in view.black else 1.0)
    search = searched(Game(5), evaluator, 300, score_weight=weight)
    assert (search.choose() == CENTRE) == wanted
    assert search.score > 1


def test_dead_stones_in_pass_alive_land_are_counted_dead() -> None:
    """White's stone stands in an eye space of a living Black group, and Black has all the rest."""
    game = Game.from_diagram(". X . X O\nX X X X .\n. . . X X\nX X X X .\n. X . X X", komi=20.5)
    game.play("pass", color=1)
    alive = game.pass_alive()
    assert (alive == 0).all()
    search = searched(game, UniformEvaluator(), 30)
    stats = search.stats()
    assert stats.score[stats.point == 25] == pytest.approx(25 - 20.5)


def test_the_game_may_be_searched_after_its_end() -> None:
    game = Game(5)
    game.play("pass")
    game.play("pass")
    assert game.is_over
    search = searched(game, UniformEvaluator(), 50)
    assert search.visits == 50 and search.stats().visits.sum() == 49
