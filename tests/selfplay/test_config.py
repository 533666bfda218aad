"""Stages: what a recipe says anew as a run goes on."""

from typing import Any

import pytest

from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.plan import make_plan

BASE: dict[str, Any] = {
    "name": "x",
    "cycles": 20,
    "games_per_cycle": 8,
    "network": {"family": "residual", "size": "b2c16"},
    "search": {"visits": 8, "params": {"selection": "gumbel", "gumbel_moves": 4}},
}


def staged(stages: dict[int, dict[str, Any]], **changes: Any) -> SelfPlayConfig:
    return SelfPlayConfig.model_validate({**BASE, **changes, "stages": stages})


def test_what_a_stage_says_holds_until_a_later_one_says_otherwise() -> None:
    config = staged({10: {"search": {"visits": 64}}, 3: {"search": {"visits": 16}, "opening": {"moves_mean": 1}}})
    found = [(now.search.visits, now.opening.moves_mean) for now in map(config.at, (0, 2, 3, 9, 10, 99))]
    assert found == [(8, 2)] * 2 + [(16, 1)] * 2 + [(64, 1)] * 2


def test_settings_within_settings_are_changed_one_by_one() -> None:
    config = staged(
        {3: {"search": {"params": {"selection": "puct"}}, "game": {"komi": {"start": 9, "learn": False}}}},
        game={"sizes": {5: 1}, "komi": {"tail": 0.3}},
    )
    now = config.at(3)
    assert now.search.params == {"selection": "puct", "gumbel_moves": 4}
    assert (now.game.komi.start, now.game.komi.learn, now.game.komi.tail) == (9, False, 0.3)
    assert now.game.sizes == {5: 1}
    assert now.model_copy(update={"game": config.game, "search": config.search, "stages": config.stages}) == config


def test_a_run_without_stages_stays_as_it_is() -> None:
    config = staged({})
    assert config.at(7) is config


def test_games_are_planned_by_the_stage() -> None:
    config = staged({3: {"opening": {"moves_mean": 0}}}, opening={"moves_mean": 50})
    assert make_plan(config.at(2), 2, 1).opening_moves > 0
    assert all(make_plan(config.at(3), 3, game).opening_moves == 0 for game in range(50))


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ({3: {"search": {"visit": 8}}}, r"unknown key '3\.search\.visit'; did you mean visits\?"),
        ({3: {"search": {"visits": 0}}}, r"3\.search\.visits: .* greater than or equal to 1 \(found 0\)"),
        ({3: {"game": {"max_moves": 2**31}}}, r"3\.game\.max_moves: .* less than or equal to 1000000000"),
        ({5: {"game": {"komi": {"tail": 2}}}}, r"5\.game\.komi\.tail"),
        ({5: {"game": {"komi": {"start": 7.3}}}}, r"5\.game\.komi\.start: .* multiple of 0\.5 \(found 7\.3\)"),
        ({5: {"learn": {"reuse": 2}}}, "learn"),
        ({5: {"game": {"sizes": {9: 1}}}}, r"cannot change game\.sizes"),
        ({0: {"search": {"visits": 8}}}, "begins with cycle 1 or later, not 0"),
    ],
)
def test_a_stage_that_cannot_be_is_refused(stages: dict[int, dict[str, Any]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        staged(stages)
