"""Many games at once: each finds what it finds alone, and a failure stays with the game that it comes from."""

import hashlib
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tengen.engine.params import SearchParams
from tengen.engine.pool import SearchPool
from tengen.engine.search import SearchView, TreeSearch
from tengen.errors import NetworkError
from tengen.evaluators import BatchEvaluator, BySizeEvaluator, Evaluation, InputBatch, UniformEvaluator
from tengen.game import Game

MOVES, VISITS = 3, 24
NOISY = SearchParams(noise_weight=0.25, temperature=1.0, ownership=True)


class Checksum(BatchEvaluator):
    """Priors, values and owners drawn from a position alone: neither the rows beside it nor the edge count."""

    name, plane_set = "checksum", "tengen"

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, scalars, mask = batch.arrays
        rows, edge, _ = mask.shape
        result = Evaluation(
            policy=np.zeros((rows, edge * edge + 1), np.float32),
            value=np.zeros(rows, np.float32),
            score=np.zeros(rows, np.float32),
            ownership=np.zeros_like(mask),
        )
        for row in range(rows):
            size = int(mask[row, 0].sum())
            digest = hashlib.sha256(planes[row, :, :size, :size].tobytes() + scalars[row].tobytes()).digest()
            drawn = np.random.default_rng(int.from_bytes(digest[:8], "little")).random((2, size, size), np.float32)
            result.policy[row, :-1].reshape(edge, edge)[:size, :size] = drawn[0] ** 2
            result.policy[row, -1] = 0.05
            result.ownership[row, :size, :size] = 2 * drawn[1] - 1
            result.value[row] = 2 * drawn[0, 0, 0] - 1
            result.score[row] = 10 * result.value[row]
        return result


def start(i: int, sizes: tuple[int, ...]) -> Game:
    return Game(sizes[i % len(sizes)], "tromp-taylor", 0.5 + i % 5)


def story(search: SearchView, move: int | None) -> tuple[object, ...]:
    """All that a search knows, to the last bit."""
    stats, owners = search.stats(), search.ownership
    names = ("point", "visits", "value", "score", "utility", "utility_lcb")
    arrays = [getattr(stats, name).tobytes() for name in names]
    return search.text(99), search.visits, search.value, arrays, owners is not None and owners.tobytes(), move


def play_alone(i: int, batch: int, sizes: tuple[int, ...]) -> list[tuple[object, ...]]:
    game, told = start(i, sizes), []
    search = TreeSearch(Checksum(), NOISY, batch, seed=i)
    for _ in range(MOVES):
        search.set_root(game)
        search.run(VISITS)
        move = search.choose()
        told.append(story(search, move))
        game.play(move)
    return told


def play_together(
    games: int, batch: int, threads: int, sizes: tuple[int, ...]
) -> tuple[list[list[tuple[object, ...]]], SearchPool]:
    pool = SearchPool(Checksum(), NOISY, games, batch, threads=threads)
    boards: list[Game] = [start(i, sizes) for i in range(games)]
    told: list[list[tuple[object, ...]]] = [[] for _ in boards]
    for _ in range(MOVES):
        for i, game in enumerate(boards):
            pool.set_root(i, game)
        pool.run(VISITS)
        for i, game in enumerate(boards):
            move = pool[i].choose()
            told[i].append(story(pool[i], move))
            game.play(move)
    return told, pool


@pytest.mark.slow
@pytest.mark.parametrize(("games", "batch", "threads", "sizes"), [(256, 1, 2, (7,)), (33, 5, 3, (5, 9, 6, 13))])
def test_a_game_in_a_pool_finds_what_it_finds_alone(
    games: int, batch: int, threads: int, sizes: tuple[int, ...]
) -> None:
    told, _ = play_together(games, batch, threads, sizes)
    assert len({str(tale) for tale in told}) > games / 2, "the games differ, so that equality says something"
    for i in range(games):
        assert told[i] == play_alone(i, batch, sizes), f"game {i}"
    one_thread, _ = play_together(games, batch, 1, sizes)
    assert one_thread == told


