"""KataGo's network files as we write them: read back, run, and run by KataGo itself."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import katago_twin as twin
import numpy as np
import onnx
import onnxruntime
import pytest
from katago_program import ask_katago

from tengen.data.planes import plane_set
from tengen.errors import NetworkError
from tengen.evaluators import load_evaluator
from tengen.evaluators.export import export_network
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import Card, read_card
from tengen.formats.katago_reader import read_katago
from tengen.formats.katago_writer import write_katago
from tengen.game import Game


def same(one: object, other: object) -> bool:
    """Whether two layers are equal, with all that is in them."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__
        )
    return one == other


@pytest.mark.parametrize("version", [8, 11, 14, 15, 17])
def test_read_back(version: int, tmp_path: Path) -> None:
    maker = twin.Maker(version, 0)
    blocks = [maker.ordinary(), maker.pooling(), maker.nested((maker.ordinary(twin.MIDDLE),))]
    options: dict[str, Any] = {}
    if version >= 15:
        for rope in ("learned", "fixed", ""):
            blocks.append(maker.attention(twin.CHANNELS, 4, 2, 6, 3, rope))
        blocks += [maker.feed_forward(twin.CHANNELS), maker.feed_forward(twin.CHANNELS, gate=False)]
        options = {"tip": "spatial", "metadata": True}
    model = maker.model(tuple(blocks), **options)
    packed = io.BytesIO()
    write_katago(model, packed)
    path = tmp_path / "net.bin"
    path.write_bytes(packed.getvalue())
    assert same(read_katago(path), model)


@pytest.fixture(scope="module", params=[("b3c16", "relu"), ("b3c16", "mish"), ("b2c16nbt", "relu")], ids=str)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with KataGo's heads and random weights."""
    torch = pytest.importorskip("torch")
    from tengen.networks.export import export
    from tengen.networks.registry import build, parse_config

    torch.manual_seed(3)
    size, activation = request.param
    config = parse_config({"family": "residual", "size": size, "activation": activation, "head": "katago"})
    inputs = plane_set("katago-v7")
    module = build(config, len(inputs.planes), len(inputs.scalars))
    with torch.no_grad():
        for parameter in module.parameters():  # biases, too
            parameter.add_(0.1 * torch.randn_like(parameter))
    card = Card(
        name="a net!", family="residual", config=config.model_dump(), plane_set="katago-v7",
        board_sizes=list(range(5, 20)),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("network") / "net.onnx"
    export(module, len(inputs.planes), len(inputs.scalars), path, card.metadata())
    return path


def positions() -> list[Game]:
    found = []
    for seed, (size, rules) in enumerate([(19, "japanese"), (9, "chinese"), (13, "japanese")]):
        rng = random.Random(seed)
        game = Game(size, rules, 6.5)
        for _ in range(30):
            game.play(rng.choice(game.legal_points()))
        found.append(game)
    return found


def test_exported_network_computes_the_same(network: Path, tmp_path: Path) -> None:
    exported = export_network(network, "katago", tmp_path / "net.bin.gz")
    assert read_katago(exported).name == "a-net-"
    ours, theirs = (load_evaluator(path, precision="f32").on(19) for path in (network, exported))
    batch = ours.encoded(positions(), 19)
    found, expected = theirs.infer(batch), ours.infer(batch)
    assert found.policy == pytest.approx(expected.policy, abs=1e-5)
    assert found.value == pytest.approx(expected.value, abs=1e-5)
    assert found.ownership == pytest.approx(expected.ownership, abs=1e-5)
    # KataGo counts a game without result, here a draw, as no points.
    raw = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
    logits, score = raw.run(["value", "score"], {"planes": batch.planes, "scalars": batch.scalars, "mask": batch.mask})
    draw = np.exp(logits[:, 1]) / np.exp(logits).sum(1)
    assert found.score == pytest.approx(score * (1 - draw), abs=1e-3)


def test_a_network_without_a_name_has_that_of_its_file(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model, card = onnx.load(network), read_card(network).model_copy(update={"name": " "})
    onnx.helper.set_model_props(model, card.metadata())
    onnx.save(model, tmp_path / "mine.onnx")
    exported = export_network(tmp_path / "mine.onnx", "katago")
    assert exported == Path("mine.bin.gz") and read_katago(exported).name == "mine"


def test_only_what_the_format_can_express(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"as ONNX files: copy .*onnx"):
        export_network(find_network("default"), "onnx")
    with pytest.raises(NetworkError, match="KataGo's format cannot express this network: plane_set is tengen"):
        export_network(find_network("default"), "katago", tmp_path / "net.bin.gz")


def test_katago_plays_the_exported_network(network: Path, tmp_path: Path) -> None:
    games = positions()
    ours = load_evaluator(network, precision="f32").on(19)
    answers = ask_katago(export_network(network, "katago", tmp_path / "net.bin.gz"), games, tmp_path)
    for game, (value, _, policy) in zip(games, answers, strict=True):
        found = ours.evaluate([game])
        assert value == pytest.approx(found.value[0], abs=1e-4)
        assert policy == pytest.approx(found.policy[0, : game.size**2], abs=1e-4)
