"""Callbacks of the trainer by themselves; `test_supervised.py` has them in whole runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from tengen.errors import RecipeError
from tengen.runs.events import EventLog, read_events
from tengen.training.callbacks import CALLBACKS, LossLog, LossMeans, make_callbacks
from tengen.training.trainer import Trainer


def test_the_rate_leaves_out_validations_and_the_last_steps_are_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of 2 s with 64 positions each, of which the data takes 0.5 s; a validation of 100 s after the third."""
    clock = [0.0]
    monkeypatch.setattr("tengen.training.callbacks.time.perf_counter", lambda: clock[0])
    waits = [0]

    def take_waited() -> float:
        waited, waits[0] = 0.5 * waits[0], 0
        return waited

    fake = SimpleNamespace(losses={"policy": torch.tensor(3.0)}, learning_rate=0.1, seconds=0.0, step=0, done=0.0)
    trainer = cast(Trainer[Any], fake)
    with EventLog(tmp_path, 0, tensorboard=False) as events:
        losses = LossMeans()
        log = LossLog(losses, events, cast(Any, SimpleNamespace(take_waited=take_waited)), 64, every=2)
        log.on_start(trainer)
        for step in range(1, 6):
            clock[0] += 2
            waits[0] += 1
            fake.step, fake.done = step, step / 5
            losses.on_step(trainer)
            log.on_step(trainer)
            if step in (2, 3):
                clock[0] += 100
                log.on_validation(trainer, {})
        log.on_end(trainer)
    found = [(event["step"], event["rate"], event["waiting"]) for event in read_events(tmp_path, "train")]
    assert found == [(2, 32.0, 0.25), (4, 32.0, 0.25), (5, 32.0, 0.25)]


def test_what_makes_no_callback_is_named(registered: Callable[..., None]) -> None:
    registered(CALLBACKS, "mine", lambda: object())
    with pytest.raises(RecipeError, match=r"callbacks\.mine makes an object, no Callback"):
        make_callbacks({"mine": {}})


def test_what_a_callback_says_of_its_settings_is_an_error_of_the_recipe(registered: Callable[..., None]) -> None:
    def every_none(every: int) -> None:
        raise ValueError(f"every must be 1 or more, not {every}")

    registered(CALLBACKS, "mine", every_none)
    with pytest.raises(RecipeError, match=r"callbacks\.mine: every must be 1 or more, not 0"):
        make_callbacks({"mine": {"every": 0}})


def test_the_first_entry_after_a_stop_has_the_means_of_all_its_steps_and_the_rate_of_those_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three steps before the stop, one of 2 s after it."""
    clock = [0.0]
    monkeypatch.setattr("tengen.training.callbacks.time.perf_counter", lambda: clock[0])
    fake = SimpleNamespace(losses={}, learning_rate=0.1, seconds=0.0, step=0, done=0.5)
    trainer, before = cast(Trainer[Any], fake), LossMeans()
    for loss in (1.0, 2.0, 3.0):
        fake.losses = {"policy": torch.tensor(loss)}
        before.on_step(trainer)
    with EventLog(tmp_path, 0, tensorboard=False) as events:
        losses = LossMeans()
        log = LossLog(losses, events, cast(Any, SimpleNamespace(take_waited=lambda: 0.0)), 64, every=4)
        losses.load_state_dict(before.state_dict())
        log.on_start(trainer)
        clock[0], fake.step, fake.losses = 2.0, 4, {"policy": torch.tensor(6.0)}
        losses.on_step(trainer)
        log.on_step(trainer)
    (event,) = read_events(tmp_path, "train")
    assert (event["policy"], event["rate"]) == (3.0, 32.0)
