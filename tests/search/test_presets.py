"""The searches of published systems: their figures, their candidates, games with them, the page that explains them."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import plain_go
import pytest
from known_answers import Noise, Scripted, View

from tengen.engine import Engine, Limits
from tengen.engine.params import SearchParams, set_params
from tengen.engine.presets import PRESETS
from tengen.engine.search import TreeSearch
from tengen.errors import RecipeError
from tengen.evaluators import Evaluation, InputBatch
from tengen.evaluators.evaluation import Floats
from tengen.game import Game

# As systems.md and katago.md of the sources have them, and for gumbel its paper, on the scale of this search: constants
# of win rates in 0..1 count twice.
PUBLISHED: dict[str, dict[str, Any]] = {
    "bakago": {
        "expand_visits": 1, "playouts": 3, "candidate_mass": 0.80, "candidate_mass_middle": 0.87,
        "candidate_mass_late": 0.95, "candidate_min": 2, "candidate_share": 1 / 8, "playout_decay": 0.98,
        "playout_slope": 1.0, "uct_exploration": 2 * 0.5 * 2**0.5, "selection": "uct", "playout_weight": 1.0,
        "candidate_tried": 0.5, "raw_priors": True,
    },
    "bakago-report": {"expand_visits": 1, "playouts": 10, "candidate_mass_middle": 0.87, "candidate_tried": 1.0},
    "darkforest": {
        "c_puct": 2 * 5.0, "puct_noise": 2 * 2 * 0.05, "candidate_mass": 0.8, "candidate_max": 20, "virtual_games": 0,
        "playout": "linear", "playout_temperature": 0.125, "playout_slope": 1.0, "playout_weight": 1.0,
        "raw_priors": True,
    },
    "darkforest-formal": {
        "candidate_mass": 1.0, "candidate_max": 7, "candidate_min": 1, "virtual_games": 5, "playout_temperature": 0.5,
    },
    "alphago": {
        "c_puct": 5.0, "virtual_loss": 3.0, "expand_visits": 40, "playout_weight": 0.5, "policy_temperature": 0.67,
        "leaf_symmetry": "random", "lcb": False,
    },
    "alphago-zero": {"leaf_symmetry": "random", "noise_weight": 0.0, "temperature": 0.0, "lcb": False},
    "alphago-zero-selfplay": {
        "leaf_symmetry": "random", "noise_weight": 0.25, "noise_total": 10.83, "temperature": 1.0, "lcb": False,
    },
    "leela-zero": {
        "c_puct": 2 * 0.5, "fpu": "network", "fpu_reduction": 2 * 0.25, "root_fpu_reduction": 2 * 0.25,
        "virtual_loss": 3.0, "lcb": True, "lcb_share": 0.1, "lcb_probability": 1e-5, "leaf_symmetry": "random",
    },
    # Neither of ELF's options that make an unvisited move a draw is on in its defaults and scripts.
    "elf": {
        "c_puct": 1.5, "virtual_loss": 1.0, "noise_weight": 0.0, "fpu": "reduction", "fpu_reduction": 0.0,
        "root_fpu": "reduction", "root_fpu_reduction": 0.0,
    },
    "elf-selfplay": {
        "c_puct": 0.85, "virtual_loss": 5.0, "noise_weight": 0.25, "noise_total": 10.83, "fpu": "reduction",
        "fpu_reduction": 0.0, "root_fpu": "reduction", "root_fpu_reduction": 0.0,
    },
    "mobile": {"diversity": 0.5, "lcb": False},
    "alphazero": {
        "selection": "puct", "c_puct": 1.25, "c_puct_base": 19652, "c_puct_factor": 1.0, "noise_weight": 0.0,
        "fpu": "absolute", "fpu_value": 0.0, "root_fpu": "absolute", "root_fpu_value": 0.0,
        "score_weight": 0.0, "lcb": False,
    },
    "alphazero-selfplay": {
        "c_puct": 1.25, "noise_weight": 0.25, "noise_total": 10.83, "temperature": 1.0, "lcb": False,
    },
    "katago-selfplay": {
        "selection": "puct", "c_puct": 1.1, "c_puct_factor": 0.0, "fpu": "reduction", "fpu_reduction": 0.2,
        "root_fpu": "reduction", "root_fpu_reduction": 0.0, "noise_weight": 0.25, "noise_total": 10.83,
        "noise_shaped": 0.5, "root_temperature": 1.1, "forced_playouts": 2.0, "lcb": False,
        "score_weight": round(0.4 / (1 + 0.4), 2),  # 0.4 beside a value of weight 1
    },
    "gumbel": {
        "selection": "gumbel", "gumbel_moves": 16, "gumbel_scale": 1.0, "gumbel_c_visit": 50, "gumbel_c_scale": 1.0,
        "score_weight": 0.0,
    },
    "cody-7x7": {
        "selection": "puct-alphago", "c_puct": 1.0, "fpu": "absolute", "fpu_value": 0.0, "root_fpu": "absolute",
        "root_fpu_value": 0.0, "noise_weight": 0.0, "simulate_to_end": True, "pass_policy": "no-legal-move",
        "prune_eyes": False, "temperature": 1.0, "score_weight": 0.0, "lcb": False,
    },
}  # fmt: skip


class WithoutPass(Noise):
    """Knows no pass, as the published policies."""

    has_pass = False

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        result.policy[:, -1] = 0
        return Evaluation(result.policy, result.value)


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_preset_has_the_published_figures(name: str) -> None:
    params = SearchParams.preset(name)
    for field, value in PUBLISHED[name].items():
        assert getattr(params, field) == pytest.approx(value), field


@pytest.mark.parametrize("size", [9, 19])
@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_game_with_a_published_search_is_legal(name: str, size: int) -> None:
    params, game = SearchParams.preset(name), Game(size)
    engine = Engine(WithoutPass(), params, batch=4)
    visits = params.expand_visits + 8  # the network answers below the root too
    for _ in range(4 if size == 9 else 2):
        engine.set_position(game)
        game.play(engine.think(Limits(visits=visits)).move)
    points = [point for _, point in game.moves]
    assert len(set(points)) == len(points) and size**2 not in points


def test_a_search_whose_policy_knows_no_pass_passes_by_the_rule() -> None:
    """Black has two eyes and all but one point; White has no legal move that lives."""
    game = Game.from_diagram("X X X X X\nX . X X X\nX X X X X\nX X X . X\nX X X X X", komi=0.5, to_play=1)
    for name in ("bakago", "darkforest", "mobile"):
        engine = Engine(WithoutPass(), SearchParams.preset(name))
        engine.set_position(game)
        assert engine.think(Limits(visits=20)).move == 25


def true_eye(board: plain_go.Board, p: int, color: int) -> bool:
    """Own stones on all sides, and at most one of the diagonals with an enemy stone, none on an edge."""
    size = round(len(board) ** 0.5)
    row, column = divmod(p, size)
    if any(board[n] != color for n in plain_go.neighbors(board, p)):
        return False
    corners = [(row + i, column + j) for i in (-1, 1) for j in (-1, 1)]
    inside = [i * size + j for i, j in corners if 0 <= i < size and 0 <= j < size]
    return len([q for q in inside if board[q] == 1 - color]) < (2 if len(inside) == 4 else 1)


@pytest.mark.parametrize("size", [7, 9, 19])
def test_bakago_lists_the_published_candidates(size: int) -> None:
    """Against the slow account: legal, no own true eye, no self-atari but captures, by probability up to the mass of
    the whole policy; of these the better half."""
    rng = random.Random(size)
    params = SearchParams.preset("bakago")
    lengths = set()
    for start in range(12):
        played = (size * size * 250 // 361) * (start + 1) // 12
        game, board, color = Game(size), plain_go.empty_board(size), 0
        for _ in range(played):
            legal = [p for p in game.legal_points() if not true_eye(board, p, color)]
            if not legal:
                break
            move = rng.choice(legal)
            found = plain_go.play(board, move, color)
            assert found
            game, board, color = game.play(move), found.board, 1 - color
        weights = np.array([rng.random() ** 8 for _ in range(size * size)] + [0], np.float32)
        weights[[p for p in range(size * size) if board[p] != 2]] *= 0.02

        def policy(view: View, given: Floats = weights) -> Floats:
            shares: Floats = given / given.sum()
            return shares

        good = []
        for p in game.legal_points():
            after = plain_go.play(board, p, color)
            assert after
            captures = sum(c == 1 - color for c in board) > sum(c == 1 - color for c in after.board)
            if not true_eye(board, p, color) and (captures or len(plain_go.liberties(after.board, p)) > 1):
                good.append(p)
        good.sort(key=lambda p: -weights[p])
        moves = len(game.moves)
        phase = [moves > (limit * size**2 + 180) // 361 for limit in (100, 200)]
        mass = (0.80, 0.87, 0.95)[sum(phase)]
        total, kept = float(weights.sum()), 0
        # A list that never has the mass ends with the pass, which BakaGo does not know.
        while kept <= len(good) and float(weights[good[:kept]].sum()) / total < mass:
            kept += 1
        kept = min((max(kept, 2) + 1) // 2, size * size // 8)
        search = TreeSearch(Scripted(policy=policy), params, 1)
        search.set_root(game)
        search.run(1)
        lengths.add(kept)
        assert sorted(search.stats().point.tolist()) == sorted(good[:kept]), (moves, mass)
    assert len(lengths) >= 3


def test_elf_explores_with_one_visit_more_than_those_of_the_moves() -> None:
    params = SearchParams.preset("elf").model_copy(update={"leaf_symmetry": "none"})
    search = TreeSearch(Noise(), params, 1)
    search.set_root(Game(5))
    search.run(1)
    for _ in range(60):
        stats, mean = search.stats(), search.value
        n, visited = stats.visits, stats.visits > 0
        q = np.where(visited, stats.utility, mean)
        scores = q + 1.5 * stats.prior * np.sqrt(1 + n.sum()) / (1 + n)
        expected = stats.point[np.argmax(scores)]
        search.run(search.visits + 1)
        after = search.stats()
        before = dict(zip(stats.point.tolist(), n.tolist(), strict=True))
        grown = [p for p, k in zip(after.point.tolist(), after.visits.tolist(), strict=True) if k > before[p]]
        assert grown == [expected]


def test_darkforest_keeps_the_probabilities_of_the_policy() -> None:
    policy = np.zeros(26, np.float32)
    policy[[3, 7, 11, 13]] = 0.5, 0.25, 0.15, 0.1
    for preset, expected in (("darkforest", [0.5, 0.25, 0.15]), ("darkforest-formal", [0.5, 0.25, 0.15, 0.1])):
        search = TreeSearch(Scripted(policy=lambda view: policy), SearchParams.preset(preset), 1)
        search.set_root(Game(5))
        search.run(1)
        priors = sorted(search.stats().prior.tolist(), reverse=True)
        assert priors[: len(expected)] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("option", ["rave_beta", "dynamic_komi"])
@pytest.mark.parametrize("name", ["darkforest", "darkforest-formal"])
def test_the_options_of_darkforest_change_its_search(name: str, option: str) -> None:
    found = []
    for value in (0.0, 100.0):
        engine, game = Engine(WithoutPass(), set_params(SearchParams.preset(name), {option: value}), batch=1), Game(9)
        for _ in range(2):  # the komi follows the winrate of the root before
            engine.set_position(game)
            result = engine.think(Limits(visits=60))
            game = game.play(result.move)
        found.append([(each.point, each.visits) for each in result.candidates])
    assert found[0] != found[1]


@pytest.mark.parametrize("weight, expected", [(0.5, 0.0), (0.25, 0.5), (0.75, -0.5)])
@pytest.mark.parametrize("batch", [1, 8])
def test_alphago_mixes_the_value_into_every_visit(weight: float, expected: float, batch: int) -> None:
    """The network says that Black wins, and every playout that White does, who has more komi than there are points.

    (1 - lambda) v + lambda z (paper, Methods, search algorithm); moves below a move are searched after 40 visits of it.
    """
    policy = np.full(26, 0.01, np.float32)
    policy[3] = 1
    evaluator = Scripted(value=lambda view: 1.0, policy=lambda view: policy)
    search = TreeSearch(evaluator, set_params(SearchParams.preset("alphago"), {"playout_weight": weight}), batch)
    search.set_root(Game(5, komi=60))
    search.run(40)
    stats = search.stats()
    assert search.nodes == evaluator.rows == 1 + np.count_nonzero(stats.visits)
    assert search.value == pytest.approx(expected, abs=1e-6)
    assert stats.value[stats.visits > 0] == pytest.approx(expected, abs=1e-6)
    search.run(200)
    stats = search.stats()
    assert stats.visits[0] > 100 and search.nodes > 1 + np.count_nonzero(stats.visits)
    assert search.value == pytest.approx(expected, abs=1e-5)


def test_the_second_move_is_played_half_of_the_time() -> None:
    """Two moves share the policy, so that each has about half of the visits; a third one is far behind."""
    policy = np.zeros(26, np.float32)
    policy[[3, 7, 11]] = 0.48, 0.47, 0.05
    search = TreeSearch(Scripted(policy=lambda view: policy), SearchParams.preset("mobile"), 1, seed=2)
    search.set_root(Game(5))
    search.run(200)
    drawn = Counter(search.choose() for _ in range(400))
    assert set(drawn) == {3, 7} and 160 < drawn[3] < 240
    assert {search.choose(0) for _ in range(20)} == {int(search.stats().point[0])}


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_searches(name: str) -> None:
    params = SearchParams.preset(name)
    search = TreeSearch(Noise(), params, 4)
    search.set_root(Game(7))
    search.run(120)
    assert search.visits == 120 and search.choose() is not None
    assert search.policy_target().sum() == pytest.approx(1, abs=1e-4)
    assert params != SearchParams()


def test_the_page_lists_every_preset_and_setting_of_selection() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "search.md").read_text()
    for name in PRESETS:
        assert f"| `{name}` |" in page
    for name in SearchParams.model_fields:
        if name.startswith(("fpu", "gumbel", "noise", "c_puct", "lcb", "forced", "merge", "stop", "prune", "planned")):
            assert f"`{name}`" in page, name


def test_an_unknown_preset_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(RecipeError, match="unknown search preset 'leela'; did you mean leela-zero"):
        SearchParams.preset("leela")
