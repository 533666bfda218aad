"""The positions of a supervised run: those to train on and those that validate it share no game."""

from typing import Any

import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from training.small_run import GAMES

from tengen.errors import StoreError
from tengen.training.config import RunConfig
from tengen.training.samplers import open_samplers


def test_positions_are_split_by_game(settings: dict[str, Any]) -> None:
    """So many moves to train on and so many to validate, as studies say it; no game has both."""
    settings["data"] |= {"validation_store": None, "validation_fraction": 0.25, "validation_positions": "all"}
    settings["data"] |= {"max_positions": 500, "skip_passes": True}
    settings["training"]["validation_games"] = 77
    for wanted in (77, 10**6):
        settings["training"]["validation_games"] = wanted
        samplers = open_samplers(RunConfig.model_validate(settings))
        assert samplers.train.positions == 500
        assert not set(samplers.train.game_rows) & set(samplers.validation.game_rows)
        assert samplers.validation.positions == min(wanted, 24 * samplers.validation.games)


def test_too_few_games_to_set_any_apart(settings: dict[str, Any]) -> None:
    settings["data"] |= {"validation_store": None, "validation_fraction": 1e-9}
    with pytest.raises(StoreError, match=r"none of its 64 games.*validation_fraction of 1e-09.*validation_store"):
        open_samplers(RunConfig.model_validate(settings))


def test_validation_games_are_never_trained_on(settings: dict[str, Any]) -> None:
    settings["data"] |= {"validation_store": None, "validation_fraction": 0.25}
    samplers = open_samplers(RunConfig.model_validate(settings))
    learned = {int(game) for step in range(200) for game in samplers.train.rows(step).game}
    validation = {int(game) for game in samplers.validation.rows(0).game}
    assert validation and not learned & validation
    assert len(learned) + len(validation) == GAMES
