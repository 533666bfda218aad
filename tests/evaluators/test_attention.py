"""Attention in bf16 against sums in NumPy, and in whole networks."""

from pathlib import Path
from typing import Any

import katago_twin as twin
import numpy as np
import openvino
import pytest
from numpy.typing import NDArray
from openvino import opset13 as opset

from tengen import _native
from tengen.evaluators import attention
from tengen.evaluators.evaluation import Evaluation
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.layout import native_layers
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.formats.katago_graph import katago_graph
from tengen.formats.katago_model import KataGoModel
from tengen.game import Game

Array = NDArray[Any]
needs_bf16 = pytest.mark.skipif(
    not _native.Attention.available(), reason="this processor has no products of bf16 (AVX512-BF16 or AMX)"
)
# Without AVX-512 OpenVINO gives operations f32 where the model has bf16.
needs_bf16_tensors = pytest.mark.skipif(
    "avx512bw" not in _native.processor_flags(), reason="on this processor OpenVINO has no tensors of bf16"
)
each_set = pytest.mark.parametrize("instructions", _native.Attention.available())


def halves(values: Array) -> NDArray[np.uint16]:
    """The nearest numbers of bf16, the even one of two."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return np.asarray((bits + 0x7FFF + (bits >> 16 & 1)) >> 16, np.uint16)


def floats(values: NDArray[np.uint16]) -> Array:
    return (values.astype(np.uint32) << 16).view(np.float32)


class Sums:
    """`_native.Attention` by sums in NumPy, head by head."""

    def __init__(self, heads: int, key_heads: int, query_size: int, value_size: int) -> None:
        self.heads, self.key_heads, self.query_size, self.value_size = heads, key_heads, query_size, value_size

    def run(self, query: Any, key: Any, value: Any, bias: Array, out: Any, *angles: Array) -> None:
        query_angles, key_angles = angles[:2], angles[2:]
        for head in range(self.heads):
            shared = head * self.key_heads // self.heads
            queries = self._turned(self._head(query, head, self.query_size), query_angles, head)
            keys = self._turned(self._head(key, shared, self.query_size), key_angles, shared)
            logits = np.einsum("bqc,bkc->bqk", queries, keys) + bias[:, None]
            weights = np.exp(logits - logits.max(2, keepdims=True))
            means = weights / weights.sum(2, keepdims=True) @ self._head(value, shared, self.value_size)
            out[:, :, head * self.value_size : (head + 1) * self.value_size] = halves(means)

    @staticmethod
    def _head(values: Any, head: int, size: int) -> Array:
        return floats(values[:, :, head * size : (head + 1) * size]).astype(float)

    @staticmethod
    def _turned(x: Array, angles: tuple[Array, ...], head: int) -> Array:
        """Pairs of channels as complex numbers times e^(i angle)."""
        if not angles:
            return x
        cosine, sine = (each[head if len(each) > 1 else 0] for each in angles)
        half = x.shape[2] // 2
        pairs = (x[..., :half] + 1j * x[..., half:]) * (cosine[:, :half] + 1j * sine[:, :half])
        return np.concatenate([pairs.real, pairs.imag], 2)


@each_set
@pytest.mark.parametrize(
    "batch, points, heads, key_heads, query_size, value_size",
    [
        *((1, 361, 6, 6, 32, 32), (3, 81, 6, 3, 32, 16), (2, 9, 4, 1, 64, 48), (2, 33, 2, 2, 64, 96)),
        *((1, 1, 1, 1, 32, 16), (2, 32, 2, 1, 32, 32), (2, 17, 2, 2, 64, 16), (1, 625, 2, 1, 32, 64)),
    ],
)
@pytest.mark.parametrize("turn", ["", "shared", "of each head"])
def test_a_layer(
    batch: int, points: int, heads: int, key_heads: int, query_size: int, value_size: int, turn: str, instructions: str
) -> None:
    random = np.random.default_rng(points)
    query, key, value = (
        halves(random.standard_normal((batch, points, channels)))
        for channels in (heads * query_size, key_heads * query_size, key_heads * value_size)
    )
    bias = np.where(random.random((batch, points)) < 0.3, -10000, random.standard_normal((batch, points)))
    bias[:, 0] = 0  # a point of the board
    bias = bias.astype(np.float32)

    def drawn(count: int) -> list[Array]:
        angles = np.tile(random.uniform(-9, 9, (count if turn == "of each head" else 1, points, query_size // 2)), 2)
        return [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]

    angles = [*drawn(heads), *drawn(key_heads)] if turn else []
    sizes = heads, key_heads, query_size, value_size
    found, expected = (np.full((batch, points, heads * value_size), 0x7FC0, np.uint16) for _ in range(2))
    _native.Attention(*sizes, instructions=instructions).run(query, key, value, bias, found, *angles)
    Sums(*sizes).run(query, key, value, bias, expected, *angles)
    difference = floats(found) - floats(expected)
    # Turned queries, keys and weights are rounded to 8 bits; logits have a deviation of 6 to 8 here.
    assert np.abs(difference).max() < 0.15 and difference.std() < 0.012


@each_set
def test_equal_keys_and_far_logits(instructions: str) -> None:
    """Equal logits give the plain mean; logits of thousands neither overflow nor vanish."""
    random = np.random.default_rng(1)
    kernel = _native.Attention(1, 1, 32, 16, instructions)
    value = halves(random.standard_normal((1, 40, 16)))
    out = np.zeros((1, 40, 16), np.uint16)
    ones, no_bias = halves(np.ones((1, 40, 32))), np.zeros((1, 40), np.float32)
    kernel.run(ones, ones, value, no_bias, out)
    assert floats(out) == pytest.approx(np.broadcast_to(floats(value).mean(1), (40, 16))[None], abs=0.004)
    key = ones.copy()
    key[0, 7] = halves(np.full(32, 100))
    for scale, winner in ((100.0, 7), (-100.0, None)):
        kernel.run(halves(np.full((1, 40, 32), scale)), key, value, no_bias, out)
        others = np.delete(floats(value)[0], 7, 0).mean(0)
        wanted = floats(value)[0, 7] if winner is not None else others
        assert floats(out)[0] == pytest.approx(np.broadcast_to(wanted, (40, 16)), abs=0.004, rel=0.01)


def test_wrong_sizes_and_arrays_are_errors() -> None:
    for sizes, message in (
        ((4, 3, 32, 16), "4 heads cannot share 3 key heads: choose a multiple"),
        ((4, 0, 32, 16), "4 heads cannot share 0 key heads"),
        ((4, 2, 48, 16), "queries of 48 channels: choose 32 or 64"),
        ((4, 2, 32, 24), "values of 24 channels: choose a multiple of 16 up to 1024"),
        ((4, 2, 32, 2**20), "values of 1048576 channels: choose a multiple of 16 up to 1024"),
        ((2**27, 2**27, 32, 32), "134217728 heads: choose at most 1024"),
        ((4, 2, 32, 16, "sse"), "this processor has no instructions sse for products of bf16"),
    ):
        with pytest.raises(ValueError, match=message):
            _native.Attention(*sizes)
    kernel, x, bias = _native.Attention(2, 1, 32, 16), np.zeros, np.zeros((2, 9), np.float32)
    whole = [
        x((2, 9, 64), np.uint16),
        x((2, 9, 32), np.uint16),
        x((2, 9, 16), np.uint16),
        bias,
        x((2, 9, 32), np.uint16),
    ]
    for place, wrong, message in (
        (0, x((2, 9, 32), np.uint16), r"query must be \[N, points, 64\]"),
        (1, x((1, 9, 32), np.uint16), r"key must be \[N, points, 32\]"),
        (2, x((2, 8, 16), np.uint16), r"value must be \[N, points, 16\]"),
        (3, x((2, 8), np.float32), r"bias must be \[N, points\]"),
        (4, x((2, 9, 16), np.uint16), r"the output must be \[N, points, 32\]"),
    ):
        with pytest.raises(ValueError, match=message):
            kernel.run(*[wrong if i == place else each for i, each in enumerate(whole)])  # type: ignore[arg-type]
    angles = x((1, 9, 32), np.float32)
    for given in ([angles], [angles, x((3, 9, 32), np.float32)], [x((1, 9, 16), np.float32)] * 2):
        with pytest.raises(ValueError, match=r"cosine and sine must be \[1 or 2, points, 32\]"):
            kernel.run(*whole, *given)


def layers(rope: str, heads: int, key_heads: int, query_size: int = 32, value_size: int = 16) -> KataGoModel:
    maker = twin.Maker(17, 3)
    blocks = [maker.attention(6, heads, key_heads, query_size, value_size, rope) for _ in range(2)]
    return maker.model((blocks[0], maker.feed_forward(6), blocks[1], maker.ordinary()), policy_outputs=4)


@pytest.mark.parametrize(
    "native", [pytest.param(False, marks=needs_bf16_tensors), pytest.param(True, marks=needs_bf16)]
)
@pytest.mark.parametrize("rope", ["learned", "fixed", ""])
@pytest.mark.parametrize("heads, key_heads", [(2, 2), (4, 2)])
def test_layers_of_a_model_are_replaced(
    rope: str, heads: int, key_heads: int, native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not native:
        monkeypatch.setattr(attention._native, "Attention", Sums)
    model = layers(rope, heads, key_heads)
    random = np.random.default_rng(7)
    mask = np.ones((3, 6, 6), np.float32)
    mask[0, 5], mask[0, :, 5] = 0, 0  # a smaller board
    planes = ((random.random((3, model.planes, 6, 6)) < 0.3) * mask[:, None]).astype(np.float32)
    scalars = random.standard_normal((3, model.scalars)).astype(np.float32)
    scalars[:, 6], scalars[:, 9] = 1, 1  # superko with area scoring: no "no result", whose logit would be far off
    inputs = {"planes": planes, "scalars": scalars, "mask": mask}
    core = openvino.Core()
    made = core.read_model(katago_graph(model).SerializeToString())
    made.reshape({name: list(array.shape) for name, array in inputs.items()})
    kept = attention.use_attention(made)
    assert len(kept) == 2 and attention.count_attention(made) == 0
    compiled = core.compile_model(made, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found = {name: values for port, values in compiled(inputs).items() for name in port.get_names()}
    for row in range(3):
        expected = twin.forward(model, planes[row], scalars[row], mask[row])
        for output, value in expected.items():
            got, wanted = found[output][row], np.asarray(value)
            if output == "ownership" or output.startswith("policy"):
                on_board = mask[row].reshape(-1) > 0
                got, wanted = (np.ravel(each)[: len(on_board)][on_board] for each in (got, wanted))
            assert got == pytest.approx(wanted, abs=0.03 * max(1, np.abs(wanted).max())), output


def test_layers_of_other_sizes_stay() -> None:
    for model in (layers("", 2, 2, query_size=48), layers("fixed", 2, 2, value_size=8)):
        made = openvino.Core().read_model(katago_graph(model).SerializeToString())
        made.reshape({"planes": [1, model.planes, 6, 6], "scalars": [1, model.scalars], "mask": [1, 6, 6]})
        assert attention.count_attention(made) == 0 and not attention.use_attention(made)


def graph(change: str) -> openvino.Model:
    """An attention layer of 2 heads with 32 channels on 9 points, or one that `change` makes another operation."""
    flat = [opset.parameter([1, 9, 64], np.float32, name) for name in ("query", "key", "value")]
    bias = opset.parameter([1, 1, 1, 9], np.float32, "bias")
    heads = opset.constant([0, 0, 2, 32])
    query, key, value = (opset.transpose(opset.reshape(x, heads, True), opset.constant([0, 2, 1, 3])) for x in flat)
    if change == "one head of values":
        value = opset.reduce_mean(value, opset.constant([1]), True)
    if change in ("angles", "one angle", "halves not exchanged"):
        shape = (1, 1, 1, 1) if change == "one angle" else (1, 2, 9, 32)
        cosine, sine = (opset.constant(np.full(shape, x, np.float32)) for x in (0.6, 0.8))

        def half(x: Any, begin: int) -> Any:
            return opset.slice(x, *(opset.constant([i]) for i in (begin, begin + 16, 1, 3)))

        def turned(x: Any) -> Any:
            second = 0 if change == "halves not exchanged" else 16
            swapped = opset.concat([opset.negative(half(x, second)), half(x, 16 - second)], 3)
            return opset.add(opset.multiply(x, cosine), opset.multiply(swapped, sine))

        query, key = turned(query), turned(key)
    if change == "transposed queries":  # 9 x 32 as 32 x 9
        query = opset.reshape(query, opset.constant([1, 2, 32, 9]), False)
    product = opset.matmul(query, key, change == "transposed queries", True)
    weights = opset.softmax(opset.add(product, bias), 2 if change == "softmax over queries" else 3)
    means = opset.matmul(weights, value, change == "transposed weights", False)
    if change == "weights read twice":
        means = opset.add(means, opset.reduce_mean(weights, opset.constant([3]), True))
    order = [0, 2, 3, 1] if change == "other order" else [0, 2, 1, 3]
    result = opset.reshape(opset.transpose(means, opset.constant(order)), opset.constant([1, 9, 64]), False)
    return openvino.Model([opset.result(result)], [*flat, bias], "layer")


@pytest.mark.parametrize("change", ["", "angles"])
def test_a_layer_alone_is_found(change: str) -> None:
    assert attention.count_attention(graph(change)) == 1


@pytest.mark.parametrize(
    "change",
    [
        *("softmax over queries", "transposed queries", "transposed weights", "weights read twice", "other order"),
        *("one head of values", "one angle", "halves not exchanged"),
    ],
)
def test_a_graph_of_another_form_stays(change: str) -> None:
    assert attention.count_attention(graph(change)) == 0


@needs_bf16
def test_an_evaluator_in_bf16(tmp_path: Path) -> None:
    """Several batches beside each other: OpenVINO's own layers need the tiles as they left them."""
    path = tmp_path / "net.bin"
    path.write_bytes(twin.text(layers("learned", 4, 2)))
    games = [Game(19) for _ in range(8)]
    for number, game in enumerate(games):
        for point in range(number, 300, 11):
            game.play(point)
    found, plain, exact = (
        OpenVinoEvaluator(find_network(path), precision=precision, threads=2, native=native, remember=False)
        for precision, native in (("bf16", None), ("bf16", False), ("f32", False))
    )
    assert found.rule.layout(8, 19, None).native and not plain.rule.layout(8, 19, None).native
    expected, own = exact.evaluate(games), plain.evaluate(games)
    for _ in range(3):
        policy = found.evaluate(games).policy
        assert np.abs(policy - expected.policy).max() < 2 * np.abs(own.policy - expected.policy).max() + 0.001
        assert np.array_equal(plain.evaluate(games).policy, own.policy)


