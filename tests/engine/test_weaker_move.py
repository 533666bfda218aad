"""Weaker moves: a slow twin in plain Python decides on each of many positions which moves were allowed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plain_go
import pytest
from known_answers import Scripted, View

from tengen.engine import Engine, Limits, Style
from tengen.engine.weaker_move import MAX_ESTIMATED, NEAR, considered, losses, weaker_move
from tengen.errors import RecipeError
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.game import Game

SIZE = 7
PASS = SIZE * SIZE


def numbers(view: View, count: int) -> np.ndarray:
    """Numbers in [0, 1) that depend on nothing but the position."""
    return np.random.default_rng([*sorted(view.black), 99, *sorted(view.white)]).random(count)


def peaked(view: View) -> np.ndarray:
    """A policy with few probable moves, in which a pass is the most probable one at times."""
    weights = numbers(view, PASS + 1) ** 12
    weights[PASS] **= 0.2
    return (weights / weights.sum()).astype(np.float32)


EVALUATOR = Scripted(policy=peaked, score=lambda view: float(numbers(view, 1)[0]) * 20)


def position(seed: int) -> Game:
    """A position of a random game without moves into own eyes."""
    rng, game = random.Random(seed), Game(SIZE)
    for _ in range(rng.randrange(45)):
        eyes = game.true_eyes(game.to_play)
        points = [p for p in game.legal_points() if p not in eyes]
        game.play(rng.choice(points) if points else "pass")
        if game.is_over:
            return position(seed + 1000)
    return game


def policy_of(game: Game) -> np.ndarray:
    return EVALUATOR.evaluate([game]).policy[0].astype(np.float64)


def is_own_eye(board: Sequence[int], point: int, color: int) -> bool:
    """A point whose neighbors are all of the color, and at most one diagonal (none at the edge) is the opponent's."""
    if any(board[n] != color for n in plain_go.neighbors(board, point)):
        return False
    row, col = divmod(point, SIZE)
    corners = [(row + i, col + j) for i in (-1, 1) for j in (-1, 1)]
    inside = [r * SIZE + c for r, c in corners if 0 <= r < SIZE and 0 <= c < SIZE]
    return sum(board[p] == 1 - color for p in inside) <= (1 if len(inside) == 4 else 0)


def plain_losses(game: Game, moves: Sequence[int]) -> dict[int, float]:
    """The loss of each move, by one evaluation at a time."""
    scores = {}
    for point in moves:
        after = game.copy().play(point)
        found = EVALUATOR.evaluate([after]).score
        assert found is not None
        scores[point] = -float(found[0])
    return {point: max(scores.values()) - score for point, score in scores.items()}


@pytest.mark.parametrize("floor", [0.0, 0.01, 0.2])
def test_moves_are_probable_and_neither_own_eyes_nor_early_passes(floor: float) -> None:
    passes = early = 0
    for seed in range(60):
        game = position(seed)
        policy = policy_of(game)
        if sum(color < 2 for color in game.board.ravel()) < 0.3 * PASS and game.moves and game.moves[-1][1] != PASS:
            early += int(policy.argmax() == PASS)
            policy[PASS] = 0.0  # no pass here, however probable it is
        board = [int(color) for color in game.board.ravel()]
        good = [p for p in game.legal_points() if not is_own_eye(board, p, game.to_play)]
        best = max((policy[p] for p in good), default=0.0)
        expected = {p for p in good if policy[p] >= floor * max(best, policy[PASS])}
        if policy[PASS] > best or not good:
            expected, passes = {PASS}, passes + 1
        found = considered(game, policy_of(game), floor).tolist()
        assert set(found) == expected
        assert found == sorted(found, key=lambda p: -policy[p])
    assert passes and early, "no position in which a pass is best"


