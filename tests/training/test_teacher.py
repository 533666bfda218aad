"""A teacher that labels batches in training, against the same network asked about the replayed games."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.data.batch import Batch  # noqa: E402
from tengen.data.label_sampler import TargetMix  # noqa: E402
from tengen.data.record import GameRecord  # noqa: E402
from tengen.data.sampler import RULE_SETS, Sampler  # noqa: E402
from tengen.data.store import Store  # noqa: E402
from tengen.errors import NetworkError, RecipeError  # noqa: E402
from tengen.evaluators import load_evaluator  # noqa: E402
from tengen.evaluators.evaluation import InputBatch  # noqa: E402
from tengen.evaluators.network_file import read_card  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.training.batches import TensorBatch  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.losses import WeightedLosses  # noqa: E402
from tengen.training.supervised import make_trainer, open_samplers, train  # noqa: E402
from tengen.training.teacher import TaughtLosses, Teacher  # noqa: E402

pytestmark = pytest.mark.usefixtures("unrendered")
TEACHER = "zero-7x7"


def taught(store: Path, mix: TargetMix) -> tuple[Sampler, Batch, TensorBatch]:
    """A batch of the games as they are, and with the teacher's findings."""
    teacher = Teacher.named(TEACHER)
    sampler = Sampler(Store.open(store), "all", batch_size=40, symmetries=False, extra=teacher.inputs(1, None))
    batch = sampler.batch(0)
    losses = teacher.losses(WeightedLosses(_weights()), mix, torch.device("cpu"), compiled=False)
    return sampler, batch, losses.taught(TensorBatch.of(batch))


def _weights() -> Any:
    return RunConfig.model_fields["training"].annotation.model_fields["losses"].default


def test_targets_are_what_the_teacher_says_of_the_games(store: Path) -> None:
    sampler, batch, found = taught(store, TargetMix(policy=0.75, value=0.5, score=1, ownership=1))
    rows = sampler.rows(0)
    games = [sampler.store.row(game).game(ply) for game, ply in zip(rows.game.tolist(), rows.ply.tolist(), strict=True)]
    inputs = InputBatch.zeros("tengen", len(games), 7)
    for row, game in enumerate(games):
        inputs.encode(row, game)
    said = load_evaluator(TEACHER, "onnxruntime").infer(inputs)  # illegal moves keep their probability
    played = np.eye(50)[batch.policy]
    assert np.allclose(found.target, 0.75 * said.policy + 0.25 * played, atol=1e-5)
    assert np.allclose(found.value, 0.5 * said.value + 0.5 * batch.value, atol=1e-5)
    assert np.allclose(found.score, said.score, atol=1e-3)
    assert np.allclose(found.ownership, said.ownership, atol=1e-5)


def test_the_teacher_alone_says_what_the_record_does_not(store: Path) -> None:
    """The policy at a temperature, and the value of a game without result."""
    _, batch, full = taught(store, TargetMix(value=1, temperature=1))
    batch.value[:] = np.nan
    batch.policy[:20] = -1
    teacher = Teacher.named(TEACHER)
    mix = TargetMix(policy=0.5, value=0.25, temperature=2)
    losses = teacher.losses(WeightedLosses(_weights()), mix, torch.device("cpu"), compiled=False)
    found = losses.taught(TensorBatch.of(batch))
    flat = full.target.sqrt() / full.target.sqrt().sum(1, keepdim=True)
    assert torch.allclose(found.target[:20], flat[:20], atol=1e-5)
    assert torch.allclose(found.value, full.value, atol=1e-6)
    assert found.score is not None and torch.equal(found.score.isnan(), TensorBatch.of(batch).score.isnan())


def test_the_teacher_is_asked_once_for_a_batch(store: Path) -> None:
    _, batch, _ = taught(store, TargetMix())
    asked: list[int] = []

    def teacher(planes: Any, scalars: Any, mask: Any) -> dict[str, Any]:
        asked.append(len(planes))
        return {"policy": torch.zeros(len(planes), 50)}

    losses = TaughtLosses(WeightedLosses(_weights()), teacher, TargetMix())
    tensors = TensorBatch.of(batch)
    first, second = losses.taught(tensors), losses.taught(tensors)
    assert asked == [40, 40] and torch.allclose(first.target.sum(1), torch.ones(40))
    assert torch.equal(first.value, second.value)


