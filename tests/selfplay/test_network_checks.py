"""What is said of a network, for networks whose faults are known exactly."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from selfplay.random_games import played_game, write_store

from tengen.data.store import Store
from tengen.evaluators import BatchEvaluator, Evaluation, InputBatch
from tengen.evaluators.evaluation import Floats
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.selfplay.network_checks import (
    Probe,
    batch_dependence,
    draw_probe,
    network_figures,
    prediction_figures,
    symmetry_disagreement,
    training_mode_difference,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    games = [played_game(seed, size=5 + 2 * (seed % 2)) for seed in range(40)]
    return write_store(tmp_path_factory.mktemp("probe") / "games", games)


@pytest.fixture(scope="module")
def probe(store: Store) -> Probe:
    return draw_probe(Fake(), store, positions=24, seed=3)


class Fake(BatchEvaluator):
    """Answers made of the content of each row: random weights on the planes' sums, or what a test asks for."""

    name, plane_set = "fake", "tengen"

    def __init__(self, policy: Floats | None = None, value: Floats | None = None, batch: float = 0.0) -> None:
        self._policy, self._value, self._batch = policy, value, batch

    def infer(self, batch: InputBatch) -> Evaluation:
        planes, mask = batch.planes, batch.mask
        edge = mask.shape[-1]
        found = Evaluation.zeros(len(mask), edge)
        weights = np.random.default_rng(0).normal(size=(planes.shape[1], edge, edge)).astype(np.float32)
        powers = np.exp((planes * weights).sum(axis=1)) * mask
        found.policy[:, :-1] = (powers / powers.sum(axis=(1, 2), keepdims=True)).reshape(len(mask), -1)
        found.value[:] = np.tanh((planes * weights).sum(axis=(1, 2, 3)) / 50)
        if self._policy is not None:
            found.policy[:] = self._policy
        if self._value is not None:
            found.value[:] = self._value
        found.value[:] += self._batch * (planes.mean() - planes.mean(axis=(1, 2, 3)))
        return found


def test_a_probe_draws_searched_positions_of_different_games_again_the_same(store: Store, probe: Probe) -> None:
    again = draw_probe(Fake(), store, positions=24, seed=3)
    other = draw_probe(Fake(), store, positions=24, seed=4)
    assert len(probe) == 24
    assert np.array_equal(probe.inputs.planes, again.inputs.planes)
    assert not np.array_equal(probe.inputs.planes, other.inputs.planes)
    assert set(probe.size.tolist()) == {5, 7}
    assert probe.target.sum(axis=1) == pytest.approx(np.ones(24))
    on_board = np.concatenate([probe.inputs.mask.reshape(24, -1), np.ones((24, 1))], axis=1)
    assert not probe.target[on_board == 0].any()
    assert sorted(set(probe.target[0].tolist())) == [0, 0.25, 0.75]


def test_a_network_that_answers_as_the_search_agrees_wholly(probe: Probe) -> None:
    found = prediction_figures(Fake(probe.target, probe.value), probe)
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert found == pytest.approx({"agreement": 1, "policy": entropy, "surprise": 0, "value": 0}, abs=1e-5)


def test_a_network_that_knows_nothing_has_the_losses_of_a_guess(probe: Probe) -> None:
    actions = probe.target.shape[1]
    uniform = np.full((len(probe), actions), 1 / actions, np.float32)
    found = prediction_figures(Fake(uniform, np.zeros(len(probe), np.float32)), probe)
    assert found["policy"] == pytest.approx(np.log(actions), abs=1e-5)
    assert found["value"] == pytest.approx(1)


def test_symmetric_answers_do_not_disagree_and_others_do(probe: Probe) -> None:
    crooked = symmetry_disagreement(Fake(), probe)
    straight = symmetry_disagreement(SymmetricEvaluator(Fake(), "average"), probe)
    assert straight["policy"] == pytest.approx(0, abs=1e-5)
    assert straight["value"] == pytest.approx(0, abs=1e-5)
    assert straight["best"] == 1
    assert crooked["policy"] > 0.1
    assert crooked["value"] > 0.02
    assert crooked["best"] < 0.9


def test_the_largest_divergence_is_the_logarithm_of_eight(probe: Probe) -> None:
    """All mass on one corner-side point that eight symmetries take to eight points."""
    one = probe.size == 7
    part = Probe(*(getattr(probe, field.name)[one] for field in fields(Probe)))
    policy = np.zeros((len(part), part.target.shape[1]), np.float32)
    policy[:, 1] = 1
    assert symmetry_disagreement(Fake(policy), part)["policy"] == pytest.approx(np.log(8), abs=1e-5)


def test_answers_that_depend_on_the_batch_are_seen(probe: Probe) -> None:
    assert batch_dependence(Fake(), probe) == pytest.approx(0, abs=1e-5)
    assert batch_dependence(Fake(batch=5.0), probe) > 0.05


def test_an_empty_probe_says_nothing(store: Store) -> None:
    empty = draw_probe(Fake(), store, 40)
    assert len(empty) == 0
    assert prediction_figures(Fake(), empty)["policy"] is None
    assert symmetry_disagreement(Fake(), empty)["value"] is None
    assert batch_dependence(Fake(), empty) is None


def test_the_figures_of_a_network_tell_new_games_from_learned_ones(store: Store) -> None:
    figures = network_figures(Fake(), store, range(20, 40), range(5, 15), seed=1, edge=7)
    assert figures["fresh"] == prediction_figures(Fake(), draw_probe(Fake(), store, 20, 40, seed=1, edge=7))
    assert figures["seen"] == prediction_figures(Fake(), draw_probe(Fake(), store, 5, 15, seed=1, edge=7))
    assert figures["seen"] != figures["fresh"]
    assert figures["agreement"] == figures["fresh"]["agreement"]
    assert figures["normalisation"] == {"batch": pytest.approx(0, abs=1e-5)}
    assert network_figures(Fake(), store, range(20), range(0))["seen"]["policy"] is None


def test_batch_statistics_make_the_training_mode_another_network(probe: Probe, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="training needs the extra [train]")
    from tengen.evaluators.torch import TorchEvaluator
    from tengen.networks import NetOutput

    class Small(torch.nn.Module):
        def __init__(self, normalised: bool) -> None:
            super().__init__()
            planes = probe.inputs.planes.shape[1]
            self.norm = torch.nn.BatchNorm2d(planes) if normalised else torch.nn.Identity()
            self.policy = torch.nn.Conv2d(planes, 1, 3, padding=1)
            self.value = torch.nn.Linear(planes, 3)

        def forward(self, planes: torch.Tensor, scalars: torch.Tensor, mask: torch.Tensor) -> NetOutput:
            x = self.norm(planes)
            points = self.policy(x).flatten(1)
            policy = torch.cat([points, torch.zeros(len(x), 1)], dim=1)
            return NetOutput(policy, self.value(x.mean((2, 3))), torch.zeros(len(x)), torch.zeros_like(mask))

    torch.manual_seed(0)
    sick, healthy = Small(True), Small(False)
    before = {name: value.clone() for name, value in sick.state_dict().items()}
    assert training_mode_difference(TorchEvaluator(sick, name="sick"), sick, probe) > 0.1
    assert training_mode_difference(TorchEvaluator(healthy, name="healthy"), healthy, probe) < 1e-4
    assert all(torch.equal(before[name], value) for name, value in sick.state_dict().items())