@pytest.mark.parametrize("mean", [0.5, 3.0, 8.0])
def test_the_loss_is_as_near_below_the_drawn_one_as_the_moves_allow(mean: float) -> None:
    """The drawn loss is read from a copy of the random generator."""
    style = Style(mean_loss=mean, policy_floor=0.001)
    for seed in range(60):
        game = position(seed)
        policy, chance = policy_of(game), np.random.default_rng(seed)
        probable = considered(game, policy, style.policy_floor).tolist()
        if len(probable) == 1:
            continue
        places = {round(i * (len(probable) - 1) / (MAX_ESTIMATED - 1)) for i in range(MAX_ESTIMATED)}
        lost = plain_losses(game, [probable[place] for place in sorted(places)])
        aim = np.random.default_rng(seed).exponential(mean)
        chosen = weaker_move(game, policy, style, EVALUATOR, chance)
        assert lost[chosen] <= aim + NEAR + 1e-6
        better = [loss for loss in lost.values() if lost[chosen] + NEAR + 1e-6 < loss <= aim + NEAR - 1e-6]
        assert not better, "a move nearer to the drawn loss was left"


def test_losses_are_those_of_single_evaluations_and_one_batch() -> None:
    game = position(3)
    moves = considered(game, policy_of(game), 0.0)[:6]
    before = EVALUATOR.rows
    found = losses(game, moves, EVALUATOR)
    assert EVALUATOR.rows - before == 6
    assert found.tolist() == pytest.approx(list(plain_losses(game, moves.tolist()).values()), abs=1e-5)
    assert found.min() == 0


def test_without_a_score_a_sure_win_is_twice_the_edge_from_a_sure_loss() -> None:
    class WithoutScore(Scripted):
        def infer(self, batch: InputBatch) -> Evaluation:
            return replace(super().infer(batch), score=None)

    evaluator = WithoutScore(value=lambda view: 1.0 if 3 in view.black else -1.0)
    assert losses(Game(SIZE), np.array([3, 4]), evaluator).tolist() == [0, 2 * SIZE]


def test_the_mean_loss_is_given_away_on_average() -> None:
    """Seven moves that lose 0, 1, ... 6 points and an aim of 2: a loss drawn from the exponential, rounded."""
    policy = np.zeros(PASS + 1)
    policy[:7] = 1 / 7
    evaluator = Scripted(score=lambda view: -float(min(view.black)))
    chance = np.random.default_rng(1)
    drawn = [weaker_move(Game(SIZE), policy, Style(mean_loss=2.0), evaluator, chance) for _ in range(600)]
    assert 1.5 < np.mean(drawn) < 2.1  # 6 at most, which cuts the tail
    assert set(drawn) == set(range(7))


def test_a_temperature_draws_from_the_policy_above_the_floor() -> None:
    policy = np.zeros(PASS + 1)
    policy[[10, 20, 30]] = 0.8, 0.16, 0.04
    chance = np.random.default_rng(2)
    style = Style(policy_temperature=2.0, policy_floor=0.1)
    drawn = Counter(weaker_move(Game(SIZE), policy, style, EVALUATOR, chance) for _ in range(600))
    assert set(drawn) == {10, 20}
    assert drawn[10] / drawn[20] == pytest.approx((0.8 / 0.16) ** 0.5, rel=0.25)


def test_the_engine_plays_by_the_style_and_from_its_seed_alone() -> None:
    def game(seed: int) -> list[int]:
        engine, played = Engine(EVALUATOR, seed=seed, style=Style(mean_loss=4.0)), Game(SIZE)
        for _ in range(10):
            engine.set_position(played)
            played.play(engine.think(Limits(visits=1)).move)
        return [point for _, point in played.moves]

    assert game(1) == game(1) != game(2)


@pytest.mark.parametrize("wrong", [{"mean_loss": -1.0}, {"mean_loss": float("nan")}, {"policy_floor": 1.5}])
def test_impossible_values_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(RecipeError, match=next(iter(wrong))):
        Style(**wrong)
