"""What is special about the root: its priors and their noise."""

from itertools import pairwise

import numpy as np
import pytest
from known_answers import Noise, Scripted, View, only
from plain_puct import PlainPuct

from tengen import _native
from tengen.coords import from_gtp, to_gtp
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.presets import PRESETS
from tengen.engine.search import MoveRestriction, TreeSearch
from tengen.evaluators import UniformEvaluator
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
        search.set_root(Game(5), only([3, 4, 5]))
        search.run(30)
        assert set(search.stats().point.tolist()) == {3, 4, 5}


def test_temperature_flattens_before_the_noise() -> None:
    """Priors 16 : 4 : 1 become 4 : 2 : 1 at temperature 2: the visits of a bandit without values follow them."""

    def policy(view: View) -> np.ndarray:
        return policy_of({0: 16.0, 1: 4.0, 2: 1.0}) if not view.own | view.other else policy_of({25: 1.0})

    def visits(temperature: float) -> list[int]:
        params = SearchParams(root_temperature=temperature, c_puct=100, score_weight=0)
        search = TreeSearch(Scripted(policy=policy), params, 1)
        search.set_root(Game(5), only([0, 1, 2]))
        search.run(2101)
        return search.stats().visits.tolist()

    assert visits(1.0) == pytest.approx([1600, 400, 100], abs=3)
    assert visits(2.0) == pytest.approx([1200, 600, 300], abs=3)
    assert all(a > b for a, b in pairwise(visits(0.5)))


def test_policy_temperature_flattens_the_priors_of_every_node() -> None:
    """16 : 4 : 1 becomes 4 : 2 : 1 at the root, and below it too, where the tree is kept."""
    search = TreeSearch(
        Scripted(policy=lambda view: policy_of({0: 16.0, 1: 4.0, 2: 1.0})), SearchParams(policy_temperature=2.0), 1
    )
    search.set_root(Game(5))
    search.run(50)
    found = dict(zip(search.stats().point.tolist(), search.stats().prior.tolist(), strict=True))
    assert [found[move] for move in range(3)] == pytest.approx([4 / 7, 2 / 7, 1 / 7], abs=2e-3)
    search.set_root(Game(5).play(0))
    assert search.visits > 0, "the tree was not kept"
    found = dict(zip(search.stats().point.tolist(), search.stats().prior.tolist(), strict=True))
    assert found[1] / found[2] == pytest.approx(2, rel=5e-3)


@pytest.mark.parametrize("setting", ["policy_temperature", "root_temperature"])
def test_a_temperature_near_zero_leaves_the_best_prior(setting: str) -> None:
    """A prior of 1 / 24 to the power 1 / 0.02 is 0 in float32."""
    search = TreeSearch(
        Scripted(policy=lambda view: policy_of({**dict.fromkeys(range(26), 0.9), 7: 1.0})),
        SearchParams(**{setting: 0.02}),  # type: ignore[arg-type]
        1,
    )
    search.set_root(Game(5))
    search.run(41)
    assert visits_of(search)[7] > 35


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
        found.set_root(Game(5), only([0, 1]))
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


@pytest.mark.slow
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


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_visits_that_the_rule_of_diversity_compares_are_not_futile(selection: str) -> None:
    """The second of two moves of nearly one prior has more than half of the visits of the first."""
    policy = np.zeros(26, np.float32)
    policy[[6, 18]] = 0.55, 0.45

    def chosen(**params: float) -> set[int]:
        found = set()
        for seed in range(12):
            settings = SearchParams(selection=selection, lcb=False, score_weight=0.0, stop_futile=True, **params)  # type: ignore[arg-type]
            search = TreeSearch(Scripted(policy=lambda view: policy), settings, 1, seed)
            search.set_root(Game(5), only([6, 18]))
            search.run(100)
            found.add(search.choose())
        return found

    assert chosen(diversity=1.0) == {18} and chosen() == {6}


