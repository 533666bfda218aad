"""Gumbel search against the paper's algorithm written plainly, on trees and on bandits with fixed values."""

import math

import numpy as np
import pytest
from known_answers import Noise, Scripted, View, only
from plain_gumbel import PlainGumbel

from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.game import Game

EDGE = 7
QUIET = SearchParams(selection="gumbel", score_weight=0.0)


class Bandit:
    """Arms are the first points of a 7x7 board; whatever follows the first move keeps its value for Black."""

    def __init__(self, priors: list[float], values: list[float]) -> None:
        self.priors, self.values = np.array(priors) / sum(priors), np.array(values)
        self.arms = tuple(range(len(priors)))
        self.evaluator = Scripted(self._value, policy=self._policy)

    @classmethod
    def random(cls, arms: int, seed: int) -> "Bandit":
        rng = np.random.default_rng(seed)
        return cls(rng.dirichlet(np.ones(arms)).tolist(), rng.uniform(-0.9, 0.9, arms).tolist())

    def _value(self, view: View) -> float:
        return next((float(self.values[arm]) for arm in self.arms if arm in view.black), 0.0)

    def _policy(self, view: View) -> np.ndarray:
        weights = np.ones(EDGE**2 + 1, np.float32)
        weights[list(self.arms)] = 0 if view.own | view.other else self.priors
        weights[-1] = 0
        if not view.own | view.other:
            weights[len(self.arms) :] = 0
        return weights / weights.sum()

    def search(self, params: SearchParams, seed: int = 0, batch: int = 1) -> TreeSearch:
        search = TreeSearch(self.evaluator, params, batch, seed)
        search.set_root(Game(EDGE), only(self.arms))
        return search

    def order(self, params: SearchParams, simulations: int, seed: int = 0) -> tuple[list[int], int]:
        """The arms in the order of their visits, and the one that is played."""
        search = self.search(params, seed)
        search.step(1)
        search.plan(simulations)
        order: list[int] = []
        before = dict.fromkeys(self.arms, 0)
        for _ in range(simulations):
            search.step(1)
            now = visits_of(search)
            order += [arm for arm in self.arms if now[arm] > before[arm]]
            before = now
        chosen = search.choose()
        assert chosen is not None
        return order, chosen


def visits_of(search: TreeSearch) -> dict[int, int]:
    stats = search.stats()
    return dict(zip(stats.point.tolist(), stats.visits.tolist(), strict=True))


@pytest.mark.parametrize("moves", [2, 4, 16])
@pytest.mark.parametrize("simulations", [2, 4, 16, 32, 50, 200])
def test_the_halving_is_that_of_the_plain_twin(moves: int, simulations: int) -> None:
    """Every visit in its order, and the move that is played, on random bandits of 20 arms."""
    params = QUIET.model_copy(update={"gumbel_moves": moves})
    for seed in range(4):
        bandit = Bandit.random(20, seed)
        twin = PlainGumbel(Game(EDGE), bandit.evaluator, params, seed, bandit.arms)
        chosen = twin.search(simulations)
        assert bandit.order(params, simulations, seed) == (twin.order, chosen)
        assert chosen in twin.survivors


@pytest.mark.parametrize(
    "moves, simulations, visits",
    [
        (2, 2, [1, 1]),
        (2, 50, [25, 25]),
        (4, 4, [1, 1, 1, 1]),
        (4, 16, [6, 6, 2, 2]),  # 16 / (2 * 4) = 2 each, then 16 / (2 * 2) = 4
        (4, 50, [19, 19, 6, 6]),  # 6, then 12, then the last two for the two that are left
        (16, 4, [1, 1, 1, 1]),
        (16, 16, [1] * 16),
        (16, 32, [4] * 4 + [2] * 4 + [1] * 8),  # 1, 1, 2, and nothing is left for a round of two
        (16, 50, [12, 12] + [5] * 2 + [2] * 4 + [1] * 8),  # 1, 1, 3, 6, and one lap more for two
        (16, 200, [49, 49, 21, 21, 9, 9, 9, 9] + [3] * 8),  # 3, 6, 12, 25, and three laps for two
        (5, 40, [17, 17, 2, 2, 2]),  # ceil(log2 5) = 3: 40 / 15 = 2 for five, then two share 30
    ],
)
def test_visits_by_hand(moves: int, simulations: int, visits: list[int]) -> None:
    params = QUIET.model_copy(update={"gumbel_moves": moves})
    order, chosen = Bandit.random(18, 7).order(params, simulations)
    counts = np.bincount(order, minlength=18)
    assert sorted(counts.tolist(), reverse=True)[: len(visits)] == visits and counts.sum() == sum(visits)
    assert counts[chosen] == counts.max()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size, simulations", [(5, 60), (7, 100)])
