"""The published networks: their sizes, the page that lists them, and each one trained, written and playing."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

from pydantic import ValidationError  # noqa: E402
from torch import nn  # noqa: E402

from tengen.data.planes import plane_set  # noqa: E402
from tengen.engine import Engine, Limits  # noqa: E402
from tengen.errors import NetworkError  # noqa: E402
from tengen.evaluators import load_evaluator  # noqa: E402
from tengen.evaluators.network_file import Card  # noqa: E402
from tengen.evaluators.torch import TorchEvaluator  # noqa: E402
from tengen.game import Game  # noqa: E402
from tengen.networks import NetConfig, build, parse_config  # noqa: E402
from tengen.networks.export import export  # noqa: E402
from tengen.networks.load import load_module  # noqa: E402
from tengen.networks.presets import PRESETS  # noqa: E402
from tengen.networks.registry import mac_count, parameter_count  # noqa: E402
from tengen.training.batches import TensorBatch  # noqa: E402
from tengen.training.config import LossWeights  # noqa: E402
from tengen.training.losses import WeightedLosses  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs/reference/networks.md"
KERAS = {
    "a0.small": 986_748,
    "a0.8.66": 898_806,
    "a0.small.conv": 968_485,
    "mobile.small": 997_506,
    "mobile.small.conv": 970_477,
    "mobile.40": 5_621_477,
    "betago-2": 505_737,
    "betago-small": 6_206_537,
    "betago-medium": 12_239_465,  # from its layers: no total is published
    "betago-large": 12_625_801,
    # From the layers of their code, by hand; of the other one a move enters as 361 inputs more of its hidden layer.
    "betago-actor-critic": 12_268_320 + 2 * 524_800 + 185_193 + 513,
    "betago-q": 12_268_320 + (361 + 1024 + 1) * 512 + 513,
    "bakago-v1": 3_108_617,
    "bakago-v3": 17_911_785,
    "bakago-v3-32": 4_257_033,
    "bakago-v3-3k": 140_940_697,
    "bakago-rollout-1": 4_181_897,
    "bakago-rollout-1-96": 12_544_969,
    "darkforest": 12_333_691 + 15_728,
    "deepgo-small": 352_721,
    "deepgo-medium": 11_965_885,
    "deepgo-large": 34_086_589,
    "alphago-policy-128": 1_777_641,
    "alphago-policy-192": 3_882_793,
    "alphago-policy-256": 6_798_953,
    "alphago-policy-384": 15_064_297,
    "alphago-value": 3_980_162,
    # From the layers of its code, whose policies have one bias more; with batch norm of channels and a plane of zeros.
    "rocalphago-policy": 1_777_642 - 1,
    "rocalphago-resnet": 2_968_042 - 1,
    "rocalphago-value": 2_020_994,
}
TRAINED = {"alphago-zero-20": 24_019_048, "alphago-zero-40": 47_642_728}
WITHOUT_NORM = {"bakago-df-small": 124_001, "plan-b": 670_223, "plan-b-128": 1_213_059, "darkforest": 12_333_691}
MILLIONS = {"a0.5.256": 6.19, "a0.10.256": 12.10, "a0.15.256": 18.01, "a0.20.256": 23.93, "a0.30.256": 35.75,
            "a0.40.256": 47.57, "mobile.10": 1.41, "mobile.20": 2.82}  # fmt: skip
MMAC = {
    "bakago-v1": 23.7, "bakago-v3": 458.8, "bakago-v3-32": 35, "bakago-v3-3k": 580, "bakago-rollout-1": 8.2,
    "plan-b-128": 437, "darkforest": 4_451, "betago-2": 3.2, "betago-small": 44,
    # 437,696 weights on 361 points, a dense layer of 1024 x 361 x 32, 1024 x 512 beside it, and 512 for each move.
    "betago-q": 158.008 + 11.829 + 0.524 + 0.185, "alphago-policy-192": 1_401,
    "a0.small": 259, "a0.small.conv": 347, "a0.20.256": 8_519, "mobile.small": 248, "mobile.small.conv": 327,
    "mobile.40": 1_960, "deepgo-large": 12_304, "alphago-zero-20": 8_531,
}  # fmt: skip


def planes(config: NetConfig) -> int:
    """The number at the end of a plane set's name."""
    return int(re.findall(r"\d+", config.plane_set)[-1])


