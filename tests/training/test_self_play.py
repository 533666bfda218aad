"""Learning from self-play: the search's visits are learned, by every policy that the network has."""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from data_pipeline.self_play_games import self_played  # noqa: E402

from tengen.data import LabelSampler, Store, StoreAppender  # noqa: E402
from tengen.training.batches import BatchStream, TensorBatch  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.losses import WeightedLosses  # noqa: E402
from tengen.training.schedules import Position  # noqa: E402
from tengen.training.supervised import make_trainer  # noqa: E402
from tengen.training.trainer import Trainer  # noqa: E402


@pytest.fixture
def sampler(tmp_path: Path) -> LabelSampler:
    with StoreAppender(tmp_path / "games") as appender:
        appender.append(self_played(seed, (5, 7)) for seed in range(8))
    return LabelSampler(Store.open(tmp_path / "games"), batch_size=16, symmetries=False, surprise=0)


def untrained(sampler: LabelSampler, settings: dict[str, Any]) -> Trainer[TensorBatch]:
    training = {"steps": 60, "batch_size": 16, "losses": {"reply": 1.0, "soft": 1.0}, "ema": 0.99}
    settings = settings | {
        "network": {"family": "residual", "size": "b1c16", "reply": True, "soft": True},
        "training": settings["training"] | training,
    }
    return make_trainer(RunConfig.model_validate(settings), sampler.plane_set)


def test_all_policies_learn(sampler: LabelSampler, settings: dict[str, Any]) -> None:
    trainer, fresh = (untrained(sampler, settings) for _ in range(2))
    trainer.fit(BatchStream(sampler, 0))
    assert trainer.step == 60 and trainer.done == 1
    batch = TensorBatch.of(sampler.batch(0))
    losses = WeightedLosses(trainer.config.losses)
    with torch.no_grad():
        found, before = (losses(each.network(*batch[:3]), batch)[1] for each in (trainer, fresh))
    assert set(found) == {"policy", "value", "score", "ownership", "reply", "soft"}
    for name in ("policy", "reply", "soft", "value"):
        assert found[name] < 0.9 * before[name], name


@pytest.mark.slow
def test_the_schedule_follows_the_position_of_the_run(sampler: LabelSampler, settings: dict[str, Any]) -> None:
    plain, late = (untrained(sampler, settings) for _ in range(2))
    late.position = lambda step, _: Position(1000 + step, 0.5 + 0.5 * step / 120)
    plain.fit(BatchStream(sampler, 0))
    late.fit(BatchStream(sampler, 0), 60)
    full = plain.config.optimizer.lr
    decay = plain.config.schedule.decay
    assert plain.learning_rate == pytest.approx(full * (1 / 60) / decay)
    assert late.learning_rate == pytest.approx(full * min(1, (0.5 - 0.5 * 59 / 120) / decay))
    first = next(plain.network.parameters()), next(plain.average.parameters())
    second = next(late.network.parameters()), next(late.average.parameters())
    assert (first[0] - first[1]).abs().max() < (second[0] - second[1]).abs().max(), "an older average moves slower"
