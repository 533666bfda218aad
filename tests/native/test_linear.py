"""The linear playout policy against plain Python: what its features tell apart, and how its trainer learns."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from known_games import tygem_records

import tengen
from tengen import _native
from tengen.coords import MAX_SIZE
from tengen.game import Game

GROUPS = {name: (first, count) for name, first, count in _native.linear_groups()}
NONE = np.zeros(0, np.uint16)
Words = npt.NDArray[np.uint16]


def real_games(count: int) -> list[Words]:
    from tengen.sgf.main_line import read_record

    return [np.array(read_record(record).moves, np.uint16) for record in tygem_records()[:count]]


def replay(moves: Words, size: int = 19) -> Game:
    game = Game(size, rules="japanese")
    for move in moves:
        game.play(int(move & 0x7FFF), color=int(move >> 15))
    return game


def around(length: int) -> list[tuple[int, int]]:
    reach = range(-3, 4)
    steps = [(r, c) for r in reach for c in reach if (r, c) != (0, 0)]
    return [(r, c) for r, c in steps if abs(r) + abs(c) + max(abs(r), abs(c)) <= length]


class Chains:
    """A game with the liberties of every stone, counted by flood."""

    def __init__(self, game: Game) -> None:
        self.size, self.to_play, self.board = game.size, game.to_play, np.array(game.board)
        self.liberties = np.zeros_like(self.board, dtype=np.int64)
        for start in zip(*np.nonzero(self.board != 2), strict=True):
            if not self.liberties[start]:
                self._flood(start)

    def _flood(self, start: tuple[int, int]) -> None:
        chain, free, color = {start}, set(), self.board[start]
        rest = [start]
        while rest:
            r, c = rest.pop()
            for n in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                if not (0 <= n[0] < self.size and 0 <= n[1] < self.size):
                    continue
                if self.board[n] == 2:
                    free.add(n)
                elif self.board[n] == color and n not in chain:
                    chain.add(n)
                    rest.append(n)
        for stone in chain:
            self.liberties[stone] = len(free)


def plain_pattern(game: Chains, point: int, steps: list[tuple[int, int]]) -> tuple[tuple[object, ...], ...]:
    """What the side to move sees around a point, the least of its eight turned and mirrored forms."""
    size, side, board, liberties = game.size, game.to_play, game.board, game.liberties
    row, column = divmod(point, size)

    def seen(step: tuple[int, int]) -> tuple[object, ...]:
        r, c = row + step[0], column + step[1]
        if not (0 <= r < size and 0 <= c < size):
            return ("off",)
        if board[r, c] == 2:
            return ("empty",)
        beside = abs(step[0]) + abs(step[1]) == 1
        return ("own" if board[r, c] == side else "enemy", min(3, int(liberties[r, c])) if beside else 0)

    forms = []
    for flip_rows in (1, -1):
        for flip_columns in (1, -1):
            for swap in (False, True):
                turned = [(r * flip_rows, c * flip_columns) for r, c in steps]
                forms.append(tuple(seen((c, r) if swap else (r, c)) for r, c in turned))
    return min(forms)


@pytest.mark.parametrize(("group", "length"), [("pattern 3x3", 3), ("pattern 12-point", 4), ("pattern 28-point", 6)])
def test_patterns_tell_apart_what_looks_different(group: str, length: int) -> None:
    """Patterns that are equal up to symmetry share a feature; others only where hashes collide."""
    first, count = GROUPS[group]
    steps = around(length)
    by_pattern: dict[object, set[int]] = {}
    for number, moves in enumerate(real_games(6)):
        game = replay(moves[: 40 + 35 * number])
        plain = Chains(game)
        for point, features in _native.linear_features(game.native()):
            (feature,) = (f for f in features if first <= f < first + count)
            by_pattern.setdefault(plain_pattern(plain, point, steps), set()).add(feature)
    assert all(len(found) == 1 for found in by_pattern.values())
    assert len(by_pattern) > 200
    distinct = len({next(iter(found)) for found in by_pattern.values()})
    expected = count * (1 - (1 - 1 / count) ** len(by_pattern))  # of so many balls thrown into `count` bins
    assert distinct > expected - 5 * np.sqrt(len(by_pattern) - expected + 1)


def special(game: Game, group: str) -> dict[int, list[int]]:
    """The features of a small group, counted from its first, by point."""
    first, count = GROUPS[group]
    found = {
        p: sorted(f - first for f in features if first <= f < first + count)
        for p, features in _native.linear_features(game.native())
    }
    return {point: features for point, features in found.items() if features}


def test_an_atari_by_the_last_move_is_seen() -> None:
    game = Game.from_diagram("""
        . . . . . . .
        . . . . . . .
        . . . O X . .
        . . O X . X .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    quiet = game.copy().play("A1", color=1)
    assert special(quiet, "save from atari") == {}
    game.play("E4", color=1)  # D4 has only D3 left, and so E4 has only E3
    extend_to_three, counter_capture, capture_last = 2, 3, 4
    assert special(game, "save from atari") == {
        game.point("D3"): [extend_to_three],
        game.point("E3"): [counter_capture, capture_last],
    }