@cache
def on_meta(name: str) -> tuple[nn.Module, int]:
    """The network without memory for its weights, and its number of planes."""
    config = parse_config({"preset": name})
    with torch.device("meta"):
        return build(config, planes(config), 0), planes(config)


def keras_count(network: nn.Module) -> int:
    """Trained parameters and running statistics of batch norm: the total that Keras prints, and papers state."""
    return parameter_count(network) + sum(b.numel() for b in network.buffers() if b.is_floating_point())


def norms(network: nn.Module) -> int:
    """Trained parameters of batch norm."""
    return sum(2 * layer.num_features for layer in network.modules() if isinstance(layer, nn.BatchNorm2d))


@pytest.mark.parametrize("name", KERAS)
def test_the_published_size_with_running_statistics(name: str) -> None:
    assert keras_count(on_meta(name)[0]) == KERAS[name]


@pytest.mark.parametrize("name", [*TRAINED, *WITHOUT_NORM, *MILLIONS])
def test_other_published_sizes(name: str) -> None:
    network, _ = on_meta(name)
    if name in MILLIONS:
        assert keras_count(network) / 1e6 == pytest.approx(MILLIONS[name], abs=0.006)
    elif name in TRAINED:
        assert parameter_count(network) == TRAINED[name]
    else:
        assert parameter_count(network) - norms(network) == WITHOUT_NORM[name]


@pytest.mark.parametrize("name", MMAC)
def test_the_published_cost(name: str) -> None:
    network, channels = on_meta(name)
    rounding = 0.05 if isinstance(MMAC[name], float) else 0.6
    assert mac_count(network, channels, 0) / 1e6 == pytest.approx(MMAC[name], rel=0.004, abs=rounding)


@pytest.mark.slow
def test_the_page_lists_every_preset_as_it_is() -> None:
    rows = re.findall(
        r"^\| `([^`]+)` \| `([\w-]+)` \| ([\d,*]+) \| ([\d,*]+) \| ([\d,]+) \| `(.+)` \|$", PAGE.read_text(), re.M
    )
    assert [row[0] for row in rows] == list(PRESETS)
    for name, encoding, trained, keras, cost, fields in rows:
        given = {**yaml.safe_load("{" + fields + "}"), "plane_set": encoding, "board_size": 19}
        assert parse_config(given) == parse_config({"preset": name})
        network, channels = on_meta(name)
        counts = [int(re.sub(r"\D", "", text)) for text in (trained, keras, cost)]
        assert counts == [parameter_count(network), keras_count(network), round(mac_count(network, channels, 0) / 1e6)]


def test_fields_beside_a_preset_replace_its_own() -> None:
    config: Any = parse_config({"preset": "darkforest", "convs": ["3x3x8"], "policy": {"maps": 1}})
    assert config.convs == ("3x3x8",) and config.batch_norm == "after" and config.heads.maps == ()
    assert config.policy.kernel == 3
    assert parse_config(config.model_dump(mode="json")) == config
    dense: Any = parse_config({"preset": "darkforest", "policy": {"kind": "dense"}})
    assert dense.policy.kind == "dense" and dense.heads.maps == ()
    with pytest.raises(NetworkError, match=r"'bakago-v4'; did you mean bakago-v"):
        parse_config({"preset": "bakago-v4"})
    with pytest.raises(ValidationError, match="filters"):
        parse_config({"preset": "darkforest", "filters": 8})
    # As --set network.preset=bakago-v3 makes of a recipe with another network.
    with pytest.raises(NetworkError, match=r"bakago-v3 is of the family preact, not residual: .*'network=\{preset: "):
        parse_config({"family": "residual", "size": "b4c32", "preset": "bakago-v3"})


