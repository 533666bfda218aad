"""Losses against values worked out by hand, and unknown targets that must not count."""

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.errors import RecipeError  # noqa: E402
from tengen.networks import NetOutput  # noqa: E402
from tengen.training.batches import TensorBatch  # noqa: E402
from tengen.training.config import LossWeights  # noqa: E402
from tengen.training.losses import (  # noqa: E402
    LOSSES,
    WeightedLosses,
    accuracy_figures,
    move_loss,
    policy_loss,
    soften,
    total,
    value_loss,
)

NAN = math.nan
HEADS = ("policy", "value", "score", "ownership")


def batch(**fields: torch.Tensor) -> TensorBatch:
    """Two rows on a 2x2 board, with everything unknown but what is given."""
    unknown = {
        "planes": torch.zeros(2, 1, 2, 2),
        "scalars": torch.zeros(2, 1),
        "mask": torch.ones(2, 2, 2),
        "policy": torch.tensor([-1, -1]),
        "value": torch.tensor([NAN, NAN]),
        "score": torch.tensor([NAN, NAN]),
        "ownership": torch.full((2, 2, 2), NAN),
        "weight": torch.ones(2),
    }
    return TensorBatch(**{**unknown, **fields})


def known(part: torch.Tensor | None) -> torch.Tensor:
    assert part is not None
    return part


def losses(out: NetOutput, targets: TensorBatch) -> dict[str, torch.Tensor]:
    return WeightedLosses(LossWeights())(out, targets)[1]


def output() -> NetOutput:
    return NetOutput(
        policy=torch.tensor([[0.0, 0, 0, 0, 0], [math.log(4), 0, 0, 0, -1e4]], requires_grad=True),
        value=torch.tensor([[math.log(2), 0, 0], [0, 0, 0]], requires_grad=True),
        score=torch.tensor([10.0, 60.0], requires_grad=True),
        ownership=torch.tensor([[[0.5, 0], [0, 0]], [[1, 1], [1, 1]]], requires_grad=True),
    )


def test_policy_is_cross_entropy_with_the_move() -> None:
    assert policy_loss(output().policy, batch(policy=torch.tensor([2, 0]))).item() == pytest.approx(
        (math.log(5) + math.log(7 / 4)) / 2
    )
    assert policy_loss(output().policy, batch(policy=torch.tensor([-1, 0]))).item() == pytest.approx(math.log(7 / 4))


def test_policy_takes_a_distribution() -> None:
    target = torch.tensor([[0.0] * 5, [0.5, 0.5, 0, 0, 0]])
    expected = 0.5 * math.log(7 / 4) + 0.5 * math.log(7)
    assert policy_loss(output().policy, batch(target=target)).item() == pytest.approx(expected)
    assert policy_loss(output().policy, batch(policy=torch.tensor([2, 0]), target=target)).item() == pytest.approx(
        expected
    )


def test_reply_and_soft_are_policies_of_their_own() -> None:
    logits = output().policy
    target = torch.tensor([[1 / 17, 0, 0, 16 / 17, 0], [0.0] * 5])
    assert soften(target).tolist() == [pytest.approx([1 / 3, 0, 0, 2 / 3, 0]), [0.0] * 5]
    out = output()._replace(maps={"reply": logits, "soft": logits.flip(0)})
    found = losses(out, batch(target=target, reply=target.flip(0)))
    assert found["reply"].item() == pytest.approx(math.log(7) - math.log(4) / 17)
    assert found["soft"].item() == pytest.approx(math.log(7) - math.log(4) / 3)
    assert set(losses(out, batch())) == set(losses(output(), batch(target=target, reply=target))) == set(HEADS)
    assert found["policy"].item() == pytest.approx(math.log(5))


def test_a_reply_without_pass_is_compared_on_the_points() -> None:
    """Of the first row a fifth is a pass, of which the logits know nothing; of the second, all."""
    target = torch.tensor([[0.2, 0, 0, 0.6, 0.2], [0, 0, 0, 0, 1.0]])
    points = torch.tensor([[math.log(4), 0.0, 0, 0], [0, 0, 0, 0]])
    found = move_loss(points, target, torch.ones(2)).item()
    assert found == pytest.approx(math.log(7) - math.log(4) / 4)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.0, math.log(2)), (-1.0, math.log(4)), (0.0, math.log(4)), (0.5, 0.5 * math.log(2) + 0.5 * math.log(4))],
)
def test_value_is_cross_entropy_of_three_outcomes(value: float, expected: float) -> None:
    assert value_loss(known(output().value), batch(value=torch.tensor([value, NAN]))).item() == pytest.approx(expected)


WIN, DRAW = math.log(3), 0.0  # logits of a probability of 3/4 and 1/2


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        # Values of +1/2 and 0 in -1..1, in each form of head, for a game won and a draw.
        (torch.tensor([[WIN], [DRAW]]), "auto", (-math.log(3 / 4) + math.log(2)) / 2),
        (torch.tensor([[WIN], [DRAW]]), "mse", 0.25 / 2),
        (torch.tensor([0.5, 0.0]), "auto", 0.25 / 2),
        (torch.tensor([0.5, 0.0]), "bce", (-math.log(3 / 4) + math.log(2)) / 2),
        (torch.tensor([[math.log(2), 0, -1e4], [0, 0, 0]]), "auto", (-math.log(2 / 3) + math.log(3)) / 2),
        (torch.tensor([[math.log(2), 0, -math.inf], [0, 0, 0]]), "mse", (1 / 9) / 2),
        (torch.tensor([[math.log(2), 0, 0], [0, 0, 0]]), "bce", (math.log(2) + math.log(3)) / 2),
    ],
)
def test_the_loss_of_a_value_is_chosen_by_the_recipe(value: torch.Tensor, kind: Any, expected: float) -> None:
    targets = batch(value=torch.tensor([1.0, 0.0]))
    _, parts = WeightedLosses(LossWeights(), kind)(NetOutput(output().policy, value.requires_grad_()), targets)
    assert parts["value"].item() == pytest.approx(expected, abs=1e-6)
    alone = [value_loss(value, batch(value=torch.tensor(known)), kind).item() for known in ([1.0, NAN], [NAN, 0.0])]
    assert sum(alone) / 2 == pytest.approx(expected, abs=1e-6), "an unknown result does not count"


