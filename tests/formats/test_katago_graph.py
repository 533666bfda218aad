"""The ONNX graph of a KataGo network against a slow forward pass, for every format and every kind of layer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import katago_twin as twin
import numpy as np
import pytest

from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.load import load_evaluator
from tengen.formats.katago_graph import katago_graph
from tengen.formats.katago_metadata import katago_metadata
from tengen.formats.katago_model import KataGoModel
from tengen.formats.katago_reader import read_katago

onnxruntime = pytest.importorskip("onnxruntime")


def plain(version: int) -> KataGoModel:
    maker = twin.Maker(version, version, "mish")
    return maker.model((maker.ordinary(), maker.pooling()))


def nested_convolutions() -> KataGoModel:
    maker = twin.Maker(11, 1, "silu")
    return maker.model((maker.nested((maker.ordinary(twin.MIDDLE), maker.pooling(twin.MIDDLE))), maker.ordinary()))


def human() -> KataGoModel:
    maker = twin.Maker(15, 2, "mish")
    return maker.model((maker.ordinary(),), metadata=True)


def grouped_queries() -> KataGoModel:
    maker = twin.Maker(17, 3)
    blocks = maker.attention(6, 4, 2, 6, 3, "learned"), maker.feed_forward(6)
    return maker.model(blocks, policy_outputs=4)


def fixed_rope() -> KataGoModel:
    """10 channels a head make an odd number of pairs."""
    maker = twin.Maker(17, 4, "silu")
    blocks = maker.attention(6, 2, 2, 10, 3, "fixed"), maker.feed_forward(6, gate=False), maker.ordinary()
    return maker.model(blocks, tip="plain", policy_outputs=2)


def nested_transformer() -> KataGoModel:
    maker = twin.Maker(15, 5, "silu")
    inner = maker.attention(8, 2, 2, 4, 4, "learned"), maker.feed_forward(8)
    return maker.model((maker.nested(inner, 8), maker.nested(inner, 8)), tip="spatial")


def pooled_below_minus_one() -> KataGoModel:
    """KataGo's maximum begins at -1, which values without an activation may stay below on the whole board."""
    maker = twin.Maker(14, 7, "identity")
    block = maker.pooling()
    low = replace(block.pooled_norm, bias=np.full(twin.POOLED, -5, np.float32))
    return maker.model((replace(block, pooled_norm=low),))


def mixed() -> KataGoModel:
    """Attention without rotary embedding between convolutions, one key head for two."""
    maker = twin.Maker(17, 6, "mish")
    blocks = maker.pooling(), maker.attention(6, 2, 1, 4, 5, ""), maker.ordinary()
    return maker.model(blocks, tip="spatial", policy_outputs=2, ownership_kernel=3)


MODELS = {f"v{version}": (lambda version=version: plain(version)) for version in range(3, 17)} | {
    make.__name__: make
    for make in (
        *(nested_convolutions, pooled_below_minus_one, human, grouped_queries),
        *(fixed_rope, nested_transformer, mixed),
    )
}


@pytest.mark.parametrize("name", MODELS)
def test_graph_of_a_file_agrees_with_a_slow_forward_pass(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    path = tmp_path / "net.bin"
    path.write_bytes(twin.text(model))
    metadata = katago_metadata("preaz_3k") if model.trunk.metadata else None
    graph = katago_graph(read_katago(path), metadata)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = [port.name for port in session.get_outputs()]

    batch = positions(model)
    found = dict(zip(outputs, session.run(None, batch), strict=True))
    for row in range(len(batch["mask"])):
        planes, scalars, mask = (batch[part][row] for part in ("planes", "scalars", "mask"))
        expected = twin.forward(model, planes, scalars, mask, metadata)
        assert set(expected) == set(outputs)
        on_board = np.append(mask.reshape(-1), 1)
        for output, value in expected.items():
            got = found[output][row]
            if output.startswith("policy"):
                got = got * on_board
            elif output == "ownership":
                got = got * mask
            assert got == pytest.approx(value, abs=2e-4, rel=2e-4), output


def positions(model: KataGoModel) -> dict[str, Any]:
    """Random inputs: a 5x5 board on a tensor of edge 6 and a full one, superko with area scoring and not."""
    random = np.random.default_rng(7)
    mask = np.zeros((3, 6, 6), np.float32)
    mask[0, :5, :5] = mask[1:] = 1
    planes = (random.random((3, model.planes, 6, 6)) < 0.3) * mask[:, None]
    planes[:, 0] = mask
    scalars = random.standard_normal((3, model.scalars)) / 3
    scalars[:, 6], scalars[:, 9] = (0, 1, 1), (0, 0, 1)
    return {"planes": planes.astype(np.float32), "scalars": scalars.astype(np.float32), "mask": mask}


def test_human_network_needs_metadata() -> None:
    with pytest.raises(ValueError, match="tiny-v15 needs metadata"):
        katago_graph(human())


@pytest.mark.parametrize("device", ["cpu", "onnxruntime"])
def test_evaluators_mix_the_optimistic_policy(device: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.bin"
    path.write_bytes(twin.text(plain(14)))
    evaluator = load_evaluator(path, device, precision="f32", cache=10).on(6)
    assert evaluator.has_optimism and evaluator.policy_optimism == 1
    inputs = positions(plain(14))
    batch = InputBatch("katago-v7", inputs["planes"], inputs["scalars"], inputs["mask"])
    outputs = [twin.forward(plain(14), *(part[row] for part in batch.arrays)) for row in range(3)]

    def expected(row: int, share: float) -> Any:
        logits = (1 - share) * outputs[row]["policy"] + share * outputs[row]["policy_optimistic"]
        chances = np.exp(logits) * np.append(batch.mask[row].reshape(-1), 1)
        return chances / chances.sum()

    shares = np.array([0, 0.2, 1], np.float32)
    mixed = evaluator.infer(InputBatch(batch.plane_set, *batch.arrays, shares))
    for row, share in enumerate(shares):
        assert mixed.policy[row] == pytest.approx(expected(row, share), abs=1e-4)
    assert evaluator.infer(batch).policy[0] == pytest.approx(expected(0, 1), abs=1e-4)
    evaluator.policy_optimism = 0.5
    assert evaluator.infer(batch).policy[0] == pytest.approx(expected(0, 0.5), abs=1e-4)
    for name in ("no_result", "lead", "score_stdev", "value_error", "score_error", "time_left"):
        assert getattr(mixed, name) == pytest.approx([output[name] for output in outputs], rel=1e-3, abs=1e-4)
