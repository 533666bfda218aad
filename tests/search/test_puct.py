"""The search against answers known by hand and against a plain twin."""

import math

import numpy as np
import pytest
from known_answers import Noise, Scripted, View, only
from plain_puct import PlainPuct

from tengen import _native
from tengen.coords import from_gtp
from tengen.data.planes import encode_game
from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.game import WHITE, Game

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


def opened(size: int, seed: int) -> Game:
    """A game of a few random moves."""
    game, rng = Game(size, komi=0.5), np.random.default_rng(seed)
    for _ in range(6):
        game.play(int(rng.choice(game.legal_points())))
    return game


def assert_like_twin(game: Game, params: SearchParams, visits: int, batch: int = 1) -> None:
    twin = PlainPuct(game, Noise(), params, batch)
    twin.run(visits)
    search = TreeSearch(Noise(), params, batch)
    search.set_root(game)
    search.run(visits)
    stats = search.stats()
    mine = {int(p): int(n) for p, n in zip(stats.point, stats.visits, strict=True) if n}
    assert mine == twin.visits()
    for point, utility in zip(stats.point[:3], stats.utility[:3], strict=True):
        assert -twin.root.children[int(point)].mean == pytest.approx(float(utility), abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [5, 7])
def test_agrees_with_the_plain_twin(seed: int, size: int) -> None:
    assert_like_twin(opened(size, seed), SearchParams(prune_eyes=False, score_weight=0.1), 200)


FORMS = {
    "alphago": SearchParams(selection="puct-alphago", c_puct=2.5, fpu="absolute", root_fpu="absolute"),
    "alphago-zero": SearchParams(selection="puct-alphago", c_puct=1.0, virtual_loss=3.0),
    "leela-zero": SearchParams(
        selection="puct-leela-zero", c_puct=1.0, virtual_loss=3.0, fpu="network", root_fpu="network",
        fpu_reduction=0.5, root_fpu_reduction=0.5,
    ),
    "darkforest": SearchParams(selection="puct-darkforest", c_puct=10.0),
    "growing": SearchParams(c_puct_base=50.0, c_puct_factor=2.0),
    "loss": SearchParams(fpu="absolute", fpu_value=-1.0, root_fpu="reduction", root_fpu_reduction=0.0),
    "every move once": SearchParams(fpu="absolute", fpu_value=1.1, root_fpu="absolute", root_fpu_value=0.0),
    "parent": SearchParams(fpu_reduction=0.0, root_fpu_reduction=0.0, virtual_loss=0.5),
}  # fmt: skip


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("form", list(FORMS))
def test_every_form_agrees_with_the_plain_twin(form: str, batch: int) -> None:
    params = FORMS[form].model_copy(update={"prune_eyes": False})
    for size, seed in ((5, 5), (7, 6)):
        assert_like_twin(opened(size, seed), params, 240, batch)


# Two arms and nothing else: 3 with prior 3/4 and 8 with prior 1/4, the root worth 0. The better prior goes first.
ARMS = (3, 8)
QUIET = {"score_weight": 0.0, "fpu": "absolute", "root_fpu": "absolute"}


def quiet_arms(view: View) -> np.ndarray:
    """The priors of the two arms; after the first move nothing happens."""
    weights = np.zeros(26, np.float32)
    if view.own or view.other:
        weights[25] = 1
    else:
        weights[list(ARMS)] = 0.75, 0.25
    return weights


def pulled(visits: int, value: float, seed: int = 0, **params: object) -> list[int]:
    """The arms in the order of their visits, when arm 3 is worth `value` and arm 8 nothing."""

    evaluator = Scripted(lambda view: value if ARMS[0] in view.black else 0.0, policy=quiet_arms)
    order: list[int] = []
    before = dict.fromkeys(ARMS, 0)
    for visit in range(visits):
        search = TreeSearch(evaluator, SearchParams(**params), 1, seed)  # type: ignore[arg-type]
        search.set_root(Game(5), only(ARMS))
        search.run(visit + 2)
        stats = search.stats()
        now = {int(p): int(n) for p, n in zip(stats.point, stats.visits, strict=True)}
        order += [arm for arm in ARMS if now[arm] > before[arm]]
        before = now
    return order


@pytest.mark.parametrize(
    "form, c_puct, edge",
    [
        # The bonus is E P / (1 + n). After one visit arm 3 has 3/8 E, arm 8 has 1/4 E: a tie where 3 is worth -E / 8.
        ("puct", 1.0, 2**0.5 / 8),  # E = sqrt(2), the root's own visit counts
        ("puct-alphago", 1.0, 1 / 8),  # E = sqrt(1), it does not
        ("puct-leela-zero", 1.0, math.log(1.715) ** 0.5 / 8),  # E = sqrt(1 ln(.015 + 1.7))
        ("puct-darkforest", 1.0, 2 * 3**0.5 / 8),  # E = sqrt(2 + 1), and one loss counts half, beside a draw
    ],
)
def test_the_second_visit_by_hand(form: str, c_puct: float, edge: float) -> None:
    settings = {**QUIET, "selection": form, "c_puct": c_puct, "c_puct_factor": 0.0}
    assert pulled(3, -edge + 0.004, **settings) == [3, 3, 8]
    assert pulled(3, -edge - 0.004, **settings) == [3, 8, 3]


