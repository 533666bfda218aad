"""Learning from self-play: the search's visits are learnt, by every policy that the network has."""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from data_pipeline.self_play_games import self_played  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from tengen.data import SelfPlaySampler, Store, StoreAppender  # noqa: E402
from tengen.training.batches import BatchStream, TensorBatch  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.losses import losses  # noqa: E402
from tengen.training.module import TrainingModule  # noqa: E402
from tengen.training.run import make_trainer  # noqa: E402


class LateModule(TrainingModule):
    """Believes that it is a thousand steps and half of the run further on."""

    @property
    def steps(self) -> int:
        return 1000 + self.global_step

    @property
    def done(self) -> float:
        return 0.5 + 0.5 * self.global_step / 120


@pytest.fixture
def sampler(tmp_path: Path) -> SelfPlaySampler:
    with StoreAppender(tmp_path / "games") as appender:
        appender.append(self_played(seed, (5, 7)) for seed in range(8))
    return SelfPlaySampler(Store.open(tmp_path / "games"), batch_size=16, symmetries=False, surprise=0)


def trained(sampler: SelfPlaySampler, settings: dict[str, Any], folder: Path, module: type[TrainingModule]) -> Any:
    training = {"steps": 60, "batch_size": 16, "losses": {"reply": 1.0, "soft": 1.0}, "ema": 0.99}
    settings = settings | {
        "network": {"family": "residual", "size": "b1c16", "reply": True, "soft": True},
        "training": settings["training"] | training,
    }
    run = RunConfig.model_validate(settings)
    result = module(run, sampler.plane_set)
    loader: DataLoader[TensorBatch] = DataLoader(BatchStream(sampler, 0), batch_size=None)
    make_trainer(run.training, folder, []).fit(result, loader)
    return result


def test_all_policies_learn(sampler: SelfPlaySampler, settings: dict[str, Any], tmp_path: Path) -> None:
    module = trained(sampler, settings, tmp_path, TrainingModule)
    batch = TensorBatch.of(sampler.batch(0))
    fresh = TrainingModule(module.run, sampler.plane_set)
    with torch.no_grad():
        found, before = (losses(m.network(*batch[:3]), batch) for m in (module, fresh))
    assert set(found) == {"policy", "value", "score", "ownership", "reply", "soft"}
    for name in ("policy", "reply", "soft", "value"):
        assert found[name] < 0.9 * before[name], name


def test_a_run_may_say_how_far_it_is(sampler: SelfPlaySampler, settings: dict[str, Any], tmp_path: Path) -> None:
    plain, late = (trained(sampler, settings, tmp_path, module) for module in (TrainingModule, LateModule))
    full = plain.run.training.optimizer.lr
    decay = plain.run.training.schedule.decay
    assert plain.learning_rate == pytest.approx(full * (1 / 60) / decay)
    assert late.learning_rate == pytest.approx(full * min(1, (0.5 - 0.5 * 59 / 120) / decay))
    first = next(plain.network.parameters()), next(plain.average.parameters())
    second = next(late.network.parameters()), next(late.average.parameters())
    assert (first[0] - first[1]).abs().max() < (second[0] - second[1]).abs().max(), "an older average moves slower"