def test_a_value_that_calls_all_games_drawn_is_taught_a_winrate() -> None:
    """The gradient of a winrate of 70% is as long as its error where a draw has all the probability, and the loss is
    least at 70% and 30% of win and loss."""
    targets = batch(value=torch.tensor([0.4, 0.4]))
    value = torch.tensor([[0.0, 12.0, 0.0]] * 2, requires_grad=True)
    value_loss(value, targets, "bce").backward()
    assert value.grad is not None and torch.allclose(value.grad[0], torch.tensor([-0.35, 0.5, -0.15]), atol=1e-4)
    best = torch.log(torch.tensor([[0.7, 1e-9, 0.3]] * 2)).requires_grad_()
    value_loss(best, targets, "bce").backward()
    assert best.grad is not None and best.grad.abs().max() < 1e-6


def test_the_sum_over_the_next_three_moves_is_the_published_one() -> None:
    """Sum of the negative log-likelihoods of move k, over k; a row whose game ends before does not count."""
    logits = output().policy.detach()
    maps = {"move2": logits.clone().requires_grad_(), "move3": logits.clone().requires_grad_()}
    extra = {"move2": torch.tensor([1, 0]), "move3": torch.tensor([-1, 2])}
    weights = LossWeights(policy=1, value=0, score=0, ownership=0, move2=1 / 2, move3=1 / 3)  # type: ignore[call-arg]
    found, parts = WeightedLosses(weights)(
        NetOutput(logits, maps=maps), batch(policy=torch.tensor([0, 0]), extra=extra)
    )
    nll = (math.log(5) + math.log(7 / 4)) / 2, (math.log(5) + math.log(7 / 4)) / 2, math.log(7)
    assert [parts[name].item() for name in ("policy", "move2", "move3")] == pytest.approx(list(nll))
    assert found.item() == pytest.approx(nll[0] + nll[1] / 2 + nll[2] / 3)


def test_figures_of_a_batch_in_training() -> None:
    """A map of another name may learn a distribution, which has no top-1."""
    logits = torch.tensor([[5.0, 4, 3, 2, 1, 0, -1], [5, 4, 3, 2, 1, 0, -1]])
    out = NetOutput(logits, value=torch.tensor([0.5, -1.0]), maps={"move2": logits[:, :6], "soft": logits})
    targets = batch(policy=torch.tensor([0, 5]), value=torch.tensor([1.0, NAN]), extra={"move2": torch.tensor([4, 6])})
    targets.extra["soft"] = torch.ones(2, 7) / 7  # type: ignore[index]
    found = {name: value.item() for name, value in accuracy_figures(out, targets).items()}
    expected = {"top1": 0.5, "top5": 0.5, "move2_top1": 0, "move2_top5": 1, "value_mse": 0.25}
    assert found == pytest.approx(expected), "move 6 is a pass, of which the map knows nothing"


def test_score_is_squared_then_linear() -> None:
    targets = batch(score=torch.tensor([30.0, NAN]))
    assert losses(output(), targets)["score"].item() == pytest.approx(0.5)
    targets = batch(score=torch.tensor([NAN, 0.0]))
    assert losses(output(), targets)["score"].item() == pytest.approx(3 - 0.5)


def test_ownership_counts_known_points_of_the_board() -> None:
    owner = torch.tensor([[[1.0, NAN], [-1, 0]], [[NAN, NAN], [NAN, NAN]]])
    mask = torch.ones(2, 2, 2)
    mask[0, 1, 1] = 0
    found = losses(output(), batch(ownership=owner, mask=mask))["ownership"].item()
    assert found == pytest.approx((0.25 + 1) / 2)


def test_weights_weigh_rows() -> None:
    targets = batch(policy=torch.tensor([2, 0]), weight=torch.tensor([3.0, 1.0]))
    expected = (3 * math.log(5) + math.log(7 / 4)) / 4
    assert policy_loss(output().policy, targets).item() == pytest.approx(expected)


def test_nothing_known_is_no_loss_and_no_gradient() -> None:
    out = output()
    loss, _ = WeightedLosses(LossWeights())(out, batch())
    loss.backward()
    assert loss.item() == 0
    for part in out[:4]:
        assert part is not None and (part.grad is None or part.grad.abs().sum() == 0)


def test_total_weighs_the_heads() -> None:
    parts = {name: torch.tensor(1.0) for name in (*HEADS, "reply", "soft")}
    weights = LossWeights(policy=1, value=0.5, score=0.25, ownership=2, reply=8, soft=16)
    assert total(parts, weights.weights()).item() == pytest.approx(27.75)


def test_a_function_alone_is_no_loss() -> None:
    with pytest.raises(RecipeError, match="loss 'mine' is a function, no LossTerm"):
        LOSSES.register("mine", value_loss)  # type: ignore[arg-type]
