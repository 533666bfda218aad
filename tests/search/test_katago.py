"""The search by KataGo's weights against a slow twin and against answers known by hand."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from known_answers import Noise, Scripted, View, only
from other_programs import give_up
from plain_katago import PlainKatago, score_value
from plain_puct import PlainPuct, mean_over_symmetries

from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluation, Evaluator, InputBatch, UniformEvaluator, load_evaluator
from tengen.evaluators.evaluation import Floats
from tengen.game import WHITE, Game

PLAIN = {"selection": "puct-katago", "c_puct": 1.0, "c_puct_factor": 0.45, "c_puct_base": 500.0}
PARTS = {
    "plain": {},
    "utility": {
        "static_score_utility": 0.1,
        "dynamic_score_utility": 0.3,
        "no_result_utility": 0.4,
        "win_utility": 0.9,
    },
    "spread": {"c_puct_stdev_scale": 0.85},
    "first play": {"fpu_mass_power": 2.0, "fpu_loss": 0.1, "root_fpu_loss": 0.05},
    "uncertainty": {"uncertainty": 0.25, "uncertainty_exponent": 0.9, "dynamic_score_utility": 0.3},
    "value weights": {"value_weight_exponent": 0.25},
    "noise pruning": {"noise_pruning": 0.15, "value_weight_exponent": 0.5},
    "value bias": {"value_bias": 0.45},
    "futile": {"stop_futile": True, "lcb_share": 0.6, "uncertainty": 0.25},
    "root symmetries": {"root_symmetries": 8, "dynamic_score_utility": 0.3, "uncertainty": 0.25},
}


class WideNoise(Noise):
    """Random outputs of all kinds that depend on nothing but the position."""

    def infer(self, batch: InputBatch) -> Evaluation:
        plain = super().infer(batch)
        digests = (hashlib.sha256(row.tobytes()).digest() for row in plain.policy)
        columns = np.array([np.random.default_rng(int.from_bytes(d[:8], "little")).random(5) for d in digests])
        no_result, lead, stdev, value_error, score_error = columns.T.astype(np.float32)
        return replace(
            plain,
            value=plain.value * (1 - no_result),
            no_result=no_result / 4,
            lead=plain.score + 4 * lead,
            score_stdev=12 * stdev,
            value_error=value_error / 2,
            score_error=6 * score_error,
        )


def opened(size: int, seed: int, komi: float = 0.5) -> Game:
    game, rng = Game(size, komi=komi), np.random.default_rng(seed)
    for _ in range(7):
        game.play(int(rng.choice(game.legal_points())))
    return game


def assert_like_twin(
    game: Game, params: SearchParams, visits: int, batch: int = 1, evaluator: Evaluator | None = None
) -> PlainKatago:
    evaluator = evaluator or WideNoise()
    twin = PlainKatago(game, evaluator, params, batch)
    twin.run(visits)
    search = TreeSearch(evaluator, params, batch)
    search.set_root(game)
    search.run(visits)
    compare(search, twin)
    return twin


def compare(search: TreeSearch, twin: PlainKatago) -> None:
    stats = search.stats()
    mine = {int(p): int(n) for p, n in zip(stats.point, stats.visits, strict=True) if n}
    assert mine == twin.visits()
    root, pruned = search.root_means(), twin.pruned()
    for name, tolerance in (("utility", 1e-4), ("value", 1e-4), ("no_result", 1e-4), ("score", 1e-3), ("lead", 1e-3)):
        assert getattr(root, name) == pytest.approx(getattr(pruned, name), abs=tolerance), name
    assert root.weight == pytest.approx(twin.root.weight, rel=1e-4)
    assert search.value == pytest.approx(twin.root.average.value, abs=1e-4)
    for i in range(3):
        child = twin.root.children[int(stats.point[i])]
        assert stats.weight[i] == pytest.approx(child.weight, rel=1e-4)
        assert stats.no_result[i] == pytest.approx(child.average.no_result, abs=1e-4)
        variance = child.average.score_square - child.average.score**2
        assert stats.score_stdev[i] == pytest.approx(np.sqrt(variance), abs=1e-3)
        assert stats.utility_lcb[i] == pytest.approx(twin.lower_bound(child)[0], abs=1e-3)
        assert list(search.pv(int(stats.point[i]))) == twin.line(int(stats.point[i]))[:20]
    played = {int(p): w for p, w, n in zip(stats.point, stats.play_weight, stats.visits, strict=True) if n}
    assert played == pytest.approx(twin.play_weights(twin.root), rel=2e-3)


@pytest.mark.parametrize("part", PARTS)
def test_each_part_alone_searches_as_its_twin(part: str) -> None:
    assert_like_twin(opened(5, 1), SearchParams(**PLAIN, **PARTS[part]), 120)


def test_moves_that_no_move_came_before_have_no_bias() -> None:
    """Those of a position that was set up, and the first of a game."""
    params = SearchParams(**PLAIN, value_bias=0.45)
    assert_like_twin(opened(7, 5).restarted_here(1), params, 200)
    assert_like_twin(Game(7, komi=0.5), params, 200)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "seed", "parts"),
    [(5, 1, ["value bias"]), (7, 5, ["value bias", "utility", "uncertainty", "noise pruning"])],
    ids=["alone", "with others"],
)
@pytest.mark.parametrize("free", [0.0, 0.8, 1.0])
def test_nodes_that_leave_the_tree_take_a_share_of_their_bias_with_them(
    free: float, size: int, seed: int, parts: list[str]
) -> None:
    """KataGo's default share is 0.8 (removeSubtreeValueBias). In these games another share gives other visits."""
    settings = {name: value for part in parts for name, value in PARTS[part].items()}
    params, game, evaluator = SearchParams(**PLAIN, **settings, value_bias_free=free), opened(size, seed), WideNoise()
    twin, search = PlainKatago(game, evaluator, params), TreeSearch(evaluator, params, 1)
    for visits in (200, 400, 500):
        search.set_root(game)
        search.run(visits)
        twin.run(visits)
        compare(search, twin)
        move = int(search.stats().point[0])
        twin.advance(move)
        game.play(move)


