"""Defaults of groups of keys, and numbers that no machine can take."""

from __future__ import annotations

import math

import pytest
from pydantic import BaseModel, ValidationError

from tengen.errors import RecipeError
from tengen.recipes import load_recipe
from tengen.reinforce.config import PolicyGradientConfig, UpdateConfig
from tengen.selfplay.config import LearnConfig, SelfPlayConfig
from tengen.training.config import LossWeights, RunConfig, TrainerConfig
from tengen.training.recipe import Strict


@pytest.mark.parametrize("model", [LearnConfig, UpdateConfig])
def test_one_key_of_a_group_leaves_the_others_at_the_defaults_of_the_group(model: type[TrainerConfig]) -> None:
    groups = {name: group for name, group in model() if isinstance(group, Strict)}
    assert {"optimizer", "schedule"} <= set(groups)
    for name, group in groups.items():
        for key, value in group:
            assert getattr(model.model_validate({name: {key: value}}), name) == group, (name, key)


def test_a_key_of_a_group_is_changed() -> None:
    assert LearnConfig.model_validate({"schedule": {"decay": 0.5}}).schedule.decay == 0.5
    changed = UpdateConfig.model_validate({"optimizer": {"lr": 0.1}}).optimizer
    assert (changed.name, changed.lr) == ("adamw", 0.1)


@pytest.mark.parametrize(
    ("recipe", "model", "settings"),
    [
        (
            "tiny",
            RunConfig,
            ["training.batch_size", "training.steps", "training.threads", "data.threads", "training.seed"],
        ),
        (
            "tiny-5x5",
            SelfPlayConfig,
            [
                *("search.visits", "search.cheap_visits", "rating.games", "rating.visits", "gate.games", "cycles"),
                *("learn.batch_size", "learn.threads", "workers", "seed"),
            ],
        ),
        ("alphago-rl-9x9", PolicyGradientConfig, ["learn.batch_size", "learn.threads", "games", "iterations", "seed"]),
    ],
)
def test_numbers_that_no_machine_can_take_are_refused_in_one_line(
    recipe: str, model: type[BaseModel], settings: list[str]
) -> None:
    """They had ended in tracebacks, in memory that was full, or in an error that named a sound store."""
    for name in settings:
        with pytest.raises(RecipeError) as error:
            load_recipe(recipe, [f"{name}=99999999999999999999998"], model=model)
        assert str(error.value).startswith("--set") and name in str(error.value) and "less than" in str(error.value)
        assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("loss", ["value", "move2"])
@pytest.mark.parametrize("weight", [math.inf, math.nan])
def test_a_weight_of_a_loss_is_finite(loss: str, weight: float) -> None:
    """It ended the run at its first step, with advice on targets."""
    with pytest.raises(ValidationError, match="finite"):
        LossWeights.model_validate({loss: weight})


@pytest.mark.parametrize("plies", ["[5, 3]", "[-1, -3]"])
def test_plies_that_hold_nothing_are_refused_in_one_line(plies: str) -> None:
    with pytest.raises(RecipeError, match=r"^--set data\.plies=.*: data\.plies: .*is before -?\d \(found "):
        load_recipe("tiny", [f"data.plies={plies}"])