def test_a_student_learns_from_its_teacher(settings: dict[str, Any], tmp_path: Path) -> None:
    """All positions are drawn, under all rules; the card names the teacher."""
    settings["data"]["teacher"] = {"network": TEACHER}
    settings["training"] |= {"value_loss": "bce", "steps": 60, "accumulate": 2}
    run = RunConfig.model_validate(settings)
    samplers = open_samplers(run)
    assert samplers.train.positions == 60 * 24
    card = read_card(train(run, tmp_path / "run", show_progress=False))
    assert card.data == "the games of random; targets of zero-7x7 (MIT)"
    found = [event["policy"] for event in read_events(tmp_path / "run", "train")]
    assert np.mean(found[-3:]) < np.mean(found[:3]) - 0.1
    assert train(run, tmp_path / "run", show_progress=False).is_file()  # nothing is left to do


def test_games_are_put_under_all_rules_and_other_komi(store: Path) -> None:
    """Half of them each, one set of rules for all positions of a game, with the teacher's inputs under the same."""
    teacher = Teacher.named(TEACHER)
    games = Store.open(store)
    sampler = Sampler(games, "all", batch_size=1440, any_rules=True, seed=3, extra=teacher.inputs(2, 3))
    rows, batch = sampler.rows(0), sampler.batch(0)
    plain = Sampler(games, "all", batch_size=1440, seed=3).batch(0)
    assert np.array_equal(batch.scalars, batch.extra["teacher_scalars"])
    assert np.array_equal(batch.planes, batch.extra["teacher_planes"])
    same = (batch.scalars == plain.scalars).all(1)
    assert np.array_equal(np.isnan(batch.value), np.isnan(batch.score)) and not np.isnan(batch.value[same]).all()
    rules: dict[int, set[tuple[float, ...]]] = {}
    for game, side, scalars in zip(rows.game.tolist(), rows.ply % 2, batch.scalars, strict=True):
        komi = float(np.round(scalars[0] * 20 * (1 if side else -1), 3))
        rules.setdefault(game, set()).add((komi, *scalars[2:6].tolist()))
    assert all(len(one) == 1 for one in rules.values())
    assert 15 < sum(next(iter(one))[0] != 0.5 for one in rules.values()) < 45
    assert len({next(iter(one))[1:] for one in rules.values()}) >= 4  # some of RULE_SETS differ in ko or suicide
    assert isinstance(games.row(0), GameRecord) and len(RULE_SETS) == 6


def test_a_teacher_that_does_not_fit(settings: dict[str, Any]) -> None:
    settings["data"]["teacher"] = {"network": "zero-9x9"}
    with pytest.raises(RecipeError, match=r"zero-9x9 knows boards of \[9\], not of \[7\]"):
        open_samplers(RunConfig.model_validate(settings))
    settings["data"]["teacher"] = {"network": "no-such-network"}
    with pytest.raises(NetworkError, match="no-such-network"):
        open_samplers(RunConfig.model_validate(settings))


def test_the_loss_is_that_of_the_taught_batch(settings: dict[str, Any]) -> None:
    settings["data"]["teacher"] = {"network": TEACHER}
    run = RunConfig.model_validate(settings)
    samplers = open_samplers(run)
    trainer = make_trainer(run, samplers.train.plane_set)
    batch = TensorBatch.of(samplers.train.batch(0))
    output = trainer.forward(batch)
    assert isinstance(trainer._loss, TaughtLosses)
    _, parts = trainer._loss(output, batch)
    plain = WeightedLosses(run.training.losses, figures=True)
    _, expected = plain(output, trainer._loss.taught(batch))
    assert {name: float(one) for name, one in parts.items()} == {name: float(one) for name, one in expected.items()}