def test_nothing_is_futile_while_nobody_knows_how_many_visits_are_to_come() -> None:
    """As under a clock or while pondering: the visits that a search plans unasked are a guess."""

    def step_by_step(stop_futile: bool) -> dict[int, int]:
        search = TreeSearch(Noise(), SearchParams(prune_eyes=False, lcb=False, stop_futile=stop_futile), 1)
        search.set_root(Game(5))
        while search.visits < 1200:
            search.step(1)
        return visits_of(search)

    assert step_by_step(True) == step_by_step(False)


def test_a_plan_is_counted_from_when_it_was_made() -> None:
    """Arm 1 lags by more than thirty visits: with thirty planned it is left alone, with many it is tried."""

    def policy(view: View) -> np.ndarray:
        return policy_of({0: 0.9, 1: 0.1} if not view.own | view.other else dict.fromkeys(range(6, 25), 1.0))

    def gained(planned: int) -> int:
        params = SearchParams(stop_futile=True, lcb=False, score_weight=0.0)
        search = TreeSearch(Scripted(policy=policy), params, 1)
        search.set_root(Game(5), only([0, 1]))
        search.plan(1000)
        while visits_of(search).get(0, 0) < 36:
            search.step(1)
        before = visits_of(search).get(1, 0)
        search.plan(planned)
        for _ in range(30):
            search.step(1)
        return visits_of(search).get(1, 0) - before

    assert gained(30) == 0 < gained(500)


# --- Symmetric moves


def merged(game: Game, visits: int = 200, evaluator: object = None, **params: object) -> TreeSearch:
    settings = SearchParams(merge_symmetric=True, **params)  # type: ignore[arg-type]
    search = TreeSearch(evaluator or Scripted(), settings, 1)  # type: ignore[arg-type]
    search.set_root(game)
    search.run(visits)
    return search


@pytest.mark.parametrize("moves, classes", [("", 7), ("C3", 6), ("D4", 14 + 1), ("C4", 14 + 1), ("B5", 24 + 1)])
def test_one_move_of_each_class(moves: str, classes: int) -> None:
    """Of 25 points 6 differ on the empty board, 5 beside a stone in the centre; a stone on a diagonal or on the middle
    column leaves one reflection: 5 points on its axis, one of them taken, and 10 pairs. Pass comes on top."""
    game = Game(5)
    for vertex in moves.split():
        game.play(vertex)
    points = merged(game).stats().point.tolist()
    assert len(points) == classes and 25 in points


def test_a_class_has_the_prior_of_all_its_moves() -> None:
    """Equal priors and no values: the visits are as the classes' sizes, 1, 4 or 8 of 26."""

    def policy(view: View) -> np.ndarray:
        return np.full(26, 1 / 26, np.float32) if not view.own | view.other else policy_of({25: 1.0})

    search = merged(Game(5), 2601, Scripted(policy=policy), c_puct=1000, score_weight=0)
    assert sorted(search.stats().visits.tolist()) == pytest.approx([100, 100, 400, 400, 400, 400, 800], abs=8)
    target = search.policy_target()
    assert target.sum() == pytest.approx(1, abs=1e-5)
    assert target == pytest.approx(np.full(26, 1 / 26), abs=4e-3)


@pytest.mark.parametrize("params", [{"root_symmetries": 2}, {"root_policy_optimism": 0.5}])
def test_a_root_that_is_evaluated_again_stays_merged(params: dict[str, object]) -> None:
    search = merged(Game(5), 60, Noise(), **params)
    search.set_root(Game(5))
    search.run(200)
    assert len(search.stats().point) == 7
    target = search.policy_target()
    assert (target > 0).sum() > 7 and target.sum() == pytest.approx(1, abs=1e-5)
    for s in range(8):
        assert target[[_native.transform(p, 5, s) for p in range(25)]] == pytest.approx(target[:25])


DOUBLE_KO = """
    . . . . . . .
    . . . . . . .
    . X O . O X .
    X . X O X . X
    . X O . O X .
    . . . . . . .
    . . . . . . .
"""


