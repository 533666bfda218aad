"""What is special about the root: its priors and their noise."""

from itertools import pairwise

import numpy as np
import pytest
from known_answers import Scripted, View

from tengen.engine.search import SearchParams, TreeSearch
from tengen.game import Game


def policy_of(weights: dict[int, float]) -> np.ndarray:
    policy = np.zeros(26, np.float32)
    policy[list(weights)] = list(weights.values())
    return policy / policy.sum()


def first_tried(weights: dict[int, float], seeds: int, **params: object) -> np.ndarray:
    """How often each move comes first over many seeds: the order of the noise, when the noise is all of the prior."""
    settings = SearchParams(noise_weight=1.0, **params)  # type: ignore[arg-type]
    counts = np.zeros(26)
    for seed in range(seeds):
        search = TreeSearch(Scripted(policy=lambda view: policy_of(weights)), settings, 1, seed)
        search.set_root(Game(5))
        search.run(2)
        counts[search.stats().point[0]] += 1
    return counts / seeds


# Two moves at .01 or more, four near it, the rest next to nothing.
SHAPED = {0: 0.6, 1: 0.3, 2: 0.02, 3: 0.02, 4: 0.02, 5: 0.02, **dict.fromkeys(range(6, 26), 0.001)}


def alphas_by_hand(total: float, share: float) -> np.ndarray:
    """The published shape: the half (or another share) that follows the log priors, cut at .01, above their mean."""
    priors = np.array([SHAPED[move] for move in range(26)]) / sum(SHAPED.values())
    logs = np.log(np.minimum(priors, 0.01))
    above = np.maximum(logs - logs.mean(), 0)
    return total * ((1 - share) / 26 + share * above / above.sum())


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_noise_follows_its_alphas(share: float) -> None:
    """For tiny alphas nearly all goes to one move, with probability alpha / total: the first moves count them."""
    wanted = alphas_by_hand(1.0, share)
    found = first_tried(SHAPED, 3000, noise_total=0.02, noise_shaped=share)
    assert np.abs(found - wanted).max() < 4 * np.sqrt(wanted.max() * (1 - wanted.max()) / 3000) + 0.02
    assert found[wanted == 0].sum() == 0
    if share == 0.5:
        assert found[:6].sum() == pytest.approx(0.5 + 0.5 * 6 / 26, abs=0.04)


def test_noise_is_alike_where_the_priors_are() -> None:
    found = first_tried(dict.fromkeys(range(26), 1.0), 2000, noise_total=0.05, noise_shaped=0.5)
    assert found.max() < 0.07 and found.min() > 0.015


def test_noise_keeps_to_the_allowed_moves() -> None:
    for seed in range(20):
        search = TreeSearch(Scripted(), SearchParams(noise_weight=1.0, noise_shaped=1.0), 1, seed)
        search.set_root(Game(5), allow=[3, 4, 5])
        search.run(30)
        assert set(search.stats().point.tolist()) == {3, 4, 5}


def test_temperature_flattens_before_the_noise() -> None:
    """Priors 16 : 4 : 1 become 4 : 2 : 1 at temperature 2: the visits of a bandit without values follow them."""

    def policy(view: View) -> np.ndarray:
        return policy_of({0: 16.0, 1: 4.0, 2: 1.0}) if not view.own | view.other else policy_of({25: 1.0})

    def visits(temperature: float) -> list[int]:
        params = SearchParams(root_temperature=temperature, c_puct=100, score_weight=0)
        search = TreeSearch(Scripted(policy=policy), params, 1)
        search.set_root(Game(5), allow=[0, 1, 2])
        search.run(2101)
        return search.stats().visits.tolist()

    assert visits(1.0) == pytest.approx([1600, 400, 100], abs=3)
    assert visits(2.0) == pytest.approx([1200, 600, 300], abs=3)
    assert all(a > b for a, b in pairwise(visits(0.5)))
