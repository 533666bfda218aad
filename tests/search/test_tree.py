"""The life of a tree: determinism, reuse, memory, noise, restrictions, failures."""

import threading
from collections.abc import Callable

import numpy as np
import pytest
from known_answers import Noise, Scripted, only
from known_positions import TRIPLE_KO, TRIPLE_KO_CYCLE

from tengen import _native
from tengen.coords import from_gtp
from tengen.engine.params import SearchParams
from tengen.engine.search import MoveRestriction, TreeSearch
from tengen.errors import NetworkError
from tengen.evaluators import BatchEvaluator, BySizeEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.evaluators.cached import CachedEvaluator
from tengen.game import BLACK, WHITE, Game

MEGABYTE = 1 << 20


def searched(
    game: Game, visits: int, evaluator: object = None, batch: int = 8, seed: int = 0, **params: object
) -> TreeSearch:
    search = TreeSearch(evaluator or Noise(), SearchParams(**params), batch, seed)  # type: ignore[arg-type]
    search.set_root(game)
    search.run(visits)
    return search


def random_game(size: int, moves: int, seed: int, rules: str = "tromp-taylor") -> Game:
    game, rng = Game(size, rules), np.random.default_rng(seed)
    for _ in range(moves):
        legal = [p for p in game.legal_points() if p < size * size]
        game.play(int(rng.choice(legal)) if legal else None)
    return game


# --- Determinism ---


@pytest.mark.parametrize("batch", [1, 8, 33])
def test_the_same_tree_again(batch: int) -> None:
    first, second = (searched(Game(7), 300, batch=batch, noise_weight=0.25).text(9) for _ in range(2))
    assert first == second


def test_visits_are_exact() -> None:
    for visits in (1, 2, 7, 100, 257):
        assert searched(Game(5), visits).visits == visits
        assert searched(Game(5), visits, batch=1).stats().visits.sum() == visits - 1


def test_a_search_takes_the_batch_that_suits_the_evaluator() -> None:
    """A wrapped one too; a batch that is given stays. A board may have another evaluator."""
    small, large = UniformEvaluator(), UniformEvaluator()
    small.search_batch, large.search_batch = 3, 5
    evaluator = BySizeEvaluator(small, {7: lambda: CachedEvaluator(large, size=10)})
    search = TreeSearch(evaluator)
    for size, rows in ((5, 3), (7, 5), (5, 3)):
        search.set_root(Game(size))
        search.step()  # the root alone
        assert [search.step() for _ in range(2)] == [rows] * 2
    given = TreeSearch(evaluator, batch=4)
    given.set_root(Game(7))
    given.step()
    assert given.step() == 4


def test_a_search_does_not_feel_others() -> None:
    """Interleaved by hand, then in threads of their own: every game finds what it finds alone."""
    games = [random_game(7, 10, seed) for seed in range(4)]
    alone = [searched(game, 200, seed=i, noise_weight=0.2).text(5) for i, game in enumerate(games)]

    def fresh(i: int) -> TreeSearch:
        search = TreeSearch(Noise(), SearchParams(noise_weight=0.2), 8, i)
        search.set_root(games[i])
        return search

    together = [fresh(i) for i in range(4)]
    while any(search.visits < 200 for search in together):
        for search in together:
            search.step(200 - search.visits)
    assert [search.text(5) for search in together] == alone

    threaded = [fresh(i) for i in range(4)]
    workers = [threading.Thread(target=search.run, args=(200,)) for search in threaded]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [search.text(5) for search in threaded] == alone


def test_questions_from_another_thread_disturb_nothing() -> None:
    search = TreeSearch(Noise(), SearchParams(), 8)
    search.set_root(Game(7))
    worker = threading.Thread(target=search.run, args=(600,))
    worker.start()
    while worker.is_alive():
        stats = search.stats()
        if len(stats.point):
            assert len(search.pv(int(stats.point[0]))) <= 20 and search.text(3)
    worker.join()
    assert search.text(9) == searched(Game(7), 600).text(9)


# --- Reuse ---


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_a_game_that_goes_on_keeps_its_tree(moves: int) -> None:
    game = Game(7)
    search = searched(game, 400)
    line = search.pv(int(search.stats().point[0]), 10)[:moves]
    below = search.text(20).splitlines()
    for depth, point in enumerate(line, start=1):
        game.play(point)
        start = next(i for i, text in enumerate(below) if len(text) - len(text.lstrip()) == 2 * depth)
        below = below[start:]
    expected = int(below[0].split()[1])
    search.set_root(game)
    assert search.visits == expected > 2
    assert search.stats().visits.sum() == search.visits - 1
    search.run(500)
    assert search.visits == 500


def test_what_is_not_below_the_root_is_freed() -> None:
    game = Game(7)
    search = searched(game, 400)
    game.play(int(search.stats().point[0]))
    search.set_root(game)
    assert search.nodes <= search.visits
    kept = search.nodes
    assert search.text(50).count("\n") >= kept - 1


