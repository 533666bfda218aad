"""The loss of a policy gradient against sums written out, and its limits."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="learning needs the extra [train]")

from small_parent import small_config  # noqa: E402

from tengen.networks import NetOutput  # noqa: E402
from tengen.reinforce.losses import (  # noqa: E402
    ActionValueLoss,
    PolicyGradientLoss,
    UpdateBatch,
    action_logits,
    advantages,
    divergence,
    log_policy,
    policy_surrogate,
)
from tengen.reinforce.trajectories import Trajectories  # noqa: E402

GENERATOR = torch.Generator().manual_seed(1)
LOGITS = torch.randn(6, 10, generator=GENERATOR)
ALLOWED = torch.rand(6, 10, generator=GENERATOR) < 0.6
ALLOWED[:, 0] = True


def output(logits: torch.Tensor) -> NetOutput:
    rows = len(logits)
    return NetOutput(logits, torch.zeros(rows, 3), torch.zeros(rows), torch.zeros(rows, 3, 3))


@pytest.mark.parametrize("temperature", [0.67, 1.0])
def test_probabilities_are_those_that_moves_are_drawn_by(temperature: float) -> None:
    from tengen.match.moves import move_weights

    policy = torch.softmax(LOGITS, 1).numpy()
    weights = move_weights(policy, ALLOWED.numpy(), temperature)
    found = log_policy(output(LOGITS), ALLOWED, temperature).exp().numpy()
    np.testing.assert_allclose(found, weights / weights.sum(1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("ratio", [None, 0.2])
def test_at_the_policy_that_played_the_gradient_is_that_of_reinforce(ratio: float | None) -> None:
    advantage = torch.tensor([1.0, -1.0, 0.5, 0.0, -0.2, 2.0])
    move = ALLOWED.float().argmax(1)
    logits = LOGITS.clone().requires_grad_()
    logs = log_policy(output(logits), ALLOWED, 1.0)
    made = logs.gather(1, move[:, None]).squeeze(1)
    policy_surrogate(made, made.detach(), advantage, ratio).backward()
    # d log p(move) / d logit = 1[move] - p, written out row by row.
    for row in range(6):
        p = logs[row].detach().exp()
        expected = -advantage[row] * (torch.nn.functional.one_hot(move[row], 10) - p) * ALLOWED[row] / 6
        torch.testing.assert_close(logits.grad[row], expected)  # type: ignore[index]


@pytest.mark.parametrize(
    ("advantage", "change", "teaches"),
    [(1.0, 1.1, True), (1.0, 1.3, False), (1.0, 0.5, True), (-1.0, 0.9, True), (-1.0, 0.7, False), (-1.0, 1.5, True)],
)
def test_a_move_that_has_changed_enough_in_the_wanted_direction_teaches_no_more(
    advantage: float, change: float, teaches: bool
) -> None:
    now = torch.tensor([np.log(0.3 * change)], requires_grad=True)
    policy_surrogate(now, torch.tensor([np.log(0.3)]), torch.tensor([advantage]), 0.2).backward()
    assert (now.grad.abs().item() > 0) == teaches  # type: ignore[union-attr]


def test_divergence_against_its_definition() -> None:
    before, now = (torch.log_softmax(LOGITS[rows], 1) for rows in (slice(0, 3), slice(3, 6)))
    expected = np.mean([sum(p * np.log(p / q) for p, q in zip(*pair, strict=True))
                        for pair in zip(before.exp().tolist(), now.exp().tolist(), strict=True)])  # fmt: skip
    assert float(divergence(before, now)) == pytest.approx(expected, abs=1e-6)
    assert float(divergence(before, before)) == 0


def test_baselines() -> None:
    outcome = torch.tensor([1.0, 1.0, -1.0, -1.0, -1.0])
    black = torch.tensor([True, True, True, False, False])
    logits = torch.tensor([[0.0, 0.0, 0.0]] * 4 + [[np.log(3.0), 0.0, 0.0]])
    assert advantages(outcome, black, logits, "none").tolist() == outcome.tolist()
    torch.testing.assert_close(advantages(outcome, black, logits, "mean"), torch.tensor([2, 2, -4, 0, 0]) / 3)
    # The last row expects 3/5 - 1/5.
    torch.testing.assert_close(advantages(outcome, black, logits, "value"), torch.tensor([1, 1, -1, -1, -1.4]))


@pytest.mark.parametrize(
    ("outcome", "value", "score", "ownership"), [(1.0, np.log(2), 0.0, 0.25), (-1.0, np.log(4), 0.5, 2.25)]
)
def test_the_loss_of_an_update_by_hand(outcome: float, value: float, score: float, ownership: float) -> None:
    """A move of probability 1/4 and advantage 2, in a game on 2x2 that was won or lost by 10 points and all points."""
    batch = UpdateBatch(
        planes=torch.zeros(1, 1, 2, 2),
        scalars=torch.zeros(1, 1),
        mask=torch.ones(1, 2, 2),
        allowed=torch.tensor([[True, True, True, True, False]]),
        move=torch.tensor([2]),
        outcome=torch.tensor([outcome]),
        score=torch.tensor([10 * outcome]),
        ownership=torch.full((1, 2, 2), outcome),
        black=torch.tensor([True]),
        log_policy=torch.full((1, 5), np.log(1 / 4)),
        advantage=torch.tensor([2.0]),
    )
    out = NetOutput(
        policy=torch.zeros(1, 5),
        value=torch.tensor([[np.log(2), 0.0, 0.0]]),
        score=torch.tensor([10.0]),
        ownership=torch.full((1, 2, 2), 0.5),
    )
    weights = {"policy": 1, "value": 0.5, "score": 0.25, "ownership": 0.125}
    config = small_config(Path("parent.onnx"), learn={"ratio": None, "entropy": 0.1, "losses": weights})
    found, parts = PolicyGradientLoss(config)(out, batch)
    expected = {"policy": 2 * np.log(4), "value": value, "score": score, "ownership": ownership, "entropy": np.log(4)}
    assert {name: part.item() for name, part in parts.items()} == pytest.approx(expected, abs=1e-6)
    total = 2 * np.log(4) + value / 2 + score / 4 + ownership / 8 - np.log(4) / 10
    assert found.item() == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize(("kind", "expected"), [("mse", [0.8**2, 1.2**2]), ("auto", [-np.log(0.6), -np.log(0.4)])])
def test_the_loss_of_action_values_by_hand(kind: str, expected: list[float]) -> None:
    """A move that wins with probability 0.6 is worth 0.2. A pass without a logit has no part in it."""
    batch = Trajectories(
        planes=torch.zeros(3, 1, 2, 2),
        scalars=torch.zeros(3, 1),
        mask=torch.ones(3, 2, 2),
        allowed=torch.ones(3, 5, dtype=torch.bool),
        move=torch.tensor([2, 0, 4]),
        outcome=torch.tensor([1.0, -1.0, 1.0]),
        score=torch.full((3,), np.nan),
        ownership=torch.full((3, 2, 2), np.nan),
        black=torch.tensor([True, True, True]),
    )
    logit = np.log(0.6 / 0.4)
    policy = torch.tensor([[9.0, -9.0, logit, 9.0], [logit, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]])
    assert action_logits(NetOutput(policy), batch.move)[:2].tolist() == pytest.approx([logit, logit])
    config = small_config(Path("parent.onnx"), learn={"value_loss": kind, "losses": {"policy": 0.5}})
    found, parts = ActionValueLoss(config)(NetOutput(policy), batch)
    assert parts["policy"].item() == pytest.approx(np.mean(expected), abs=1e-6)
    assert found.item() == pytest.approx(np.mean(expected) / 2, abs=1e-6)