def test_a_bias_does_not_change_what_a_finished_game_is_worth() -> None:
    """KataGo corrects what its network says alone (addLeafValue)."""
    game = opened(5, 1)
    assert_like_twin(game.limit_moves(len(game.moves) + 4), SearchParams(**PLAIN, **PARTS["value bias"]), 600)


def test_a_finished_game_counts_as_an_evaluation_where_errors_are_not_predicted() -> None:
    """KataGo gives it uncertaintyMaxWeight only with a network that predicts short-term errors."""

    class WithoutErrors(WideNoise):
        def infer(self, batch: InputBatch) -> Evaluation:
            return replace(super().infer(batch), value_error=None, score_error=None)

    game = opened(5, 1)
    game.limit_moves(len(game.moves) + 4)
    assert_like_twin(game, SearchParams(**PLAIN, **PARTS["uncertainty"]), 600)
    assert_like_twin(game, SearchParams(**PLAIN, **PARTS["uncertainty"]), 600, evaluator=WithoutErrors())


@pytest.mark.parametrize("worth", [-1, -0.75, 0, 0.5, 1])
def test_draws_are_worth_what_the_setting_says(worth: float) -> None:
    class Blind(WideNoise):
        def infer(self, batch: InputBatch) -> Evaluation:
            return super().infer(replace(batch, scalars=np.zeros_like(batch.scalars)))

    for komi in (1, 1.5):
        game = opened(5, 1, komi)
        params = SearchParams(**PLAIN, **PARTS["utility"], draw_value=worth)
        evaluator = WideNoise() if worth in (-1, 1) else Blind()
        twin = assert_like_twin(game.limit_moves(len(game.moves) + 4), params, 600, evaluator=evaluator)
        assert (twin.draws > 0) == (komi == 1)


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
@pytest.mark.parametrize("worth", [-1, 0, 0.5])
def test_a_drawn_end_has_the_value_of_a_draw(selection: str, worth: float) -> None:
    """Black passed on the empty board, and White ends the game by a pass."""
    game = Game(5, "tromp-taylor", komi=0).play("pass")
    search = TreeSearch(WideNoise(), SearchParams(selection=selection, draw_value=worth), 1)
    search.set_root(game, only([25], WHITE))
    search.run(9)
    (value,) = search.stats().value
    assert value == pytest.approx(worth), "for White, who is to move"