def test_the_whole_tree_is_that_of_the_plain_twin(size: int, simulations: int, seed: int) -> None:
    """Below the root too: the deterministic rule and completed values, on noise that knows no symmetry."""
    game, rng = Game(size, komi=0.5), np.random.default_rng(seed)
    for _ in range(4):
        game.play(int(rng.choice(game.legal_points())))
    params = SearchParams(selection="gumbel", gumbel_c_scale=0.3, prune_eyes=False)
    twin = PlainGumbel(game, Noise(), params, seed)
    chosen = twin.search(simulations)
    search = TreeSearch(Noise(), params, 1, seed)
    search.set_root(game)
    search.step(1)
    search.run(1 + simulations)
    assert {move: n for move, n in visits_of(search).items() if n} == twin.visits()
    assert search.choose() == chosen
    below = [int(line.split()[1]) for line in search.text(2).splitlines()[1:] if line.startswith("    ")]
    grandchildren = [c.visits for child in twin.root.children.values() for c in child.children.values()]
    assert sorted(below) == sorted(grandchildren)
    improved = twin.improved(twin.root)
    target = search.policy_target()
    assert target.sum() == pytest.approx(1, abs=1e-5)
    for move in range(size * size + 1):
        assert target[move] == pytest.approx(improved.get(move, 0.0), abs=1e-4)


def test_the_move_played_improves_on_the_policy() -> None:
    """The expectation over the draws of the value of the chosen move is at least that of the prior (the theorem)."""
    params = QUIET.model_copy(update={"gumbel_moves": 4})
    gains = []
    for number in range(40):
        bandit = Bandit.random(8, 100 + number)
        played = [bandit.order(params, 6, seed)[1] for seed in range(25)]
        gains.append(bandit.values[played].mean() - bandit.priors @ bandit.values)
    mean, error = np.mean(gains), np.std(gains) / math.sqrt(len(gains))
    assert mean > 0.2 and mean > 4 * error


def test_without_simulations_that_matter_the_draw_is_a_sample_of_the_policy() -> None:
    """The best g + logit is a sample: with two simulations of equal worth the choice has the prior's frequencies."""
    bandit = Bandit([0.6, 0.3, 0.1], [0.0, 0.0, 0.0])
    played = np.array([bandit.order(QUIET.model_copy(update={"gumbel_moves": 2}), 2, seed)[1] for seed in range(2000)])
    assert np.abs(np.bincount(played, minlength=3) / 2000 - bandit.priors).max() < 0.035
    still = QUIET.model_copy(update={"gumbel_scale": 0.0})
    assert {bandit.order(still, 3, seed)[1] for seed in range(10)} == {0}


def test_the_improved_policy_is_an_improvement() -> None:
    for number in range(30):
        bandit = Bandit.random(10, number)
        search = bandit.search(QUIET, number)
        search.step(1)
        search.run(1 + 16)
        target = search.policy_target()[:10]
        assert target.sum() == pytest.approx(1, abs=1e-5)
        assert target @ bandit.values > bandit.priors @ bandit.values - 1e-6


@pytest.mark.parametrize("batch", [2, 4, 8])
def test_batches_keep_the_schedule(batch: int) -> None:
    """Simulations under way count as visits, so a batch goes where single ones would, but for what it cannot know."""
    params = QUIET.model_copy(update={"gumbel_moves": 16})
    for seed in range(5):
        bandit = Bandit.random(20, seed)
        search = bandit.search(params, seed, batch)
        search.step(1)
        search.run(1 + 200)
        counts = sorted(visits_of(search).values(), reverse=True)
        assert counts[:16] == [49, 49, 21, 21, 9, 9, 9, 9] + [3] * 8 and sum(counts) == 200
        played = search.choose()
        assert played is not None and visits_of(search)[played] == 49


def test_a_kept_tree_is_halved_from_its_new_plan_on() -> None:
    game = Game(EDGE)
    params = SearchParams(selection="gumbel", gumbel_moves=4)
    search = TreeSearch(Noise(), params, 1, 3)
    search.set_root(game)
    search.run(200)
    game.play(search.choose())
    search.set_root(game)
    before = visits_of(search)
    assert search.visits > 50
    search.run(search.visits + 16)
    after = visits_of(search)
    gained = {move: after[move] - before.get(move, 0) for move in after}
    assert sorted(gained.values(), reverse=True)[:5] == [6, 6, 2, 2, 0]
    played = search.choose()
    assert played is not None and gained[played] == 6


def test_more_simulations_than_planned_go_to_the_last_two() -> None:
    bandit = Bandit.random(12, 5)
    search = bandit.search(QUIET.model_copy(update={"gumbel_moves": 4, "planned_visits": 17}))
    for _ in range(37):
        search.step(1)
    assert sorted(visits_of(search).values(), reverse=True)[:5] == [16, 16, 2, 2, 0]


def test_one_move_and_no_move_to_choose_from() -> None:
    bandit = Bandit([1.0], [0.3])
    assert bandit.order(QUIET, 5) == ([0] * 5, 0)
    search = bandit.search(QUIET)
    assert search.choose() is None
    with pytest.raises(RuntimeError, match="visit"):
        search.policy_target()
    search.step(1)
    assert search.choose() is None


def test_a_full_tree_is_searched_on() -> None:
    search = TreeSearch(Noise(), SearchParams(selection="gumbel", memory=1 << 20), 8)
    search.set_root(Game(9))
    search.run(6000)
    assert search.is_full and search.visits == 6000 and search.choose() is not None


def test_the_same_again() -> None:
    def text(seed: int, batch: int) -> str:
        search = TreeSearch(Noise(), SearchParams(selection="gumbel"), batch, seed)
        search.set_root(Game(EDGE))
        search.run(100)
        return search.text(9) + str(search.choose())

    assert text(1, 8) == text(1, 8) != text(2, 8)