@pytest.mark.parametrize(
    "fpu, edge",
    [
        ({"root_fpu": "absolute"}, 0.0),  # a draw
        ({"root_fpu": "absolute", "root_fpu_value": -0.6, "fpu_value": 1.0}, 0.6),
        # the parent's mean is half of arm 3's value, less .1 sqrt(3/4): v / 2 - .0866 = v
        ({"root_fpu": "reduction", "root_fpu_reduction": 0.1}, 0.2 * 0.75**0.5),
        ({"root_fpu": "reduction", "root_fpu_reduction": 0.0}, 0.0),  # the parent's mean itself
        ({"root_fpu": "network", "root_fpu_reduction": 0.1}, 0.1 * 0.75**0.5),  # its own evaluation, 0, less the same
    ],
)
def test_first_play_urgency_by_hand(fpu: dict[str, object], edge: float) -> None:
    """Without exploration arm 3 is left for the untried one as soon as it is worth less than its urgency."""
    settings = {**QUIET, "c_puct": 0.0, "c_puct_factor": 0.0, **fpu}
    assert pulled(2, -edge + 0.004, **settings) == [3, 3]
    assert pulled(2, -edge - 0.004, **settings) == [3, 8]


def test_an_urgency_above_all_values_tries_every_move_first() -> None:
    """The first-play urgency of MoGo (Gelly and Wang 2006)."""
    search = searched(Game(5), Noise(), 27, root_fpu="absolute", root_fpu_value=10.0)
    assert search.stats().visits.tolist() == [1] * 26


def test_the_noise_of_darkforest_matters_within_its_width_alone() -> None:
    """Without exploration an arm has n / (n + 1) of its value and up to .2 of noise; the other arm is worth 0."""
    loud = {**QUIET, "selection": "puct-darkforest", "c_puct": 0.0, "puct_noise": 0.2}

    def orders(value: float) -> set[tuple[int, ...]]:
        return {tuple(pulled(2, value, seed, **loud)) for seed in range(300)}

    assert orders(-0.41) == {(3, 8), (8, 3), (8, 8)}  # arm 3 has -.205 + .2 at best, once it was tried
    assert orders(-0.3) == {(3, 3), (3, 8), (8, 3), (8, 8)}
    assert orders(0.41) == {(3, 3), (8, 3), (8, 8)}  # arm 8 has .2 at best
    assert searched(Game(7), Noise(), 200, **loud).text(9) == searched(Game(7), Noise(), 200, **loud).text(9)


def test_virtual_games_drown_in_real_ones() -> None:
    """Five games of random result turn the first visits and leave the best arm on top."""
    settings = {"selection": "puct-darkforest", "c_puct": 10.0}
    evaluator = Scripted(lambda view: 0.6 if CENTRE in view.black else -0.2)
    found = set()
    for seed in range(8):
        search = TreeSearch(evaluator, SearchParams(**settings, virtual_games=5), 4, seed)  # type: ignore[arg-type]
        search.set_root(Game(5))
        search.run(40)
        found.add(search.text(2))
        search.run(2000)
        assert search.choose() == CENTRE and search.stats().visits[0] > 800
    assert len(found) > 4


@pytest.mark.parametrize("name", ["puct", "puct-alphago", "puct-leela-zero", "puct-darkforest"])
def test_losses_of_simulations_under_way_by_hand(name: str) -> None:
    """Two arms of one prior, no value yet: the first simulation's losses drive the second to the other arm, and the
    third, which meets only arms under way, is no leaf of its own."""
    even = Scripted()
    search = TreeSearch(even, SearchParams(selection=name, **QUIET), 4)  # type: ignore[arg-type]
    search.set_root(Game(5), only(ARMS))
    search.run(1)
    assert search.step(4) == 2
    assert search.stats().visits.tolist() == [1, 1]


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


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_passes_after_the_end_lead_back_to_no_shared_position(selection: str) -> None:
    """The second of them has the stones, the side to move and the two passes of the root."""
    game = Game(5).play("C3").play("pass").play("pass")
    policy = np.full(26, 0.1 / 25, np.float32)
    policy[25] = 0.9
    params = {"selection": selection, "conservative_pass": True, "transpositions": True}
    assert searched(game, Scripted(policy=lambda view: policy), 300, **params).visits == 300