@pytest.mark.parametrize(("size", "batch", "seed"), [(5, 1, 2), (7, 1, 3), (5, 8, 4)])
def test_all_parts_together_search_as_their_twin(size: int, batch: int, seed: int) -> None:
    together = {name: value for part in PARTS.values() for name, value in part.items()}
    assert_like_twin(opened(size, seed), SearchParams(**PLAIN, **together), 200, batch)


def test_futile_moves_have_fewer_visits_only_where_the_budget_is_exact() -> None:
    def visited(exact: bool, **settings: object) -> int:
        search = TreeSearch(WideNoise(), SearchParams(**PLAIN, **settings), 1)
        search.set_root(opened(5, 1))
        if exact:
            search.run(120)
        while search.visits < 120:
            search.step(1)
        return int((search.stats().visits > 0).sum())

    plain = visited(True)
    assert visited(True, stop_futile=True, lcb=False) < plain
    assert visited(False, stop_futile=True, lcb=False) == visited(True, stop_futile=True, temperature=1.0) == plain


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_a_root_is_evaluated_under_several_symmetries(batch: int) -> None:
    game, seen = opened(5, 3), []

    class Watched(WideNoise):
        def infer(self, batch: InputBatch) -> Evaluation:
            seen.extend(row.tobytes() for row in batch.planes)
            return super().infer(batch)

    params = SearchParams(root_symmetries=5, leaf_symmetry="random")
    search = TreeSearch(Watched(), params, batch)
    search.set_root(game)
    search.run(2)
    assert len(set(seen[:5])) == 5 and len(seen) == search.evaluations == 6 and search.visits == 2
    twin = PlainPuct(game, WideNoise(), SearchParams(root_symmetries=8), batch)
    twin.run(60)
    search = TreeSearch(WideNoise(), SearchParams(root_symmetries=8), batch)
    search.set_root(game)
    search.run(60)
    stats = search.stats()
    assert {int(p): int(n) for p, n in zip(stats.point, stats.visits, strict=True) if n} == twin.visits()


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_a_kept_root_is_evaluated_again_under_all_symmetries(selection: str) -> None:
    params = SearchParams(selection=selection, root_symmetries=8)
    game = opened(5, 4)
    search = TreeSearch(WideNoise(), params, 4)
    search.set_root(game)
    search.run(100)
    game.play(int(search.stats().point[0]))
    search.set_root(game)
    kept, before = search.visits, search.evaluations
    while search.evaluations < before + 8:
        search.step(4)
        assert search.visits == kept
    assert search.evaluations == before + 8
    mean = mean_over_symmetries(game, WideNoise())
    raw = search.root_evaluation()
    assert raw is not None
    np.testing.assert_allclose(raw.policy, mean.policy[0], atol=1e-6)
    assert (raw.value, raw.score_stdev) == pytest.approx((mean.value[0], mean.score_stdev[0]), abs=1e-4)
    stats = search.stats()
    expected = mean.policy[0][stats.point]
    np.testing.assert_allclose(stats.prior, expected / expected.sum(), rtol=1e-3)


