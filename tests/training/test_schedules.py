"""Learning rates at the corners of a run, and the other shapes against PyTorch's schedulers."""

import math
from typing import Any

import pytest

from tengen.training.config import ScheduleConfig, TrainConfig, TrainerConfig
from tengen.training.schedules import LearningRateSchedule, Position, factor, position, progress


def test_progress_follows_what_ends_first() -> None:
    both = TrainConfig(steps=100, max_hours=2)
    assert progress(both, 50, 0.1) == 0.5
    assert progress(both, 50, 1.9) == 0.95
    assert progress(TrainConfig(max_hours=2), 10**6, 1) == 0.5
    assert progress(TrainConfig(steps=100), 200, 99) == 1


def test_a_run_must_end() -> None:
    with pytest.raises(ValueError, match="steps, epochs, max_hours"):
        TrainConfig()


def test_warm_up_plateau_decay() -> None:
    config = ScheduleConfig(warmup_steps=10, decay=0.5)
    assert factor(config, 0, 0) == pytest.approx(0.1)
    assert factor(config, 4, 0) == pytest.approx(0.5)
    assert factor(config, 9, 0.1) == 1
    assert factor(config, 500, 0.5) == 1
    assert factor(config, 750, 0.75) == pytest.approx(0.5)
    assert factor(config, 1000, 1) == 0


def test_decay_ends_at_the_minimum_rate() -> None:
    config = ScheduleConfig(warmup_steps=0, decay=0.5, min_factor=0.6)
    assert factor(config, 500, 0.5) == 1
    assert factor(config, 750, 0.75) == pytest.approx(0.8)
    assert factor(config, 1000, 1) == pytest.approx(0.6)
    halving = ScheduleConfig(warmup_steps=0, shape="halving", every=1, unit="steps", min_factor=0.3)
    assert [factor(halving, step, 0) for step in (0, 1, 2, 9)] == [1, 0.5, 0.3, 0.3]


def test_cosine_meets_the_line_in_the_middle_and_at_both_ends() -> None:
    linear = ScheduleConfig(warmup_steps=0, decay=1)
    cosine = ScheduleConfig(warmup_steps=0, decay=1, shape="cosine")
    for done in (0, 0.5, 1):
        assert factor(cosine, 5, done) == pytest.approx(factor(linear, 5, done))
    assert factor(cosine, 5, 0.25) > factor(linear, 5, 0.25)


def test_no_decay_stays_at_full_rate() -> None:
    assert factor(ScheduleConfig(warmup_steps=0, decay=0), 10, 1) == 1


def make(name: str) -> Any:
    """A scheduler of PyTorch over a parameter with learning rate 1."""
    schedulers = pytest.importorskip("torch", reason="training needs the extra [train]").optim.lr_scheduler
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    made = {
        "steps": lambda: schedulers.MultiStepLR(optimizer, [3, 7], gamma=0.2),
        "halving": lambda: schedulers.StepLR(optimizer, 4, gamma=0.5),
        "exponential": lambda: schedulers.ExponentialLR(optimizer, gamma=0.9 ** (1 / 4)),
        "inverse": lambda: schedulers.LambdaLR(optimizer, lambda step: 1 / (1 + 0.25 * step)),  # Keras's decay of 0.25
        "constant": lambda: schedulers.ConstantLR(optimizer, factor=1.0),
        # A change after 3 bad epochs: PyTorch's patience is the number that it endures.
        "plateau": lambda: schedulers.ReduceLROnPlateau(optimizer, "max", 1 / 1.2, patience=2, threshold=0.0),
    }[name]()
    optimizer.step()  # a scheduler warns unless a step comes first
    return made


@pytest.mark.parametrize("unit", ["epochs", "samples", "steps"])
@pytest.mark.parametrize(
    ("shape", "keys"),
    [
        ("steps", {"at": (3, 7), "factor": 0.2}),
        ("halving", {"every": 4}),
        ("exponential", {"every": 4, "factor": 0.9}),
        ("inverse", {"every": 4}),
        ("constant", {}),
    ],
)
def test_shapes_are_those_of_pytorch(shape: str, keys: dict[str, Any], unit: str) -> None:
    """In each unit: 10 steps of 5 samples are an epoch, and the lengths are given in epochs."""
    scale = {"epochs": 1, "samples": 50, "steps": 10}[unit]
    keys = {name: value if name == "factor" else _scaled(value, scale) for name, value in keys.items()}
    config = ScheduleConfig(warmup_steps=0, shape=shape, unit=unit, **keys)
    training = TrainConfig(epochs=12, epoch=50, batch_size=5, schedule=config)
    theirs = make(shape)
    for epoch in range(12):
        at = position(training, 10 * epoch, hours=0.0)
        assert factor(config, *at) == pytest.approx(theirs.get_last_lr()[0]), epoch
        theirs.step()
    assert progress(training, 120, 0.0) == 1