def test_small_trees_have_small_batches_with_katagos_selection_as_they_have_alone() -> None:
    params = SearchParams.preset("katago")
    pool = SearchPool(Checksum(), params, 2, batch_per_game=8, threads=2)
    alone = [TreeSearch(Checksum(), params, 8, seed=i) for i in range(2)]
    for i, search in enumerate(alone):
        pool.set_root(i, start(i, (7, 5)))
        search.set_root(start(i, (7, 5)))
        search.run(150)
    pool.run(150)
    for i, search in enumerate(alone):
        assert story(pool[i], pool[i].choose()) == story(search, search.choose())


def test_limits_say_how_far_each_game_goes() -> None:
    pool = SearchPool(UniformEvaluator(), games=4, batch_per_game=3)
    for i in (0, 1, 3):
        pool.set_root(i, Game(7))
    assert pool.step() == 3  # the roots; game 2 has none and rests
    assert pool.step([1, 0, 9, 9]) == 4
    assert pool.visits.tolist() == [2, 1, 0, 4]
    pool.run([10, 5, 99, 4])
    assert pool.visits.tolist() == [10, 5, 0, 4]
    assert pool.evaluations == 19


def test_two_pools_in_two_threads() -> None:
    """One gathers while the other is evaluated: the same trees as one after the other."""
    pools = [SearchPool(Checksum(), NOISY, 3, 2, seed=10 * half) for half in range(2)]
    plain = [SearchPool(Checksum(), NOISY, 3, 2, seed=10 * half) for half in range(2)]
    for pool in (*pools, *plain):
        for i in range(3):
            pool.set_root(i, start(i, (5, 7)))

    def work(pool: SearchPool) -> None:
        for _ in range(10):
            pool.step()

    threads = [threading.Thread(target=work, args=(pool,)) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for pool, twin in zip(pools, plain, strict=True):
        for _ in range(10):
            twin.step()
        assert [pool[i].text(99) for i in range(3)] == [twin[i].text(99) for i in range(3)]


def test_networks_of_different_encodings_serve_one_pool() -> None:
    """Each board is searched as by its own network alone."""
    small, large = Checksum(), Checksum()
    small.plane_set = "cody3"
    both = BySizeEvaluator(large, {5: lambda: small})
    pool = SearchPool(both, NOISY, 6, 2)
    trees = [TreeSearch((large, small)[i % 2], NOISY, 2, seed=i) for i in range(6)]
    for i, tree in enumerate(trees):
        for search in (tree.set_root, partial(pool.set_root, i)):
            search(start(i, (7, 5)))
        tree.run(VISITS)
    pool.run(VISITS)
    assert [pool[i].text(99) for i in range(6)] == [tree.text(99) for tree in trees]
    assert pool.evaluations == sum(tree.evaluations for tree in trees)


class Failing(Checksum):
    def __init__(self, row: int | None) -> None:
        self.row = row
        self.fails = False

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        if not self.fails:
            return result
        if self.row is None:
            raise OSError("the network is gone")
        value = result.value.copy()
        value[self.row] = np.nan
        return replace(result, value=value)


def failed(row: int | None, error: type[Exception]) -> SearchPool:
    """A pool of three games after four good rounds and a bad one."""
    evaluator = Failing(row)
    pool = SearchPool(evaluator, games=3)
    for i in range(3):
        pool.set_root(i, Game(5 + i))
    for _ in range(4):
        pool.step()
    evaluator.fails = True
    with pytest.raises(error):
        pool.step()
    evaluator.fails = False
    return pool


def test_a_failed_evaluation_leaves_all_games_as_they_were() -> None:
    pool = failed(None, OSError)
    assert pool.visits.tolist() == [4, 4, 4]
    pool.step()
    good = SearchPool(Checksum(), games=3)
    for i in range(3):
        good.set_root(i, Game(5 + i))
    for _ in range(5):
        good.step()
    assert [pool[i].text(9) for i in range(3)] == [good[i].text(9) for i in range(3)]


def test_a_bad_row_costs_its_own_game_alone() -> None:
    pool = failed(1, NetworkError)
    assert pool.visits.tolist() == [5, 4, 5]
    pool.step()
    assert pool.visits.tolist() == [6, 5, 6]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"games": 0}, "0 games"),
        ({"batch_per_game": 0}, "0 positions"),
        ({"games": 3, "seed": [1, 2]}, "as many seeds, not 2"),
        ({"threads": 0}, "threads must be 1 to 1024, not 0"),
        ({"seed": -1}, "seed must lie between 0 and .*, not -1"),
        ({"games": 2, "seed": [3, 2**64]}, "seed must lie between 0 and .*, not 18446744073709551616"),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchPool(UniformEvaluator(), **settings)  # type: ignore[arg-type]