def test_a_ban_by_ko_breaks_the_symmetry_of_the_stones() -> None:
    """White takes both kos of a position that is its own mirror image: Black may retake one of them only."""
    game = Game.from_diagram(DOUBLE_KO, "chinese", to_play=1)
    for vertex in ("F4", "D1", "B4"):
        game.play(vertex)
    legal = set(game.legal_points())
    assert (np.fliplr(game.board) == game.board).all() and from_gtp("C4", 7) not in legal and from_gtp("E4", 7) in legal
    assert len(merged(game).stats().point) == len(legal | {49})
    for vertex in ("D7", "D6"):  # on the axis: the ban is over
        game.play(vertex)
    legal = set(game.legal_points())
    middle = sum(p % 7 == 3 for p in legal)
    assert len(merged(game).stats().point) == middle + (len(legal) - middle) // 2 + 1


def test_what_is_allowed_must_be_symmetric_too() -> None:
    search = TreeSearch(Scripted(), SearchParams(merge_symmetric=True))
    for allow, left in (((0, 4), 1), ((0, 1), 2), ((0, 4, 20, 24, 12), 2), ((5, 12), 2)):
        search.set_root(Game(5), only(allow))
        search.run(30)
        assert len(search.stats().point) == left


@pytest.mark.parametrize(
    ("points", "until_depth", "classes"), [((23,), 4, 26), ((23,), 1, 7), ((4, 20), 4, 10), ((1, 3, 9), 4, 26)]
)
def test_what_is_forbidden_below_the_root_must_be_symmetric_too(
    points: tuple[int, ...], until_depth: int, classes: int
) -> None:
    """Classes by Burnside: (25 + 5 + 5 + 1) / 4 and a pass where two opposite corners are forbidden to White."""
    search = TreeSearch(Scripted(), SearchParams(merge_symmetric=True), 1)
    search.set_root(Game(5), restrictions=[MoveRestriction(1, [p], until_depth) for p in points])
    search.run(60)
    assert len(search.stats().point) == classes


def test_a_move_that_only_a_restriction_makes_good_is_found() -> None:
    """Black's corner is good as White may not answer there: no other corner may stand for it."""
    corner = Scripted(lambda view: 0.9 if 24 in view.black and 23 not in view.white else 0.0)
    search = TreeSearch(corner, SearchParams(merge_symmetric=True), 1)
    search.set_root(Game(5), restrictions=[MoveRestriction(1, [23], 4)])
    search.run(300)
    assert search.choose() == 24


def test_a_kept_tree_is_represented_by_its_most_visited_moves() -> None:
    game = Game(5)
    game.play("C3")

    def kept(merge: bool) -> dict[int, int]:
        search = TreeSearch(Noise(), SearchParams(prune_eyes=False, merge_symmetric=merge), 1)
        search.set_root(Game(5), only([12]))
        search.run(300)
        search.set_root(game)
        return visits_of(search)

    all_moves, standing = kept(False), kept(True)
    assert len(standing) == 6 < len(all_moves)
    for point, n in standing.items():
        assert n == max(all_moves.get(_native.transform(point, 5, s), 0) for s in range(8))


# --- Settled points

SETTLED = """
    . X . X . . .
    X X X X . . .
    . . . . . . .
    . . . . . . .
    . . . . O O .
    . . . O O . O
    . . . O . O O
"""


def lines_of(text: str) -> set[str]:
    return {line.split()[0] for line in text.splitlines()[1:]}


def test_no_move_at_a_settled_point_anywhere_in_the_tree() -> None:
    game = Game.from_diagram(SETTLED)
    alive = {int(p) for p in np.flatnonzero(game.pass_alive() != 2)}
    inside = {p for p in alive if game.board.flat[p] == 2}
    assert {0, 2} <= inside
    search = TreeSearch(Noise(), SearchParams(prune_pass_alive=True, prune_eyes=False), 8)
    search.set_root(game)
    search.run(600)
    assert not inside & set(search.stats().point.tolist())
    vertices = {to_gtp(p, 7) for p in inside}
    assert not vertices & lines_of(search.text(30))
    plain = TreeSearch(Noise(), SearchParams(prune_eyes=False), 8)
    plain.set_root(game)
    plain.run(600)
    assert vertices & lines_of(plain.text(30))


