"""An update of the learner: its limit on how far the policy moves, and the entropy in its loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="learning needs the extra [train]")

from match.batch_match import play, raw, records  # noqa: E402
from selfplay.made_up import Checksum  # noqa: E402
from small_parent import small_config, small_q_config, write_parent  # noqa: E402

from tengen.match.conditions import Conditions  # noqa: E402
from tengen.networks import NetOutput, build, parse_config  # noqa: E402
from tengen.networks.load import load_module  # noqa: E402
from tengen.reinforce.learner import ActionValueLearner, PolicyLearner  # noqa: E402
from tengen.reinforce.losses import log_policy  # noqa: E402
from tengen.reinforce.trajectories import Trajectories, trajectories  # noqa: E402


@pytest.fixture(scope="module")
def steps() -> Trajectories:
    conditions = Conditions(size=5, komi=0.5, rules="tromp-taylor", dead_stones="pass-alive", seed=2)
    return trajectories(
        records(play(*(raw(Checksum(n), 1.0, "free") for n in "ab"), conditions, 8)), Checksum(), "free"
    )


def learner(folder: Path, **learn: Any) -> PolicyLearner:
    """With the weights of one parent, whatever the settings."""
    optimizer = {"name": "sgd", "lr": 0.5, "momentum": 0, "weight_decay": 0}
    config = small_config(
        path := write_parent(folder / "parent.onnx"),
        learn={"threads": 1, "batch_size": 4096, "optimizer": optimizer, "precision": "f32", **learn},
    )
    return PolicyLearner(load_module(path), "tengen", config)


def weights(one: PolicyLearner) -> np.ndarray[Any, Any]:
    return torch.cat([p.detach().ravel() for p in one.trainer.network.parameters()]).numpy()


def test_an_update_that_moves_the_policy_too_far_is_halved(tmp_path: Path, steps: Trajectories) -> None:
    """It ends on the way from the old weights to those of the whole update."""
    whole, half = learner(tmp_path, kl=1e9), learner(tmp_path, kl=0.0002)
    before = weights(whole)
    moved = whole.update(steps)
    assert moved["kept"] == 1 and moved["kl"] > 0.0002
    limited = half.update(steps)
    assert limited["kept"] in (0.5**n for n in range(1, 9)) and 0 < limited["kl"] <= 0.0002
    np.testing.assert_allclose(weights(half), before + limited["kept"] * (weights(whole) - before), atol=1e-6)


def test_what_the_values_of_moves_explain(steps: Trajectories, monkeypatch: pytest.MonkeyPatch) -> None:
    """Perfect values of all moves but a pass without a logit, which is no prediction."""
    config = small_q_config(learn={"threads": 1, "batch_size": 4096})
    network = parse_config(config.network)
    one = ActionValueLearner(build(network, 11, 0), network.plane_set, config)
    perfect = torch.zeros(len(steps), 25)
    known = steps.move < 25
    perfect[known, steps.move[known]] = 50 * steps.outcome[known]
    assert not known.all() and known.any()
    monkeypatch.setattr(one.trainer, "forward", lambda part: NetOutput(perfect))
    monkeypatch.setattr(one, "_train", lambda rows: (rows, {}))
    assert one.update(steps)["explained"] == pytest.approx(1)


def test_the_entropy_in_the_loss_keeps_the_policy_open(tmp_path: Path, steps: Trajectories) -> None:
    nothing = {"policy": 0, "value": 0, "score": 0, "ownership": 0}

    def entropy(one: PolicyLearner) -> float:
        with torch.no_grad():
            logs = log_policy(one.trainer.forward(steps), steps.allowed, 1.0)
        return float(-(logs.exp() * logs).sum(1).mean())

    one = learner(tmp_path, losses=nothing, entropy=1.0, kl=1e9)
    with torch.no_grad():  # of a policy that has preferences
        for name, parameter in one.trainer.network.named_parameters():
            if "policy" in name:
                parameter *= 20
    before = entropy(one)
    assert one.update(steps)["entropy"] == pytest.approx(before, rel=1e-4)
    assert entropy(one) > before + 1e-4