def test_a_seed_may_be_one_of_numpys_integers() -> None:
    def moves(seed: object) -> list[int | None]:
        pool = SearchPool(UniformEvaluator(), SearchParams(temperature=1), games=3, seed=seed)  # type: ignore[arg-type]
        for i in range(3):
            pool.set_root(i, Game(5))
        pool.run(20)
        return [pool[i].choose(1) for i in range(3)]

    assert moves(np.int64(7)) == moves(7) == moves([7, 8, 9])


def test_calls_out_of_order_are_refused() -> None:
    pool = SearchPool(UniformEvaluator(), games=2)
    with pytest.raises(RuntimeError, match="no game of the pool has a root"):
        pool.step()
    pool.set_root(0, Game(5))
    with pytest.raises(ValueError, match="as many limits, not 3"):
        pool.step([1, 1, 1])
    with pytest.raises(ValueError, match="game 0 has a limit of -1"):
        pool.step(-1)
    assert pool.step() == 1


def test_what_a_game_found_outlives_the_pool() -> None:
    pool = SearchPool(UniformEvaluator(), games=2)
    pool.set_root(1, Game(5))
    pool.run(30)
    view, text = pool[1], pool[1].text(9)
    del pool
    assert view.text(9) == text


@pytest.mark.linux
def test_a_system_without_threads_to_spare_plays_with_those_that_there_are() -> None:
    program = """if True:
        import resource
        from tengen.engine.params import SearchParams
        from tengen import _native

        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (300 << 20),) * 2)
        _native.SearchPool(SearchParams(memory=1 << 22).native(), [1, 2], 400)
        print("made")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "made\n", done.stderr


def test_a_search_that_was_restarted_finds_what_a_new_one_finds() -> None:
    pool = SearchPool(Checksum(), NOISY, 2, seed=[7, 8])
    for i in (0, 1):
        pool.set_root(i, start(i, (7,)))
    pool.run(VISITS)
    kept = pool[0].text(99)
    pool.restart(1, 1)
    pool.run(VISITS)
    assert pool[1].visits == 0, "it rests until it has a root"
    pool.set_root(1, start(1, (7,)))
    pool.run(VISITS)
    alone = TreeSearch(Checksum(), NOISY, 1, seed=1)
    alone.set_root(start(1, (7,)))
    alone.run(VISITS)
    assert story(pool[1], None) == story(alone, None)
    assert pool[0].text(99) == kept


def test_the_rows_of_a_root_alone_have_its_optimism() -> None:
    """Three symmetries of each root, in batches of two: as alone, and the share of optimism is that of the root."""

    class Optimistic(Checksum):
        has_optimism = True

        def __init__(self) -> None:
            self.shares: list[float] = []

        def infer(self, batch: InputBatch) -> Evaluation:
            assert batch.optimism is not None
            self.shares.extend(batch.optimism.tolist())
            result = super().infer(batch)
            return replace(result, policy=result.policy ** (1 + batch.optimism[:, None]))

    params = SearchParams(root_symmetries=3, leaf_symmetry="random", root_policy_optimism=0.5)
    together = Optimistic()
    pool = SearchPool(together, params, games=3, batch_per_game=2)
    told = []
    for i in range(3):
        pool.set_root(i, start(i, (5, 7)))
        alone = Optimistic()
        search = TreeSearch(alone, params, 2, seed=i)
        search.set_root(start(i, (5, 7)))
        search.run(30)
        assert alone.shares[:3] == [0.5] * 3 and set(alone.shares[3:]) == {1.0}
        told.append(search.text(99))
    pool.run(30)
    assert [pool[i].text(99) for i in range(3)] == told
    assert sorted(together.shares)[:10] == [0.5] * 9 + [1.0]