def test_an_eye_space_beside_the_last_move_is_seen() -> None:
    """Three in a row: the ends look alike, the middle does not."""
    game = Game.from_diagram("""
        . . . . . . .
        O O O O O O .
        X X X X X O .
        X . . . . O .
        X X X X X O .
        . . . . . O .
        . . . . . . .
    """)
    game.play("G4", color=1)
    assert special(game, "nakade") == {}
    game.play("G1", color=0).play("E4", color=1)
    found = special(game, "nakade")
    assert sorted(found) == [game.point(v) for v in ("B4", "C4", "D4")]
    assert found[game.point("B4")] == found[game.point("D4")] != found[game.point("C4")]


@pytest.mark.parametrize("player", [2, 1])
def test_the_trainer_is_softmax_regression_by_adagrad(player: int) -> None:
    """A twin in numpy, fed with the features alone, learns the same weights; its gradient is that of the loss."""
    moves = real_games(1)[0][:60]
    trainer = _native.LinearTrainer()
    figures = trainer.learn(19, NONE, NONE, moves, 0.1, player)
    weights = np.zeros(_native.LINEAR_FEATURES)
    squares = np.full(_native.LINEAR_FEATURES, 1e-6)
    loss, hits = 0.0, 0.0
    for ply, move in enumerate(moves):
        if player != 2 and move >> 15 != player:
            continue
        game = replay(moves[:ply])
        points, rows = zip(*_native.linear_features(game.native()), strict=True)
        chances = softmax(weights, rows)
        at = points.index(int(move & 0x7FFF))
        loss -= float(np.log(chances[at]))
        ahead, ties = (chances > chances[at] + 1e-9).sum(), (np.abs(chances - chances[at]) < 1e-9).sum()
        hits += float(np.clip((1 - ahead) / ties, 0, 1))
        slopes = (np.arange(len(points)) == at) - chances
        if ply in (5, 40):
            check_gradient(weights, rows, at, slopes)
        for slope, row in zip(slopes, rows, strict=True):
            if abs(slope) < 1e-4:
                continue
            for f in row:
                squares[f] += slope**2
                weights[f] += 0.1 * slope / np.sqrt(squares[f])
    assert figures[0] == (60 if player == 2 else 30)
    assert figures[1] == pytest.approx(hits, abs=0.05)
    assert figures[3] == pytest.approx(loss, rel=1e-4)
    assert np.abs(trainer.weights() - weights).max() < 2e-3
    assert np.abs(weights).max() > 0.2


def softmax(weights: npt.NDArray[np.float64], rows: tuple[list[int], ...]) -> npt.NDArray[np.float64]:
    logits = np.array([weights[row].sum() for row in rows])
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum())


