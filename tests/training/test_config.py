"""Defaults of groups of keys."""

from __future__ import annotations

import pytest

from tengen.reinforce.config import UpdateConfig
from tengen.selfplay.config import LearnConfig
from tengen.training.config import Strict, TrainerConfig


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