def test_a_real_root_under_all_symmetries_is_what_katago_finds(shared: Path) -> None:
    """Figures of KataGo 1.17.2 (Eigen): its analysis with rootNumSymmetriesToSample 8 and the history."""
    network = shared / "nets/g170-b6c96-s175395328-d26788732.bin.gz"
    if not network.exists():
        give_up("shared", f"no {network}")
    game = Game(9, "chinese", 7).play("D4").play("F6").play("F3")
    evaluator = load_evaluator(network, precision="f32", remember=False)
    search = TreeSearch(evaluator, SearchParams.preset("katago").model_copy(update={"root_symmetries": 8}))
    search.set_root(game)
    search.run(2)
    found = search.root_evaluation()
    assert found is not None and found.score_stdev is not None and search.evaluations == 9
    assert (found.value + 1) / 2 == pytest.approx(1 - 0.4222278, abs=2e-4)
    assert (found.lead, found.score) == pytest.approx((0.937006056, 1.09926116), abs=2e-2)
    assert found.score_stdev == pytest.approx(11.8250736, abs=2e-2)
    for point, prior in ((29, 0.402532518), (30, 0.23133564), (38, 0.0854811817), (50, 0.0709238276)):
        assert found.policy[point] == pytest.approx(prior, abs=5e-4)


@pytest.mark.parametrize("changes", [{}, {"root_symmetries": 8}, {"transpositions": True}])
def test_an_evaluation_that_failed_is_made_again(changes: dict[str, object]) -> None:
    class Failing(WideNoise):
        calls = 0

        def infer(self, batch: InputBatch) -> Evaluation:
            self.calls += 1
            if self.calls % 2:
                raise RuntimeError("failed")
            return super().infer(batch)

    found = []
    for evaluator in (WideNoise(), Failing()):
        search = TreeSearch(evaluator, SearchParams(fpu_reduction=0.2, **PLAIN, **changes), 2)
        search.set_root(opened(5, 4))
        while search.visits < 150:
            try:
                search.step(1)
            except RuntimeError:
                continue
        found.append(search.text(3))
    assert found[0] == found[1]


@pytest.mark.parametrize("batch", [1, 4])
def test_visits_of_a_shared_position_are_not_made_twice(batch: int) -> None:
    """A move to a position that other lines have visited more often counts what is known there (KataGo)."""

    def searched(catch_up: float) -> TreeSearch:
        params = SearchParams.preset("katago").model_copy(update={"catch_up": catch_up, "merge_symmetric": False})
        search = TreeSearch(Scripted(), params, batch)
        search.set_root(Game(5))
        search.run(300)
        return search

    never, always = searched(0), searched(1)
    assert never.visits == always.visits == 300
    assert never.nodes == 300 > always.nodes >= always.evaluations  # each visit of the one makes a position
    assert always.stats().visits.sum() == 299


def test_the_grid_of_score_values_is_near_the_integral() -> None:
    z = np.linspace(-8, 8, 20001)
    density = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    for mean, stdev in [(0.3, 0.1), (-7.0, 3.0), (12.3, 20.0), (40.0, 5.0)]:
        exact = float(density @ np.arctan((mean + stdev * z) / 14)) * 2 / np.pi
        assert score_value(mean, stdev, 0, 14) == pytest.approx(exact, abs=3e-4)


def test_a_kept_tree_has_the_weights_that_its_root_had_as_a_move() -> None:
    params = SearchParams(**PLAIN, value_weight_exponent=0.25, dynamic_score_utility=0.3)
    game = opened(7, 5)
    search = TreeSearch(WideNoise(), params)
    search.set_root(game)
    search.run(300)
    before = search.stats()
    game.play(int(before.point[0]))
    search.set_root(game)
    assert search.visits == before.visits[0]
    assert search.root_means().weight == pytest.approx(before.weight[0], rel=1e-5)
    assert search.score == pytest.approx(-before.score[0], abs=0.2)  # bad moves were judged around another score
    after = search.stats()
    search.run(search.visits + 100)
    assert after.visits.sum() + 100 == search.stats().visits.sum()


