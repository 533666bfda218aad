"""The recipes of published systems: their parts fit together, as one test of each shows without training it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

from tengen.cli.recipes import about  # noqa: E402
from tengen.data.planes import plane_set  # noqa: E402
from tengen.engine import SearchParams  # noqa: E402
from tengen.evaluators.installed_networks import find_network  # noqa: E402
from tengen.networks import NetOutput, build  # noqa: E402
from tengen.networks.load import load_module  # noqa: E402
from tengen.networks.presets import PRESETS as NETWORKS  # noqa: E402
from tengen.networks.registry import parameter_count  # noqa: E402
from tengen.recipes import load_recipe, recipe_names  # noqa: E402
from tengen.recipes.loader import network_fields, recipe_fields  # noqa: E402
from tengen.reinforce.config import PolicyGradientConfig  # noqa: E402
from tengen.review.game import positions_of  # noqa: E402
from tengen.selfplay.config import SelfPlayConfig  # noqa: E402
from tengen.sgf import read_tree  # noqa: E402
from tengen.training.batches import TensorBatch  # noqa: E402
from tengen.training.losses import WeightedLosses, check_losses  # noqa: E402
from tengen.training.optimizers import OPTIMIZERS, make_optimizer  # noqa: E402

RECORD = Path(__file__).parents[1] / "data" / "fox-komi-750.sgf"
PUBLISHED = [name for name in recipe_names("supervised") if load_recipe(name).paper]


def settings_for_minutes(description: str) -> list[str]:
    return re.findall(r"--set (\S+=\S+?)\.?(?=\s|$)", description.split("In minutes: ")[1])


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_parts_of_a_published_recipe_fit(name: str) -> None:
    run = load_recipe(name)
    config = network_fields(run.network)
    assert run.hours
    assert (run.data.store, run.data.validation_store) == ("stores/tygem-before-2012", "stores/tygem-val")
    # The network takes the planes of its set on the board of the games, and has the heads of its losses.
    inputs = plane_set(config.plane_set)
    with torch.device("meta"), torch.no_grad():
        network = build(config, len(inputs.planes), len(inputs.scalars)).eval()
        output = network(
            torch.zeros(2, len(inputs.planes), 19, 19), torch.zeros(2, len(inputs.scalars)), torch.ones(2, 19, 19)
        )
    assert output.policy.shape == (2, 361 + config.heads.pass_move)
    check_losses(config, run.training.losses)
    wanted = {
        loss
        for loss, weight in run.training.losses.weights().items()
        if weight and loss in run.training.losses.model_fields_set
    }
    assert {loss for loss in wanted if loss.startswith("move")} == set(output.maps)
    assert ("value" in wanted) == (output.value is not None)
    # Its optimizer exists, its search too, and the length of the run is known before it starts.
    assert run.training.optimizer.name in OPTIMIZERS
    search = SearchParams().advised(run.card.search)
    assert (search.noise_weight, search.temperature) == (0, 0), "exploration belongs to self-play"
    training = run.training.with_epoch(46_000_000)
    assert training.total_steps
    shown = about(name)
    assert shown["parameters"] == parameter_count(network) and shown["macs"]
    assert shown["planes"] == config.plane_set and shown["hours"] == run.hours


@pytest.mark.parametrize("name", ["fine-tune", "alphago-rl-9x9", "rocalphago-rl"])
def test_a_recipe_that_begins_with_a_network_shows_the_size_of_that_one(name: str) -> None:
    shown = about(name)
    module = load_module(find_network(shown["network"]))
    assert shown["parameters"] == parameter_count(module) and shown["macs"] and shown["planes"] == "tengen"


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_a_published_recipe_calls_minutes_takes_minutes(name: str) -> None:
    run = load_recipe(name)
    short = load_recipe(name, settings_for_minutes(run.description)).training
    steps = run.training.with_epoch(46_000_000).total_steps
    assert run.hours and steps and short.steps
    share = short.steps * short.batch_size / (steps * run.training.batch_size)
    assert 60 * run.hours * share < 20


def test_a_rate_that_follows_validations_follows_all_games_that_are_held_out() -> None:
    """It falls where an accuracy is no new best for some epochs; of 2,000 games it has an error of 1.1 points."""
    runs = [run for run in map(load_recipe, PUBLISHED) if run.training.schedule.shape == "plateau"]
    assert {run.name: run.training.validation_games for run in runs} == {"darkforest": 11364, "plan-b": 11364}


@pytest.mark.parametrize(
    ("name", "model", "played"),
    [
        ("alphago-rl-9x9", PolicyGradientConfig, lambda run: run.iterations * run.games),
        ("rocalphago-rl", PolicyGradientConfig, lambda run: run.iterations * run.games),
        ("cody-7x7", SelfPlayConfig, lambda run: run.cycles * run.games_per_cycle * run.search.visits),
    ],
)
def test_what_a_recipe_that_plays_its_games_calls_minutes_takes_minutes(
    name: str, model: Any, played: Callable[[Any], int]
) -> None:
    run = load_recipe(name, model=model)
    short = load_recipe(name, settings_for_minutes(run.description), model=model)
    assert 60 * run.hours * played(short) / played(run) < 20
    at_the_end = short.evaluation.games if model is PolicyGradientConfig else short.gate.games + short.rating.games
    assert at_the_end <= 40


@pytest.mark.parametrize("name", ["a0.small", "a0.8.66", "a0.20.256", "mobile.small", "a0.small.conv", "mobile.40"])
def test_the_value_of_a_mobile_recipe_has_the_weight_of_the_paper(name: str) -> None:
    """1, of the squared error or the cross-entropy of values in 0..1, which the paper's sigmoid gives."""
    training = load_recipe(name).training
    logit, value = torch.tensor([[0.3], [-1.2], [2.0]]), torch.tensor([1.0, -1.0, -1.0])
    nothing = torch.zeros(3)
    batch = TensorBatch(
        planes=nothing, scalars=nothing, mask=nothing, policy=torch.tensor([0, 1, 2]), value=value,
        score=nothing, ownership=nothing, weight=torch.ones(3),
    )  # fmt: skip
    output = NetOutput(torch.zeros(3, 361), logit)
    whole, parts = WeightedLosses(training.losses, training.value_loss)(output, batch)
    chance, won = torch.sigmoid(logit.squeeze(1)), (1 + value) / 2
    squared = (chance - won).square().mean()
    crossed = -(won * chance.log() + (1 - won) * (1 - chance).log()).mean()
    expected = crossed if training.value_loss == "bce" else squared
    assert float(whole - parts["policy"]) == pytest.approx(float(expected), rel=1e-5)


