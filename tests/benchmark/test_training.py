"""How long a run takes, worked out from a few of its steps."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

import torch
from training.small_run import settings_of, write_store

from tengen.benchmark.training import encoding, estimate, plan, random_games
from tengen.training.config import RunConfig, TeacherConfig, TrainConfig
from tengen.training.pace import Pace, measure_pace
from tengen.training.samplers import open_samplers

PACE = Pace(steps=5, step_seconds=0.5, waiting=0.0, validation_seconds=0.01)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunConfig:
    store = write_store(tmp_path_factory.mktemp("stores") / "random")
    return RunConfig.model_validate(settings_of(store))


def test_a_run_of_steps() -> None:
    """1,000 steps of half a second; validated after 300, 600, 900 and at the end, two seconds each."""
    steps, seconds, validating, ends_by = plan(TrainConfig(steps=1000, validate_every=300), PACE, 200)
    assert (steps, ends_by) == (1000, "steps")
    assert seconds == pytest.approx(500 + 8)
    assert validating == pytest.approx(8 / 508)


def test_a_run_of_hours_makes_the_steps_that_fit() -> None:
    """An hour; a round of 100 steps and a validation takes 52 seconds."""
    steps, seconds, _, ends_by = plan(TrainConfig(max_hours=1.0, validate_every=100), PACE, 200)
    assert ends_by == "max_hours"
    assert steps == int(100 * 3600 / 52)
    assert seconds == pytest.approx(3600, rel=0.01)


def test_what_comes_first_ends_a_run_of_both() -> None:
    assert plan(TrainConfig(steps=10, max_hours=1.0), PACE, 0)[::3] == (10, "steps")
    assert plan(TrainConfig(steps=10**6, max_hours=0.5), PACE, 0)[::3] == (3600, "max_hours")


def test_a_recipe_is_measured_on_its_own_store(run: RunConfig) -> None:
    found = estimate(run, 0.0)
    assert found.source == run.data.store and found.measured_steps == 2
    assert (found.recipe, found.network) == ("small", "b1c8")
    assert (found.steps, found.positions, found.ends_by) == (30, 240, "steps")
    assert found.rate == pytest.approx(8 / found.step_seconds)
    assert found.seconds * (1 - found.judging) == pytest.approx(30 * found.step_seconds)


def test_without_the_store_on_random_games(run: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = run.data.model_copy(update={"store": "nowhere"})
    card = run.card.model_copy(update={"board_sizes": [7]})
    for teacher in (None, TeacherConfig(network="zero-7x7", uses=2)):
        chosen = data.model_copy(update={"teacher": teacher})
        found = estimate(run.model_copy(update={"data": chosen, "card": card}), 0.0)
        assert found.source == "random games" and found.step_seconds > 0
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_the_pace_is_of_the_run_and_leaves_no_trace(run: RunConfig) -> None:
    before = torch.get_num_threads()
    samplers = open_samplers(run)
    pace = measure_pace(run, samplers, 0.2)
    assert pace.steps >= 2 and pace.step_seconds * pace.steps >= 0.2 * 0.9
    assert 0 <= pace.waiting <= 1 and pace.validation_seconds > 0
    assert torch.get_num_threads() == before


def test_positions_into_batches(run: RunConfig) -> None:
    missing = run.model_copy(update={"data": run.data.model_copy(update={"store": "nowhere"})})
    mine, random = encoding([missing, run], 0.0), encoding([missing], 0.0)
    assert (mine.source, mine.size) == (run.data.store, 7)
    assert (random.source, random.size) == ("random games", 19)
    assert mine.rate > random.rate > 0


def test_random_games_are_games() -> None:
    with random_games(9) as store:
        assert len(store) == 12
        for i in range(len(store)):
            row = store.row(i)
            assert row.game(len(row.moves)).size == 9 and len(row.moves) == 40