@pytest.mark.parametrize("change", ["undo", "komi", "rules", "other move", "turn"])
def test_another_game_starts_afresh(change: str) -> None:
    game = Game(7)
    game.play("C3")
    search = searched(game, 100)
    other = Game(7, komi=0.5 if change == "komi" else 7.5, rules="japanese" if change == "rules" else "chinese")
    if change == "other move":
        other.play("D4")
    elif change == "turn":
        game.play("C4", color=0)
        other = game
    elif change != "undo":
        other.play("C3")
    search.set_root(other)
    assert search.visits == search.nodes == 0
    search.run(10)
    assert search.visits == 10


# --- Memory ---


def test_a_full_tree_is_searched_on_within_its_bound() -> None:
    search = TreeSearch(UniformEvaluator(), SearchParams(memory=MEGABYTE), batch=16)
    search.set_root(Game(19))
    for visits in range(100, 4001, 300):
        search.run(visits)
        assert search.bytes <= search.held_bytes <= MEGABYTE
    assert search.visits == 4000 and search.nodes < 1000
    assert search.is_full
    assert search.stats().visits.sum() == 3999
    before = search.evaluations
    search.run(4100)
    assert search.evaluations == before


@pytest.mark.slow
def test_memory_comes_back_move_by_move() -> None:
    game = Game(9)
    search = TreeSearch(Noise(), SearchParams(memory=MEGABYTE), batch=8)
    grown = 0
    assert not search.is_full
    for _ in range(30):
        search.set_root(game)
        before = search.evaluations
        search.run(search.visits + 3000 if search.visits < 200 else search.visits + 200)
        grown += search.evaluations > before
        assert search.bytes <= search.held_bytes <= MEGABYTE
        game.play(search.choose())
    assert grown >= 25


@pytest.mark.parametrize("selection", ["puct", "puct-katago", "gumbel"])
def test_a_kept_tree_grows_until_the_memory_is_used_up(selection: str) -> None:
    """Although what the last move freed are small blocks."""
    game = Game(9)
    search = TreeSearch(UniformEvaluator(), SearchParams(selection=selection, memory=MEGABYTE), batch=16)
    for _ in range(5):
        search.set_root(game)
        search.run(search.visits + 4000)
        assert search.is_full and search.bytes > 0.9 * MEGABYTE
        game.play(search.choose(0))


def test_an_evaluated_node_of_19x19_takes_at_most_1500_bytes() -> None:
    search = searched(Game(19), 600, UniformEvaluator())
    assert search.bytes / search.nodes <= 1536


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="memory"):
        SearchParams(memory=1000)


# --- The rules in the tree ---


def moves_of(text: str) -> list[list[str]]:
    """Every line of play that a printed tree holds."""
    lines: list[list[str]] = []
    path: list[str] = []
    for line in text.splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        path = [*path[: depth - 1], line.split()[0]]
        lines.append(path)
    return lines


@pytest.mark.parametrize("rules", ["tromp-taylor", "ko=situational,suicide=false", "japanese"])
def test_every_move_in_the_tree_is_legal(rules: str) -> None:
    for seed in range(6):
        root = random_game(5, 60, seed, rules)
        search = searched(root, 250, seed=seed, prune_eyes=False)
        for line in moves_of(search.text(30)):
            game = root.copy()
            for vertex in line:
                game.play(vertex)  # raises IllegalMove
        points = search.stats().point.tolist()
        assert sorted(points) == sorted({*root.legal_points(), 25})


@pytest.mark.parametrize("played", range(5))
@pytest.mark.parametrize("rules, banned", [("ko=positional", True), ("ko=situational", True), ("ko=simple", False)])
def test_superko_binds_in_the_tree(rules: str, banned: bool, played: int) -> None:
    """The earlier position lies in the game's own history, or on the way through the tree, or half and half."""
    game = Game.from_diagram(TRIPLE_KO, rules)
    for vertex in TRIPLE_KO_CYCLE[:played]:
        game.play(vertex)
    wanted = np.zeros(82, np.float32)
    wanted[[from_gtp(vertex, 9) for vertex in TRIPLE_KO_CYCLE]] = 1
    search = searched(game, 2000, Scripted(policy=lambda view: wanted), prune_eyes=False)
    lines = moves_of(search.text(6))
    assert TRIPLE_KO_CYCLE[played:5] in lines
    assert (TRIPLE_KO_CYCLE[played:] in lines) != banned


def test_own_eyes_are_filled_only_without_pruning() -> None:
    game = Game.from_diagram(". X . X .\nX X X X X\n. . . . .\nO O O O O\n. O . O .")
    eyes = {0, 2, 4}
    assert not eyes & set(searched(game, 20).stats().point.tolist())
    assert eyes <= set(searched(game, 20, prune_eyes=False).stats().point.tolist())


# --- The root ---


def test_moves_at_the_root_are_allowed_and_avoided() -> None:
    game = Game(7)
    search = TreeSearch(Noise())
    search.set_root(game, [*only([3, 5, 8]), MoveRestriction(BLACK, [5])])
    search.run(100)
    stats = search.stats()
    assert sorted(stats.point.tolist()) == [3, 8] and stats.visits.sum() == 99
    search.set_root(game, [MoveRestriction(BLACK, [3])])
    search.run(300)
    stats = search.stats()
    assert 3 not in stats.point and len(stats.point) == 49
    search.set_root(game)
    search.run(300)
    assert len(search.stats().point) == 50
    game.play(3)
    with pytest.raises(ValueError, match="legal"):
        search.set_root(game, only([3], WHITE))
    with pytest.raises(ValueError, match="legal"):
        search.set_root(game, [MoveRestriction(WHITE, range(50))])


