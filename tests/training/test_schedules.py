"""Learning rates at the corners of a run."""

import pytest

from tengen.training.config import ScheduleConfig, TrainConfig
from tengen.training.schedules import factor, progress


def test_progress_follows_what_ends_first() -> None:
    both = TrainConfig(steps=100, max_hours=2)
    assert progress(both, 50, 0.1) == 0.5
    assert progress(both, 50, 1.9) == 0.95
    assert progress(TrainConfig(max_hours=2), 10**6, 1) == 0.5
    assert progress(TrainConfig(steps=100), 200, 99) == 1


def test_a_run_must_end() -> None:
    with pytest.raises(ValueError, match="steps, max_hours or both"):
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


def test_cosine_meets_the_line_in_the_middle_and_at_both_ends() -> None:
    linear = ScheduleConfig(warmup_steps=0, decay=1)
    cosine = ScheduleConfig(warmup_steps=0, decay=1, shape="cosine")
    for done in (0, 0.5, 1):
        assert factor(cosine, 5, done) == pytest.approx(factor(linear, 5, done))
    assert factor(cosine, 5, 0.25) > factor(linear, 5, 0.25)


def test_no_decay_stays_at_full_rate() -> None:
    assert factor(ScheduleConfig(warmup_steps=0, decay=0), 10, 1) == 1