@pytest.mark.parametrize("selection", ["puct", "puct-katago"])
def test_ownership_below_a_node_is_the_mean_by_weights(selection: str) -> None:
    class Owned(WideNoise):
        def infer(self, batch: InputBatch) -> Evaluation:
            result = super().infer(batch)
            return replace(result, ownership=result.policy[:, :-1].reshape(-1, batch.edge, batch.edge) * 10 - 0.3)

    evaluator, game = Owned(), opened(5, 6)
    search = TreeSearch(evaluator, SearchParams(selection=selection, node_ownership=True))
    search.set_root(game)
    assert search.ownership_below() is None
    search.run(2)
    move = int(search.stats().point[0])
    after = game.copy().play(move)
    mine, theirs = (np.clip(evaluator.evaluate([g]).ownership[0], -1, 1) for g in (game, after))
    theirs = -theirs
    mean, stdev = search.ownership_below()
    np.testing.assert_allclose(mean, (mine + theirs) / 2, atol=1e-3)
    np.testing.assert_allclose(stdev, abs(mine - theirs) / 2, atol=2e-2)
    np.testing.assert_allclose(search.ownership_below(move)[0], theirs, atol=1e-3)
    assert search.ownership_below(24 if move != 24 else 23) is None
    # More visits: the parts of all nodes are one, so that equal ownership stays as it is.
    search.run(60)
    low, high = mine.min() - 1, mine.max() + 1
    mean, stdev = search.ownership_below()
    assert low < mean.min() and mean.max() < high and (stdev >= 0).all()


def test_playouts_do_not_go_with_weights() -> None:
    with pytest.raises(ValueError, match="puct-katago needs a network's priors and values alone"):
        SearchParams(selection="puct-katago", playouts=1)


@pytest.mark.parametrize("bonus", [0.5, -0.5])
def test_a_kept_root_is_evaluated_again_for_the_bonus_of_the_end(bonus: float) -> None:
    search, game = TreeSearch(Noise(), SearchParams(ending_bonus=bonus, **PLAIN), 1), opened(5, 3)  # type: ignore[arg-type]
    search.set_root(game)
    search.run(50)
    search.set_root(game.play(int(search.stats().point[0])))
    assert search.visits > 1 and search.root_evaluation() is None
    search.step(1)
    assert search.root_evaluation() is not None


@pytest.mark.parametrize("selection", ["puct", "puct-katago", "gumbel"])
def test_diversity_is_the_chance_of_the_second_move(selection: str) -> None:
    """Two moves that differ in the prior alone, and little, share the visits."""

    def policy(view: View) -> Floats:
        weights = np.zeros(26, np.float32)
        weights[[6, 18]] = 0.52, 0.48
        return weights

    chosen = set()
    for diversity in (0.0, 1.0):
        params = SearchParams(selection=selection, diversity=diversity, lcb=False, gumbel_scale=0.0)  # type: ignore[arg-type]
        search = TreeSearch(Scripted(policy=policy), params, 1)
        search.set_root(Game(5), only([6, 18]))
        search.run(42)
        assert 2 * search.stats().visits.min() > search.stats().visits.max()
        chosen.add(search.choose())
    assert chosen == {6, 18}


def finished(komi: float) -> Game:
    """Black's pass ends the game. Black has the columns A to E, White the others, both with two eyes."""
    game = Game(5, "chinese", komi)
    game.setup(black=[0, 2, *range(5, 10)], white=[*range(10, 15), 21, 23], to_play=WHITE)
    return game.play(None)


def test_a_finished_game_keeps_its_result_however_often_it_is_visited() -> None:
    """In float32 a mean of 20,000 equal results was another one."""
    search = TreeSearch(UniformEvaluator(), SearchParams.preset("katago"), seed=1)
    search.set_root(finished(-30.5))
    search.run(20_000)
    ended = next(move for move in search.candidates() if move.point == 25)
    assert ended.visits > 10_000
    assert ended.winrate == pytest.approx(1, abs=1e-6) and ended.score == 25.5


def test_scores_beyond_the_range_of_a_float_are_the_last_of_the_table() -> None:
    """Their squares are infinite, and the spread of the scores is unknown."""

    class Huge(WideNoise):
        def infer(self, batch: InputBatch) -> Evaluation:
            return replace(super().infer(batch), score=np.full(len(batch), 2e19, np.float32))

    search = TreeSearch(Huge(), SearchParams.preset("katago"), batch=4)
    search.set_root(Game(5))
    search.run(100)
    assert search.visits == 100 and np.isfinite(search.stats().utility).all()
