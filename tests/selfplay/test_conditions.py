"""The conditions of a cycle: the fair komi, the median of what Black wins by; the resignation threshold."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tengen.data.record import GameRecord, pack_moves
from tengen.selfplay.conditions import CycleConditions, fair_komi, resign_threshold, winner_resign_threshold
from tengen.selfplay.config import KomiConfig, ResignConfig, SelfPlayConfig

KOMI = KomiConfig(start=3.0, step=100)


def game(margin: float, komi: float, counted: bool = True) -> GameRecord:
    score = margin - komi
    winner = 2 if score == 0 else 0 if score > 0 else 1
    return GameRecord(7, np.zeros(1, np.uint16), komi=komi, score=score if counted else None, winner=winner)


def test_few_games_leave_the_fair_komi() -> None:
    assert fair_komi([game(9, 7.5)] * 49, KOMI) == 3.0


def test_every_game_with_the_same_margin() -> None:
    assert fair_komi([game(9, 7.5)] * 50, KOMI) == 9.0


def test_komi_beside_the_margins_makes_no_difference() -> None:
    games = [game(9, komi) for komi in (6.5, 7.5, 8.5, 9.5, 10.5)] * 20
    assert fair_komi(games, KOMI) == 9.0


@pytest.mark.parametrize("counted", [True, False])
def test_the_komi_at_which_half_are_won(counted: bool) -> None:
    margins = np.random.default_rng(0).normal(6.0, 2.0, 2000).round()
    games = [game(m, 6.5, counted or m > 4) for m in margins]
    assert abs(fair_komi(games, KOMI) - 6.0) <= 0.5


def test_games_of_the_tail_are_left_out() -> None:
    games = [game(9, 8.5)] * 60 + [game(-40, 40.0)] * 59
    assert fair_komi(games, KOMI) == 9.0


def test_resigned_games_alone_move_komi_towards_the_loser() -> None:
    games = [game(30, 7.5, counted=False)] * 60
    assert fair_komi(games, KOMI) == 8.5


def test_it_moves_by_a_step_from_what_was_believed_last() -> None:
    config = KOMI.model_copy(update={"step": 1.5})
    games = [game(49, 5)] * 200 + [game(49, 7)] * 50
    assert fair_komi(games, config) == 8.5
    assert fair_komi([game(-49, komi) for komi in (6, 7, 8)] * 30, config) == 5.5
    assert fair_komi([game(8, 7)] * 90, config) == 8.0


def test_a_median_between_two_komis_keeps_games() -> None:
    """Half of the games at one komi, half at another, and no deviation: no game is at the mean of the two."""
    games = [game(9, 7)] * 60 + [game(9, 9)] * 60
    assert fair_komi(games, KomiConfig(deviation=0, tail=0, step=2)) == 9.0


def test_learning_may_be_off() -> None:
    assert fair_komi([game(9, 7.5)] * 500, KOMI.model_copy(update={"learn": False})) == 3.0


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


RESIGN = ResignConfig(false_positives=0.1, max_threshold=0.2, turns=2)


def resignable(black: list[float], winner: int | None = 0, ending: str = "count") -> GameRecord:
    """A game in which Black's turns had these winrates, and White's the opposite of the one before."""
    values = np.array([v for w in black for v in (2 * w - 1, 1 - 2 * w)], np.float32)
    moves = pack_moves(np.arange(len(values)) % 2, np.arange(len(values)))
    return GameRecord(7, moves, winner=winner, ending=ending, root_values=values)


def test_the_lowest_threshold_is_that_of_the_best_of_two_turns_in_a_row() -> None:
    assert winner_resign_threshold(resignable([0.5, 0.1, 0.3, 0.04, 0.06, 0.5]), 2) == pytest.approx(0.06)
    assert winner_resign_threshold(resignable([0.5, 0.1, 0.3, 0.04, 0.06, 0.5]), 1) == pytest.approx(0.04)


def test_only_the_winners_turns_count() -> None:
    assert winner_resign_threshold(resignable([0.01, 0.01, 0.01], winner=1), 2) == pytest.approx(0.99)


def test_draws_and_unknown_winners_say_nothing() -> None:
    assert winner_resign_threshold(resignable([0.1, 0.1], winner=2), 2) is None
    assert winner_resign_threshold(resignable([0.1, 0.1], winner=None), 2) is None


def test_turns_without_a_value_are_passed_over() -> None:
    record = resignable([0.1, 0.9, 0.1])
    assert record.root_values is not None
    record.root_values[2] = np.nan
    assert winner_resign_threshold(record, 2) == pytest.approx(0.1)


def test_the_threshold_lets_the_wanted_share_through() -> None:
    games = [resignable([i / 100, i / 100]) for i in range(100)]
    found = resign_threshold(games, RESIGN)
    assert found == pytest.approx(0.09)
    assert sum((winner_resign_threshold(one, 2) or 0) < found for one in games) <= 10


def test_never_above_the_most_and_never_from_few_or_resigned_games() -> None:
    assert resign_threshold([resignable([0.9, 0.9])] * 60, RESIGN) == 0.2
    assert resign_threshold([resignable([0.9, 0.9])] * 49, RESIGN) == 0.0
    assert resign_threshold([resignable([0.9, 0.9], ending="resign")] * 60, RESIGN) == 0.0


def test_a_run_resigns_by_the_games_that_were_played_out() -> None:
    """Those of the cycles before resignation, and the share that is played out after. A cycle of games in which
    resignation did not happen says nothing."""

    def threshold(games: list[GameRecord], cycle: int, **resign: Any) -> float:
        config = SelfPlayConfig.model_validate(
            {
                "name": "x",
                "cycles": 2,
                "games_per_cycle": 60,
                "network": {"family": "residual", "size": "b2c16"},
                "game": {"sizes": {7: 1}},
                "resign": {"after": 1, "turns": 2, "false_positives": 0.1, "max_threshold": 0.2, **resign},
            }
        )
        return CycleConditions.of(config, games, cycle).resign_winrate

    before, after = (
        [replace(resignable([winrate] * 3), source=f"{cycle:05d}/{index:05d}") for index in range(60)]
        for cycle, winrate in enumerate((0.15, 0.02))
    )
    assert threshold(before + after, 1, played_out=0) == pytest.approx(0.15)
    assert threshold(before + after, 0, played_out=0) == 0.0
    assert threshold(after, 1, played_out=0) == 0.0
    assert threshold(after, 1, played_out=1) == pytest.approx(0.02)


def test_starts_are_positions_under_the_rules_of_the_cycle() -> None:
    """A suicide of two stones in the bottom left corner of 4x4 is legal until the stage with Chinese rules."""
    config = SelfPlayConfig.model_validate(
        {
            "name": "x",
            "cycles": 2,
            "games_per_cycle": 50,
            "network": {"family": "residual", "size": "b2c16"},
            "game": {"sizes": {4: 1}, "rules": "tromp-taylor"},
            "opening": {"high_surprise": 0.5},
            "stages": {1: {"game": {"rules": "chinese"}}},
        }
    )
    suicide, other = (pack_moves([0, 1] * 4, [13, 8, 0, 9, 3, 14, last, 5]) for last in (12, 1))
    surprises = np.array([0, 0, 0, 0, 0, 0, 0, 1], np.float32)
    games = [GameRecord(4, moves, surprises=surprises) for moves in (suicide, other)]
    before, after = (CycleConditions.of(config, games, cycle).starts for cycle in (0, 1))
    assert [start.moves for start in before] == [tuple(suicide[:7]), tuple(other[:7])]
    assert after == before[1:]


def test_starts_are_positions_before_the_end_of_a_game_of_the_cycle() -> None:
    """A later stage ends games at five moves, or where all points are pass-alive."""
    config = SelfPlayConfig.model_validate(
        {
            "name": "x",
            "cycles": 3,
            "games_per_cycle": 50,
            "network": {"family": "residual", "size": "b2c16"},
            "game": {"sizes": {4: 1}, "settle": False},
            "opening": {"high_surprise": 0.5},
            "stages": {1: {"game": {"max_moves": 5}}, 2: {"game": {"max_moves": None, "settle": True}}},
        }
    )
    # Black fills the two middle rows while White passes.
    settled = pack_moves([0, 1] * 8, [point for stone in range(4, 12) for point in (stone, 16)])
    short = pack_moves([0, 1, 0], [5, 10, 6])
    games = [GameRecord(4, moves, surprises=np.eye(len(moves), dtype=np.float32)[-1]) for moves in (settled, short)]
    lengths = [[len(start.moves) for start in CycleConditions.of(config, games, cycle).starts] for cycle in range(3)]
    assert lengths == [[15, 2], [2], [2]]