def _scaled(value: Any, scale: int) -> Any:
    return tuple(one * scale for one in value) if isinstance(value, tuple) else value * scale


def test_a_plateau_is_that_of_pytorch() -> None:
    config = ScheduleConfig(warmup_steps=0, shape="plateau", factor=1 / 1.2, patience=3)
    ours, theirs = LearningRateSchedule(config), make("plateau")
    figures = [0.1, 0.3, 0.2, 0.3, 0.3, 0.1, 0.1, 0.29, 0.31, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1]
    rates = []
    for epoch, top1 in enumerate(figures, 1):
        at = Position(0, 0.0, epochs=epoch)
        ours.see(at, {"top1": top1, "cross_entropy": 9.0})
        theirs.step(top1)
        rates.append(ours.factor(at))
        assert rates[-1] == pytest.approx(theirs.get_last_lr()[0]), epoch
        restored = LearningRateSchedule(config)
        restored.load_state_dict(ours.state_dict())
        ours = restored
    assert len(set(rates)) == 5


def test_a_plateau_counts_from_an_epoch_and_follows_an_error_downwards() -> None:
    config = ScheduleConfig(shape="plateau", patience=2, after=5, metric="value_mse", factor=0.5, warmup_steps=0)
    schedule = LearningRateSchedule(config)
    until_best = ((1, 0.5, 1), (4, 0.6, 1), (6, 0.6, 1), (7 - 1e-12, 0.6, 0.5), (8, 0.4, 0.5))
    for epoch, mse, share in (*until_best, (9, 0.4, 0.5), (10, 0.4, 0.25)):
        schedule.see(Position(0, 0.0, epochs=epoch), {"value_mse": mse})
        schedule.see(Position(0, 0.0, epochs=99), {"top1": mse})  # says nothing of its figure
        assert schedule.factor(Position(0, 0.0)) == share, epoch


def test_a_plateau_of_another_figure_begins_with_that_one() -> None:
    """An accuracy of 0.9 is no best cross-entropy: no 2.5 is below it, and the rate would fall again and again."""
    before = LearningRateSchedule(ScheduleConfig(shape="plateau", patience=2, factor=0.5, warmup_steps=0))
    for epoch, top1 in ((1, 0.9), (3, 0.8)):
        before.see(Position(0, 0.0, epochs=epoch), {"top1": top1})
    config = ScheduleConfig(shape="plateau", patience=2, factor=0.5, warmup_steps=0, metric="cross_entropy")
    schedule = LearningRateSchedule(config)
    schedule.load_state_dict(before.state_dict())
    for epoch, loss in ((4, 2.5), (5, 2.4), (6, 2.3)):
        schedule.see(Position(0, 0.0, epochs=epoch), {"cross_entropy": loss})
        assert schedule.factor(Position(0, 0.0)) == 0.5


def test_epochs_give_the_length_and_the_validations() -> None:
    config = TrainConfig(epochs=2.5, batch_size=64).with_epoch(1000)
    assert config.total_steps == math.ceil(2500 / 64) == 40
    assert [step for step in range(1, 41) if config.validates(step)] == [16, 32]  # 1,024 and 2,048 samples
    assert TrainConfig(steps=7, epochs=1, epoch=1000, batch_size=10).total_steps == 7
    assert [step for step in range(1, 3001) if TrainConfig(steps=3000).validates(step)] == [1000, 2000, 3000]
    assert TrainConfig(steps=5).with_epoch(1000).epoch is None


def test_an_epoch_that_the_schedule_alone_needs_is_no_interval_of_validations() -> None:
    """25 million positions would be validated after 97,656 steps, where the run has 20,000."""
    halving = ScheduleConfig(shape="halving", every=1)
    config = TrainConfig(steps=20_000, schedule=halving).with_epoch(25_000_000)
    assert (config.epoch, config.steps_between_validations) == (25_000_000, 1000)
    # Of the recipe that the run saves, with the length of its epoch, the interval is the same.
    assert TrainConfig.model_validate(config.model_dump()).with_epoch(25_000_000) == config
    for given, interval in (({"validate_every": 7}, 7), ({"epoch": 2560}, 10), ({"epochs": 2}, 100)):
        config = TrainConfig.model_validate({"steps": 20_000, "schedule": halving, **given})
        assert config.with_epoch(25_600).steps_between_validations == interval, given


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"shape": "steps"}, "needs the points at which the rate changes"),
        ({"shape": "halving"}, "shape halving needs a length, such as every"),
        ({"shape": "exponential", "factor": 1.5}, "less than 1"),
    ],
)
def test_incomplete_schedules_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScheduleConfig(**keys)


def test_a_plateau_without_validations_is_refused() -> None:
    with pytest.raises(ValueError, match="plateau follows validations"):
        TrainerConfig(schedule=ScheduleConfig(shape="plateau"))
