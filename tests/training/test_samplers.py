"""The positions of a supervised run: those to train on and those that validate it share no game."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from training.small_run import GAMES, random_record

from tengen.data.label_sampler import LabelSampler, TargetMix
from tengen.data.store import Store, StoreWriter
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


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Games whose first 5 moves have visits of two others, and a surprise that differs from game to game."""
    with StoreWriter(tmp_path / "recorded") as writer:
        for seed in range(GAMES):
            record = random_record(seed)
            seen = [np.array([3 << 16 | 40, 1 << 16 | 41], np.uint32)] * 5
            none = [np.empty(0, np.uint32)] * (len(record.moves) - 5)
            surprises = np.full(len(record.moves), 1 + seed, np.float32)
            writer.add(replace(record, visits=(*seen, *none), surprises=surprises))
    return tmp_path / "recorded"


def test_a_record_teaches_its_moves_whatever_else_the_store_has(settings: dict[str, Any], recorded: Path) -> None:
    """A weight of `reply` or `soft` made the policy learn the visits of the store."""
    settings["data"]["store"] = str(recorded)
    settings["network"] |= {"reply": True, "soft": True}
    settings["training"]["losses"] = {"reply": 0.1, "soft": 0.1}
    batch = open_samplers(RunConfig.model_validate(settings)).train.batch(0)
    assert batch.target is not None and batch.reply is not None
    moves = np.zeros_like(batch.target)
    moves[np.arange(len(batch)), batch.policy] = 1
    assert np.array_equal(batch.target, moves) and set(np.unique(batch.reply)) == {0, 1}


def test_a_teacher_run_learns_the_labels_and_gives_all_positions_the_same_weight(
    settings: dict[str, Any], recorded: Path
) -> None:
    """Games of self-play as labels: their policy surprise had a weight of 0.5, by no key."""
    settings["data"] |= {"store": str(recorded), "teacher": {}, "symmetries": False}
    settings["training"]["losses"] = {"policy": 1}
    train = open_samplers(RunConfig.model_validate(settings)).train
    assert isinstance(train, LabelSampler)
    mix = TargetMix(1, 1, 1, 1, 1)
    labels = LabelSampler(Store.open(recorded), batch_size=8, symmetries=False, surprise=0, mix=mix)
    batch, same = train.batch(0), labels.batch(0)
    assert batch.target is not None and same.target is not None
    assert np.array_equal(np.sort(batch.target)[:, -2:], [[0.25, 0.75]] * 8) and set(batch.weight) == {1}
    assert np.array_equal(batch.target, same.target) and np.array_equal(batch.planes, same.planes)
