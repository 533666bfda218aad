"""What is drawn for a game: the shares, deviations and means that the recipe asks for, and nothing else."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import pytest

from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.plan import GamePlan, StartPosition, make_plan

GAMES = 4000


def recipe(**parts: Any) -> SelfPlayConfig:
    fields = {"name": "test", "cycles": 1, "games_per_cycle": 1, "network": {"family": "residual"}}
    return SelfPlayConfig.model_validate(fields | parts)


def plans(config: SelfPlayConfig, games: int = GAMES, **given: Any) -> list[GamePlan]:
    return [make_plan(config, 3, i, **given) for i in range(games)]


def test_a_plan_is_a_function_of_seed_cycle_and_number() -> None:
    config = recipe(seed=5)
    assert make_plan(config, 3, 17) == make_plan(config, 3, 17)
    assert make_plan(config, 3, 17).source == "00003/00017"
    others = [make_plan(config, 4, 17), make_plan(config, 3, 18), make_plan(recipe(seed=6), 3, 17)]
    assert len({make_plan(config, 3, 17).seed, *(plan.seed for plan in others)}) == 4
    assert len({plan.seed for plan in plans(config)}) == GAMES


def test_sizes_by_their_shares() -> None:
    drawn = [plan.size for plan in plans(recipe(game={"sizes": {5: 1, 7: 2, 9: 5}}))]
    for size, share in ((5, 1 / 8), (7, 2 / 8), (9, 5 / 8)):
        assert abs(drawn.count(size) / GAMES - share) < 4 * math.sqrt(share * (1 - share) / GAMES)


@pytest.mark.parametrize("whole", [False, True])
def test_komi_is_normal_around_the_fair_one_with_a_tail(whole: bool) -> None:
    komi = {"deviation": 2.0, "tail": 0.1, "tail_deviation": 9.0, "whole": whole}
    drawn = [plan.komi for plan in plans(recipe(game={"komi": komi}), fair_komi={7: 5.25})]
    step = 1 if whole else 0.5
    assert all((k / step).is_integer() for k in drawn)
    # The share below a bound b, against the mixture's own distribution at the nearest komi that is drawn.
    for bound in (-4, 2, 4, 5, 6, 8, 15):
        edge = bound + step / 2  # between two values that can be drawn
        near, far = NormalDist(5.25, 2).cdf(edge), NormalDist(5.25, 9).cdf(edge)
        expected = 0.9 * near + 0.1 * far
        found = sum(k <= bound for k in drawn) / GAMES
        assert abs(found - expected) < 4 * math.sqrt(expected * (1 - expected) / GAMES) + 1e-9


def test_komi_stays_on_the_board() -> None:
    for whole in (False, True):
        komi = {"deviation": 100.0, "tail": 0.0, "start": 300, "whole": whole}
        drawn = [plan.komi for plan in plans(recipe(game={"sizes": {5: 1}, "komi": komi}), 500)]
        assert max(drawn) == 25
        assert min(drawn) >= -25
    exact = {"deviation": 0.0, "tail": 0.0, "start": 0, "whole": True}
    assert {plan.komi for plan in plans(recipe(game={"komi": exact}), 50)} == {0.0}


def test_opening_moves_are_exponential() -> None:
    drawn = [plan.opening_moves for plan in plans(recipe(opening={"moves_mean": 3.0}))]
    for moves in (0, 1, 2, 5, 10):
        expected = math.exp(-moves / 3)
        found = sum(n >= moves for n in drawn) / GAMES
        assert abs(found - expected) <= 4 * math.sqrt(expected * (1 - expected) / GAMES)
    assert {plan.opening_moves for plan in plans(recipe(opening={"moves_mean": 0}), 50)} == {0}
    assert max(plan.opening_moves for plan in plans(recipe(opening={"moves_mean": 100}), 500)) == 24


def test_hard_starts_of_the_size_and_their_share() -> None:
    config = recipe(game={"sizes": {5: 1, 7: 1}}, opening={"high_surprise": 0.3})
    starts = [StartPosition(7, (24, 0x8000 | 25)), StartPosition(7, (10,)), StartPosition(9, (40,))]
    drawn = plans(config, starts=starts)
    assert not any(plan.start for plan in drawn if plan.size == 5)
    seven = [plan for plan in drawn if plan.size == 7]
    share = sum(bool(plan.start) for plan in seven) / len(seven)
    assert abs(share - 0.3) < 4 * math.sqrt(0.21 / len(seven))
    assert {plan.start for plan in seven} == {(), starts[0].moves, starts[1].moves}
    assert all(plan.opening_moves == 0 for plan in seven if plan.start)
    # A start changes nothing else that is drawn.
    assert [(plan.seed, plan.size, plan.komi, plan.may_resign) for plan in drawn] == [
        (plan.seed, plan.size, plan.komi, plan.may_resign) for plan in plans(config)
    ]


def test_resignation_only_where_it_is_in_force() -> None:
    config = recipe(resign={"played_out": 0.25})
    assert not any(plan.may_resign for plan in plans(config, 100))
    assert not any(plan.may_resign for plan in plans(recipe(), 100, resigns=True))
    share = sum(plan.may_resign for plan in plans(config, resigns=True)) / GAMES
    assert abs(share - 0.75) < 4 * math.sqrt(0.1875 / GAMES)