@pytest.mark.parametrize(("passes", "useless"), [(3, False), (4, True), (5, True)])
def test_after_four_passes_of_the_opponent_no_root_move_is_useless(passes: int, useless: bool) -> None:
    """Black has two living corners; White has passed so often, and Black may still fill his own eyes."""
    game = Game.from_diagram(SETTLED)
    color = game.to_play
    inside = {p for p in np.flatnonzero(game.pass_alive() != 2).tolist() if game.board.flat[p] == 2}
    free = [p for p in game.legal_points() if p not in inside]
    for move in free[:passes]:
        game.play(move).play("pass")
    assert game.to_play == color
    search = TreeSearch(Noise(), SearchParams(prune_useless=True, prune_eyes=False), 1)
    search.set_root(game)
    search.run(40)
    settled = {p for p in np.flatnonzero(game.pass_alive() != 2).tolist() if game.board.flat[p] == 2}
    assert settled and bool(settled & set(search.stats().point.tolist())) is not useless
    assert game.size**2 in search.stats().point
    search.set_root(game.play("pass"))  # the other side has not passed four times against passes
    search.run(40)
    assert settled & {p for p in game.legal_points()} <= set(search.stats().point.tolist())


def test_a_settled_point_is_played_where_nothing_else_is_allowed() -> None:
    game = Game.from_diagram(SETTLED)
    search = TreeSearch(Noise(), SearchParams(prune_pass_alive=True), 1)
    search.set_root(game, only([0]))
    search.run(5)
    assert search.choose() == 0
    search.set_root(game)
    assert 0 not in search.stats().point


@pytest.mark.parametrize("selection", ["puct", "uct", "rave"])
def test_a_position_given_again_changes_nothing(selection: str) -> None:
    """What a move heard as one of all moves stays with it when the root is put in order again."""
    game = Game(9).play("C3").play("G7")
    params = playout_params().model_copy(update={"selection": selection})
    found = []
    for again in (False, True):
        search = TreeSearch(UniformEvaluator(), params, seed=3)
        search.set_root(game)
        search.run(20)
        if again:
            search.set_root(game)
        search.run(500)
        stats = search.stats()
        found.append(dict(zip(stats.point.tolist(), stats.visits.tolist(), strict=True)))
    assert found[0] == found[1]


def test_the_bound_of_leela_zero_is_the_quantile_of_students_t() -> None:
    """Against SciPy's; the variance is that of the bound by standard errors, which has a prior."""
    from scipy.stats import t as students_t

    found = []
    for bound in ({"lcb_probability": 1e-5}, {"lcb_probability": 0, "lcb_deviations": 1}):
        search = TreeSearch(Noise(), SearchParams.model_validate({**PRESETS["leela-zero"], **bound}), 1, 3)
        search.set_root(Game(5))
        search.run(1000)
        found.append(search.stats())
    by_quantile, by_errors = found
    np.testing.assert_array_equal(by_quantile.visits, by_errors.visits)
    known = by_quantile.visits >= 2
    assert (by_quantile.utility_lcb[~known] == -1).all()
    n, utility = by_quantile.visits[known].astype(float), by_quantile.utility[known].astype(float)
    squares = np.maximum((utility - by_errors.utility_lcb[known]) ** 2 * n * (n + 1) - 1, 0)  # n times the spread
    bound = utility - students_t.isf(1e-5, n - 1) * np.sqrt((squares + 4e-4) / (n - 1) / n)
    assert (bound > -1).sum() > 3 and (by_errors.utility_lcb[known] > -1).all()
    np.testing.assert_allclose(by_quantile.utility_lcb[known], np.maximum(bound, -1), atol=2e-3)