def test_a_pass_at_a_kept_root_does_not_end_the_game() -> None:
    """White passes, and Black, who is ahead, has seen that his pass would end the game."""
    game = Game(5, komi=0.5).play("C3")
    params = SearchParams(conservative_pass=True, prune_eyes=False)
    search = TreeSearch(Scripted(), params, 1)
    search.set_root(game, only([25], WHITE))
    search.run(300)
    game.play("pass")
    for fresh in (False, True):
        if fresh:
            search = TreeSearch(Scripted(), params, 1)
        search.set_root(game)
        search.run(search.visits + 200)
        stats = search.stats()
        assert abs(stats.value[stats.point == 25][0]) < 0.5, "finished games are won"


class Watcher(UniformEvaluator):
    """Keeps the scalars that it is asked about."""

    def __init__(self) -> None:
        super().__init__("katago-v7")
        self.seen: list[np.ndarray] = []

    def infer(self, batch: InputBatch) -> Evaluation:
        self.seen.extend(batch.arrays[1].copy())
        return super().infer(batch)


@pytest.mark.parametrize(("conservative", "kept"), [(True, False), (True, True), (False, False)])
def test_the_network_is_not_told_that_a_conservative_pass_ends_the_game(conservative: bool, kept: bool) -> None:
    """As under rules with friendly passes, where KataGo hides it everywhere (tests/data_pipeline)."""
    game = Game(5, "tromp-taylor", komi=0.5).play("C3")
    evaluator = Watcher()
    search = TreeSearch(evaluator, SearchParams(conservative_pass=conservative), 1)
    if kept:
        search.set_root(game, only([25], WHITE))
        search.run(50)
        evaluator.seen.clear()
    game.play("pass")
    search.set_root(game)
    search.run(search.visits + 1)
    friendly = Game(5, "ko=positional,scoring=area,suicide=true,friendly_pass_ok=true", komi=0.5)
    _, hidden, _ = encode_game("katago-v7", friendly.play("C3").play("pass"))
    assert np.array_equal(evaluator.seen[0], hidden) == conservative


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_the_network_judges_a_game_under_territory_rules_that_ended_by_passes(selection: str) -> None:
    """Players agree on the dead stones then: to a count without them White's stone in Black's territory is alive."""
    diagram = """
        . . X O . .
        . O X O . .
        . . X O . .
        . . X O . .
        . . X O . .
        . . X O . .
    """

    def policy(view: View) -> np.ndarray:
        likely = np.full(37, 0.001, np.float32)
        likely[36] = 0.964
        return likely

    for rules, judged in (("japanese", True), ("tromp-taylor", False)):
        game = Game.from_diagram(diagram, rules=rules, komi=0.5)
        search = searched(game, Scripted(lambda view: 0.25, policy=policy), 40, selection=selection)
        passes = search.stats()
        value = passes.value[passes.point == 36][0] * (1 if game.to_play == 0 else -1)
        assert (value == pytest.approx(0.25, abs=1e-3)) == judged


@pytest.mark.parametrize("selection", ["uct", "rave"])
def test_playouts_judge_a_game_under_territory_rules_that_ended_by_passes(selection: str) -> None:
    """White's stone is dead, and Black far ahead; a count without agreement gives him a single point."""
    rows = [". . . . X X X O ."] * 9
    rows[4], rows[6] = ". . . . X . X O .", ". . O . X X X O ."
    game = Game.from_diagram("\n".join(rows), rules="japanese", komi=0.5, to_play=1).play("pass")
    params: dict[str, object] = {"selection": selection, "priors": "uniform", "playout_weight": 1.0, "playouts": 1}
    for transpositions in (False, True):
        search = searched(game, UniformEvaluator(), 1000, transpositions=transpositions, **params)
        moves = search.stats()
        assert moves.value[moves.point == 81][0] > 0


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_each_visit_of_such_an_end_has_playouts_of_its_own_beside_the_network(weight: float) -> None:
    """The network says 0.5 for either side, and playouts from an empty board end both ways."""
    game = Game(5, "japanese", komi=0.5).play("pass")
    params: dict[str, object] = {"playout_weight": weight, "playouts": 1, "score_weight": 0.0, "c_puct": 0.01}

    def only_passes(view: View) -> np.ndarray:
        likely = np.full(26, 1e-6, np.float32)
        likely[25] = 1
        return likely

    search = searched(game, Scripted(lambda view: 0.5, policy=only_passes), 1, **params)
    search.set_root(game, only([25], WHITE))
    search.run(400)
    value = float(search.stats().value[0])  # White's, at the position that Black would judge
    played = (value + (1 - weight) * 0.5) / weight
    assert search.stats().visits[0] == 399
    assert abs(played) < 0.95, "one playout for all visits is 1 or -1"