def check_gradient(
    weights: npt.NDArray[np.float64], rows: tuple[list[int], ...], at: int, slopes: npt.NDArray[np.float64]
) -> None:
    """The slopes, summed over the moves that have a feature, are the derivative of the log-likelihood."""
    for feature in {f for row in rows[:: max(1, len(rows) // 20)] for f in row}:
        gradient = sum(slope * row.count(feature) for slope, row in zip(slopes, rows, strict=True))
        moved = []
        for step in (1e-5, -1e-5):
            changed = weights.copy()
            changed[feature] += step
            moved.append(np.log(softmax(changed, rows)[at]))
        assert (moved[0] - moved[1]) / 2e-5 == pytest.approx(gradient, abs=1e-6)


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[None]:
    """Makes `linear` a policy whose weights we chose."""
    weights = np.zeros(_native.LINEAR_FEATURES, np.int8)
    for group, most in (("from the last move", 30), ("place and stage", 20), ("pattern 3x3", 16)):
        first, count = GROUPS[group]
        weights[first : first + count] = np.random.default_rng(count).integers(-most, most, count)
    path = tmp_path / "planted.playout"
    _native.write_linear_weights(str(path), b"{}", weights)
    _native.set_linear_path(str(path))
    yield
    _native.set_linear_path(str(Path(tengen.__file__).parent / "nets" / "linear-tygem.playout"))


def test_the_trainer_learns_a_planted_policy(planted: None) -> None:
    """From moves drawn by a policy whose weights we choose, it learns to predict as well as that policy itself can."""
    random = np.random.default_rng(3)

    def game_of(length: int) -> tuple[Words, float]:
        game, moves, entropy = Game(7), [], 0.0
        for _ in range(length):
            chances = _native.playout_weights(game.native(), "linear").astype(np.float64)
            chances /= chances.sum()
            point = int(random.choice(len(chances), p=chances))
            entropy -= np.log(chances[point])
            moves.append(point | game.to_play << 15)
            game.play(point)
        return np.array(moves, np.uint16), entropy

    games = [game_of(20) for _ in range(400)]
    trainer = _native.LinearTrainer()
    for moves, _ in games[:340] * 3:
        trainer.learn(7, NONE, NONE, moves, 0.1)
    held_out = games[340:]
    best = sum(entropy for _, entropy in held_out) / (20 * len(held_out))
    found = [trainer.judge(7, NONE, NONE, moves, ply) for moves, _ in held_out for ply in range(20)]
    untaught = [_native.LinearTrainer().judge(7, NONE, NONE, held_out[0][0], ply)[3] for ply in range(20)]
    learned = float(np.mean([figures[3] for figures in found]))
    print(best, learned, np.mean(untaught))
    assert learned < best + 0.35 * (np.mean(untaught) - best)


def test_a_trainer_goes_on_from_its_state() -> None:
    games = real_games(4)
    whole, part, rest = (_native.LinearTrainer() for _ in range(3))
    for moves in games:
        whole.learn(19, NONE, NONE, moves, 0.05)
    for moves in games[:2]:
        part.learn(19, NONE, NONE, moves, 0.05)
    rest.restore(part.weights(), part.squares())
    for moves in games[2:]:
        rest.learn(19, NONE, NONE, moves, 0.05)
    assert np.array_equal(whole.weights(), rest.weights())
    assert np.array_equal(whole.steps(), np.clip(np.rint(whole.weights() * _native.LINEAR_SCALE), -127, 127))


def test_what_is_no_game_is_refused() -> None:
    trainer = _native.LinearTrainer()
    move = np.array([40, 40], np.uint16)
    with pytest.raises(ValueError, match="a stone on point 40"):
        trainer.learn(9, NONE, NONE, move, 0.1)
    with pytest.raises(ValueError, match="a stone on point 82"):
        trainer.learn(9, NONE, NONE, np.array([82], np.uint16), 0.1)
    with pytest.raises(ValueError, match="a stone on point 81"):
        trainer.learn(9, np.array([81], np.uint16), NONE, move, 0.1)
    with pytest.raises(ValueError, match="board size"):
        trainer.learn(MAX_SIZE + 1, NONE, NONE, move, 0.1)
    with pytest.raises(ValueError, match="no move 2 in 2"):
        trainer.judge(9, NONE, NONE, move, 2)
    with pytest.raises(ValueError, match=str(_native.LINEAR_FEATURES)):
        trainer.restore(np.zeros(3, np.float32), np.zeros(3, np.float32))
    with pytest.raises(ValueError, match=str(_native.LINEAR_FEATURES)):
        _native.write_linear_weights("/tmp/never", b"", np.zeros(3, np.int8))


def test_setup_stones_count_and_passes_teach_nothing() -> None:
    trainer = _native.LinearTrainer()
    black = np.array([20, 24], np.uint16)
    moves = np.array([40 | 1 << 15, 81, 81 | 1 << 15], np.uint16)
    assert trainer.learn(9, black, NONE, moves, 0.1)[0] == 1
    assert trainer.judge(9, black, NONE, moves, 1) == (0, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="a stone on point 20"):
        trainer.learn(9, black, NONE, np.array([20], np.uint16), 0.1)


def test_weights_in_use_are_read_again_only_where_the_file_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "weights.playout"
    shutil.copy(Path(tengen.__file__).parent / "nets" / "linear-tygem.playout", path)
    params = _native.SearchParams()
    params.priors = params.playout = f"linear:{path}"
    params.playouts = 1
    used = _native.Search(params, 1)
    times = path.stat()
    path.write_bytes(b"another file")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    _native.Search(params, 1)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10**9))
    with pytest.raises(ValueError, match="no file of linear playout weights"):
        _native.Search(params, 1)
    path.unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        _native.Search(params, 1)
    del used


def test_a_trainer_serves_one_thread_at_a_time() -> None:
    """Threads that learn the same game give the weights of one that learns it as often."""
    (moves,) = real_games(1)
    alone, shared = _native.LinearTrainer(), _native.LinearTrainer()

    def learn(trainer: _native.LinearTrainer, times: int) -> None:
        for _ in range(times):
            trainer.learn(19, NONE, NONE, moves, 0.05)
            trainer.judge(19, NONE, NONE, moves, 50)

    learn(alone, 12)
    threads = [threading.Thread(target=learn, args=(shared, 4)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(alone.weights(), shared.weights())


@pytest.mark.parametrize("name", ["w\u00e4ights-\u56f2\u7881.playout", os.fsdecode(b"weights-\xff.playout")])
def test_weights_lie_in_files_of_any_name(name: str, tmp_path: Path) -> None:
    path, steps = tmp_path / name, np.zeros(_native.LINEAR_FEATURES, np.int8)
    steps[7] = 3
    try:
        _native.write_linear_weights(path, b"{}", steps)
    except ValueError:
        pytest.skip("the file system takes no such name")
    np.testing.assert_array_equal(_native.read_linear_weights(path), steps)
    if name.isprintable():
        assert _native.playout_weights(Game(5).native(), f"linear:{path}").any()