def test_the_published_7x7_system_steps_by_plain_momentum_and_shrinks_all_weights() -> None:
    """mu = 0.9 without Nesterov's look ahead, and the gradient of 1e-3 / 2 * |w|^2 of dense layers and biases too."""
    torch.manual_seed(0)
    run = load_recipe("cody-7x7", model=SelfPlayConfig)
    network = build(network_fields({**run.network, "channels": 4, "hidden": 4}), 3, 0)
    optimizer = make_optimizer(network, run.learn.optimizer)
    for name, weights in network.named_parameters():
        before = weights.detach().clone()
        moved = torch.zeros_like(before)
        for _ in range(2):
            for each in network.parameters():
                each.grad = torch.ones_like(each) if each is weights else torch.zeros_like(each)
            moved = 0.9 * moved + 1 + 1e-3 * before
            before = before - 0.2 * moved
            optimizer.step()
        torch.testing.assert_close(weights.detach(), before, rtol=1e-5, atol=1e-6, msg=name)
        optimizer.state.clear()


def test_a_newcomer_finds_each_published_network_in_a_recipe() -> None:
    """Other widths and numbers of blocks are a setting of one of these recipes."""
    used = {recipe_fields(name).get("network", {}).get("preset") for name in recipe_names()}
    variants = ("alphago-policy-", "alphago-zero-", "leela-zero-", "a0.", "mobile.", "plan-b-", "bakago-rollout-1-")
    assert all(name in used or name.startswith(variants) for name in NETWORKS)


@pytest.mark.slow
def test_the_rate_of_a_published_recipe_leaves_its_hidden_layer_alive() -> None:
    """At 0.01 all 256 units of BakaGo's first network gave 0 for every position, and it learned nothing more."""
    torch.manual_seed(0)
    run = load_recipe("bakago-v1")
    config = network_fields(run.network)
    inputs = plane_set(config.plane_set)
    network = build(config, len(inputs.planes), len(inputs.scalars))
    games = [game for _, game in positions_of(read_tree(RECORD.read_bytes()))][:-1]
    positions = [torch.from_numpy(part) for part in inputs.encode_games(games)]
    moves = torch.tensor([point for _, point in games[-1].moves] + [0])
    hidden: list[torch.Tensor] = []
    network.get_submodule("policy.hidden.0").register_forward_hook(lambda module, given, made: hidden.append(made))
    optimizer = make_optimizer(network, run.training.optimizer)
    for _ in range(10):
        loss = torch.nn.functional.cross_entropy(network(*positions).policy, moves)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    network.eval()(*positions)
    assert (hidden[-1].max(0).values > 0).float().mean() > 0.5