def reduced(name: str) -> dict[str, Any]:
    """The fields of a preset with few and narrow layers."""
    small: dict[str, Any] = {"filters": 6, "blocks": 2, "units": 2, "inner": 10}
    fields = parse_config({"preset": name}).model_dump()
    fields |= {key: min(fields[key], number) for key, number in small.items() if key in fields}
    if fields["family"] == "plain":
        fields["convs"] = tuple(re.sub(r"(\d+ \* )?(\dx\d)x\d+", r"\2x6", text) for text in fields["convs"])
    for head in ("policy", "value"):
        if fields[head] and fields[head].get("hidden"):
            fields[head] = {**fields[head], "hidden": 12}
    return fields


DISTINCT = list({str({**reduced(name), "plane_set": ""}): name for name in PRESETS}.values())
"""Presets that still differ when they are reduced."""


@pytest.mark.parametrize("name", DISTINCT)
def test_each_learns_becomes_a_file_that_agrees_and_plays(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = parse_config(reduced(name))
    inputs = plane_set(config.plane_set)
    module = build(config, len(inputs.planes), len(inputs.scalars))
    # Some steps on a few positions, which it should learn by heart.
    games = random_games(8)
    encoded = [torch.from_numpy(part) for part in inputs.encode_games(games)]
    unknown = torch.full((8,), float("nan"))
    batch = TensorBatch(
        *encoded, policy=torch.arange(8) * 40, value=torch.tensor([1.0, -1.0] * 4), score=unknown,
        ownership=torch.full_like(encoded[2], float("nan")), weight=torch.ones(8),
    )  # fmt: skip
    loss, optimizer = WeightedLosses(LossWeights(value=1.0)), torch.optim.Adam(module.parameters(), lr=0.003)
    totals = []
    for _ in range(12):
        total, _parts = loss(module(*encoded), batch)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        totals.append(total.item())
    assert totals[-1] < totals[0]
    # The file computes what the module does in evaluation mode, and gives the module back.
    path = tmp_path / "net.onnx"
    card = Card(
        name=name, family=config.family, config=config.model_dump(mode="json"), plane_set=config.plane_set,
        board_sizes=[19],
    )  # fmt: skip
    export(module, len(inputs.planes), len(inputs.scalars), path, card.metadata())
    evaluator = load_evaluator(path, precision="f32", remember=False).on(19)
    batch_inputs = evaluator.encoded(games)
    expected = TorchEvaluator(module.eval(), name="module", device="cpu").infer(batch_inputs)
    again = TorchEvaluator(load_module(path), name="again", device="cpu").infer(batch_inputs)
    found = evaluator.infer(batch_inputs)
    for result in (found, again):
        np.testing.assert_allclose(result.policy, expected.policy, atol=2e-4)
        np.testing.assert_allclose(result.value, expected.value, atol=2e-4)
    assert evaluator.has_pass == config.heads.pass_move and evaluator.only_size == 19
    # It plays, on its board alone.
    engine = Engine(evaluator, batch=2, limits=Limits(visits=4))
    game = games[0]
    for _ in range(3):
        engine.set_position(game)
        game = game.play(engine.think().move)
    with pytest.raises(NetworkError, match=f"{name} takes 19x19 boards alone, not 9x9"):
        engine.set_position(Game(9))
    with pytest.raises(NetworkError, match="takes 19x19 boards alone, not 9x9"):
        module(torch.zeros(1, len(inputs.planes), 9, 9), torch.zeros(1, len(inputs.scalars)), torch.ones(1, 9, 9))


def random_games(count: int) -> list[Game]:
    """Games of 19x19 after 0, 6, 12 ... random moves."""
    random = np.random.default_rng(5)
    games = []
    for i in range(count):
        game = Game(19)
        for point in random.permutation(361)[: 6 * i].tolist():
            game = game.play(point) if game.is_legal(point) else game
        games.append(game)
    return games
