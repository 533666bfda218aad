"""What is special about the root: its priors and their noise."""

from itertools import pairwise

import numpy as np
import pytest
from known_answers import Noise, Scripted, View
from plain_puct import PlainPuct

from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
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


# --- Forced playouts and what they leave in the target


def opened(size: int, seed: int) -> Game:
    game, rng = Game(size, komi=0.5), np.random.default_rng(seed)
    for _ in range(5):
        game.play(int(rng.choice(game.legal_points())))
    return game


def both(params: SearchParams, size: int, seed: int, visits: int, batch: int = 1) -> tuple[TreeSearch, PlainPuct]:
    game = opened(size, seed)
    twin = PlainPuct(game, Noise(), params, batch)
    twin.run(visits)
    search = TreeSearch(Noise(), params, batch)
    search.set_root(game)
    search.run(visits)
    return search, twin


def visits_of(search: TreeSearch) -> dict[int, int]:
    stats = search.stats()
    return {int(p): int(n) for p, n in zip(stats.point, stats.visits, strict=True) if n}


SELECTIONS = ["puct", "puct-alphago", "puct-leela-zero", "puct-darkforest"]


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_forced_playouts_agree_with_the_plain_twin(selection: str, batch: int) -> None:
    params = SearchParams(selection=selection, forced_playouts=2.0, prune_eyes=False)  # type: ignore[arg-type]
    search, twin = both(params, 5, 3, 300, batch)
    visits = visits_of(search)
    assert visits == twin.visits()
    owed = {move: np.sqrt(2.0 * twin.root.priors[move] * 299) for move in visits}
    assert all(visits[move] > owed[move] - 3 for move in visits)
    target, plain = search.policy_target(), twin.target()
    assert target.shape == (26,) and target.sum() == pytest.approx(1, abs=1e-5)
    for move in range(26):
        assert target[move] == pytest.approx(plain.get(move, 0.0), abs=1e-5)
    unforced, _ = both(params.model_copy(update={"forced_playouts": 0.0}), 5, 3, 300, batch)
    assert len(visits_of(unforced)) <= len(visits) and unforced.stats().visits[0] > search.stats().visits[0]


def test_the_target_forgets_what_was_forced() -> None:
    """A move of prior 1/4 that loses: 400 visits force sqrt(2 x 400 / 4) on it, of which the target keeps next to
    nothing; the visits of a move that wins stay, forced or not."""

    def policy(view: View) -> np.ndarray:
        return policy_of({0: 3.0, 1: 1.0} if not view.own | view.other else dict.fromkeys(range(6, 25), 1.0))

    def search(loser: int) -> TreeSearch:
        params = SearchParams(forced_playouts=2.0, c_puct=0.5, c_puct_factor=0.0, score_weight=0.0)
        found = TreeSearch(Scripted(lambda view: -0.9 if loser in view.black else 0.5, policy=policy), params, 1)
        found.set_root(Game(5), allow=[0, 1])
        found.run(401)
        return found

    poor = search(1)
    assert visits_of(poor)[1] in (14, 15)  # sqrt(200) = 14.1
    assert poor.policy_target()[1] < 0.005
    good = search(0)
    assert good.policy_target()[1] > 0.97 and visits_of(good)[1] > 370


def test_the_target_without_forcing_is_the_visits() -> None:
    search, _ = both(SearchParams(prune_eyes=False), 5, 1, 100)
    target = search.policy_target()
    for move, n in visits_of(search).items():
        assert target[move] == pytest.approx(n / 99)
    assert target.sum() == pytest.approx(1)
    assert target[search.stats().point[-1]] == 0


@pytest.mark.parametrize("selection", ["uct", "rave"])
def test_other_rules_have_a_target_too(selection: str) -> None:
    params = SearchParams(selection=selection, priors="uniform", playout_weight=1.0, playouts=1, forced_playouts=2.0)  # type: ignore[arg-type]
    search = TreeSearch(Noise(), params)
    search.set_root(Game(5))
    search.run(60)
    stats = search.stats()
    assert np.allclose(search.policy_target()[stats.point], stats.visits / stats.visits.sum())


# --- Futile visits


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("lcb", [True, False])
def test_stopping_futile_visits_agrees_with_the_plain_twin(lcb: bool, batch: int) -> None:
    params = SearchParams(stop_futile=True, lcb=lcb, prune_eyes=False)
    for seed in range(3):
        search, twin = both(params, 5, seed, 200, batch)
        assert visits_of(search) == twin.visits()


def test_what_cannot_be_chosen_gets_no_visit_and_the_choice_stays() -> None:
    spared = 0
    for seed in range(6):
        plain, _ = both(SearchParams(prune_eyes=False, lcb=False), 7, seed, 400)
        params = SearchParams(prune_eyes=False, lcb=False, stop_futile=True)
        saving, _ = both(params, 7, seed, 400)
        assert saving.choose() == plain.choose()
        assert saving.visits == 400
        spared += int(saving.stats().visits[0]) - int(plain.stats().visits[0])
    assert spared > 60


def test_a_plan_is_counted_from_when_it_was_made() -> None:
    """Arm 1 lags by more than thirty visits: with thirty planned it is left alone, with many it is tried."""

    def policy(view: View) -> np.ndarray:
        return policy_of({0: 0.9, 1: 0.1} if not view.own | view.other else dict.fromkeys(range(6, 25), 1.0))

    def gained(planned: int) -> int:
        params = SearchParams(stop_futile=True, lcb=False, score_weight=0.0)
        search = TreeSearch(Scripted(policy=policy), params, 1)
        search.set_root(Game(5), allow=[0, 1])
        search.plan(1000)
        while visits_of(search).get(0, 0) < 36:
            search.step(1)
        before = visits_of(search).get(1, 0)
        search.plan(planned)
        for _ in range(30):
            search.step(1)
        return visits_of(search).get(1, 0) - before

    assert gained(30) == 0 < gained(500)