def test_an_allowed_eye_is_played_after_all() -> None:
    game = Game.from_diagram(". X . X .\nX X X X X\n. . . . .\nO O O O O\n. O . O .")
    search = searched(game, 20)
    search.set_root(game, only([0]))
    search.run(5)
    assert search.choose() == 0


def test_noise_stirs_the_visits_and_nothing_else() -> None:
    plain = searched(Game(7), 200)
    a, b, again = (searched(Game(7), 200, seed=seed, noise_weight=0.5) for seed in (1, 2, 1))
    assert a.text() == again.text() != b.text()
    assert a.text() != plain.text()
    prior = {int(p): x for p, x in zip(plain.stats().point, plain.stats().prior, strict=True)}
    for point, x in zip(a.stats().point, a.stats().prior, strict=True):
        assert x == prior[int(point)]  # what is reported stays the network's


def test_a_high_root_temperature_spreads_the_visits() -> None:
    def tried(temperature: float) -> int:
        return int((searched(Game(7), 150, root_temperature=temperature).stats().visits > 0).sum())

    assert tried(0.3) < tried(1.0) < tried(3.0)


def test_ownership_is_the_mean_for_the_side_to_move() -> None:
    """The evaluator gives Black everything."""
    game = Game(5)
    search = searched(game, 50, Scripted(), ownership=True)
    assert search.ownership is not None and np.allclose(search.ownership, 1)
    game.play(int(search.stats().point[0]))
    search.set_root(game)
    assert search.visits > 1 and search.ownership is None
    assert search.step(1) == 1  # the kept root once more, for this alone
    assert search.ownership is not None and np.allclose(search.ownership, -1)
    assert searched(game, 50, Scripted()).ownership is None


def test_temperature_draws_from_the_visits() -> None:
    search = searched(Game(5), 100)
    stats = search.stats()
    drawn = np.bincount([search.choose(temperature=1.0) for _ in range(4000)], minlength=26)
    expected = np.zeros(26)
    expected[stats.point] = stats.visits / stats.visits.sum()
    assert np.abs(drawn / 4000 - expected).max() < 0.03
    assert len({search.choose() for _ in range(20)}) == 1


# --- Failures ---


class Failing(BatchEvaluator):
    """Evaluates `good` batches, then does what it is told to."""

    name, plane_set = "failing", "tengen"

    def __init__(self, good: int, fail: Callable[[Evaluation], Evaluation]) -> None:
        self.good, self._fail = good, fail

    def infer(self, batch: InputBatch) -> Evaluation:
        self.good -= 1
        result = Noise().infer(batch)
        return result if self.good >= 0 else self._fail(result)


def test_a_failing_evaluator_leaves_the_search_intact() -> None:
    def interrupt(result: Evaluation) -> Evaluation:
        raise KeyboardInterrupt

    failing = Failing(5, interrupt)
    search = searched(Game(7), 0, failing)
    with pytest.raises(KeyboardInterrupt):
        search.run(200)
    visits, text = search.visits, search.text(9)
    failing.good = 1 << 30
    assert search.stats().visits.sum() == visits - 1
    assert text == searched(Game(7), visits).text(9)
    search.run(200)
    assert search.visits == 200


def test_an_evaluation_that_is_not_finite_is_an_error() -> None:
    def poison(result: Evaluation) -> Evaluation:
        result.value[-1] = np.nan
        return result

    search = searched(Game(7), 0, Failing(2, poison))
    with pytest.raises(NetworkError, match="failing: an evaluation is not finite"):
        search.run(100)
    assert np.isfinite(search.value)


def test_an_evaluator_with_unknown_planes() -> None:
    with pytest.raises(NetworkError, match="nonesuch"):
        TreeSearch(UniformEvaluator("nonesuch")).set_root(Game(5))


def test_wrong_settings_are_refused() -> None:
    for wrong in ({"c_puct": -1}, {"c_put": 1}, {"noise_weight": 2}, {"selection": "ucb"}, {"temperature": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SearchParams(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="batch"):
        TreeSearch(UniformEvaluator(), batch=0)
    with pytest.raises(RuntimeError, match="set_root"):
        TreeSearch(UniformEvaluator()).run(1)


def test_a_deep_tree_has_one_line_for_each_move() -> None:
    params = SearchParams(memory=1 << 24, candidate_max=1, priors="local", playout="uniform", playouts=1)
    search = _native.Search(params.model_copy(update={"playout_weight": 1}).native(), 1)
    search.set_root(Game(9).native())
    search.run(60)
    lines = search.text(60, 1).splitlines()
    assert len(lines) > 50
    assert all(line.startswith("  " * level) and len(line.split()) == 4 for level, line in enumerate(lines) if level)