@needs_bf16
@pytest.mark.parametrize("name", ["b7c96h3tfrs-test5-cnorm", "b7c96h6kv3qk32v16tflrs-fson-bnh"])
def test_a_network_is_as_exact_as_in_plain_bf16(name: str, shared: Path) -> None:
    positions = [Game(size) for size in (19, 13, 19, 19, 9, 19)]
    for number, game in enumerate(positions):
        for point in range(number, 60, 7):
            game.play(point)

    def evaluated(precision: Any, native: bool | None) -> Evaluation:
        path = find_network(shared / "nets" / f"{name}.bin.gz")
        evaluator = OpenVinoEvaluator(path, precision=precision, threads=2, native=native, remember=False)
        assert evaluator.rule.native == (native is None)
        return evaluator.evaluate(positions)

    assert "attention" in native_layers("bf16")
    exact, plain, found = evaluated("f32", False), evaluated("bf16", False), evaluated("bf16", None)

    def errors(of: Evaluation) -> tuple[float, float]:
        return float(np.abs(of.policy - exact.policy).sum(1).mean()), float(np.abs(of.value - exact.value).mean())

    assert 0 < errors(found)[0] < 1.5 * errors(plain)[0] + 0.01 and errors(found)[1] < 1.5 * errors(plain)[1] + 0.01
