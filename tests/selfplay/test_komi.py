"""The fair komi: the median of what Black wins by, whatever komi was drawn."""

import numpy as np
import pytest

from tengen.data.record import GameRecord
from tengen.selfplay.conditions import CycleConditions, fair_komi
from tengen.selfplay.config import KomiConfig, SelfPlayConfig

CONFIG = KomiConfig(start=3.0, step=100)


def game(margin: float, komi: float, counted: bool = True) -> GameRecord:
    score = margin - komi
    winner = 2 if score == 0 else 0 if score > 0 else 1
    return GameRecord(7, np.zeros(1, np.uint16), komi=komi, score=score if counted else None, winner=winner)


def test_few_games_say_nothing() -> None:
    assert fair_komi([game(9, 7.5)] * 49, CONFIG) == 3.0


def test_every_game_with_the_same_margin() -> None:
    assert fair_komi([game(9, 7.5)] * 50, CONFIG) == 9.0


def test_komi_beside_the_margins_makes_no_difference() -> None:
    games = [game(9, komi) for komi in (6.5, 7.5, 8.5, 9.5, 10.5)] * 20
    assert fair_komi(games, CONFIG) == 9.0


@pytest.mark.parametrize("counted", [True, False])
def test_the_komi_at_which_half_are_won(counted: bool) -> None:
    margins = np.random.default_rng(0).normal(6.0, 2.0, 2000).round()
    games = [game(m, 6.5, counted or m > 4) for m in margins]
    assert abs(fair_komi(games, CONFIG) - 6.0) <= 0.5


def test_games_of_the_tail_are_left_out() -> None:
    games = [game(9, 8.5)] * 60 + [game(-40, 40.0)] * 59
    assert fair_komi(games, CONFIG) == 9.0


def test_resigned_games_alone_move_komi_towards_the_loser() -> None:
    games = [game(30, 7.5, counted=False)] * 60
    assert fair_komi(games, CONFIG) == 8.5


def test_it_moves_by_a_step_from_what_was_believed_last() -> None:
    config = CONFIG.model_copy(update={"step": 1.5})
    games = [game(49, 5)] * 200 + [game(49, 7)] * 50
    assert fair_komi(games, config) == 8.5
    assert fair_komi([game(-49, komi) for komi in (6, 7, 8)] * 30, config) == 5.5
    assert fair_komi([game(8, 7)] * 90, config) == 8.0


def test_learning_may_be_off() -> None:
    assert fair_komi([game(9, 7.5)] * 500, CONFIG.model_copy(update={"learn": False})) == 3.0


def test_a_run_learns_komi_until_a_stage_fixes_it() -> None:
    komi = {"start": 7, "step": 100}
    stages = {2: {"game": {"komi": {"start": 8.5, "learn": False}}}}
    network = {"family": "residual", "size": "b2c16"}
    config = SelfPlayConfig.model_validate(
        {
            "name": "x",
            "cycles": 4,
            "games_per_cycle": 50,
            "network": network,
            "game": {"sizes": {7: 1}, "komi": komi},
            "stages": stages,
        }
    )
    games = [game(9, 7.5)] * 50
    assert [CycleConditions.of(config, games, cycle).fair_komi for cycle in range(4)] == [
        {7: 9.0},
        {7: 9.0},
        {7: 8.5},
        {7: 8.5},
    ]
