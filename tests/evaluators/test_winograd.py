"""Winograd's algorithm against the plain sum of products, and in whole networks."""

import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any, Literal
from unittest.mock import Mock

import numpy as np
import openvino
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from openvino import opset13 as opset

from tengen import _native
from tengen.errors import Terminated
from tengen.evaluators import Evaluation, load_evaluator
from tengen.evaluators.layout import Layout, native_layers
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.evaluators.operation import Operations
from tengen.evaluators.winograd import _Convolutions, use_winograd
from tengen.game import Game

Precision = Literal["f32", "bf16"]


@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize(
    "batch, inputs, outputs, edge", [(1, 3, 5, 5), (3, 17, 40, 9), (2, 32, 16, 19), (9, 40, 72, 13)]
)
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    "precision, instructions", [("f32", "plain"), ("f32", "avx2"), ("f32", "avx512"), ("bf16", "avx512_bf16")]
)
def test_a_convolution(
    kernel: int, batch: int, inputs: int, outputs: int, edge: int, whole: bool, precision: Precision, instructions: str
) -> None:
    if instructions not in _native.Winograd.available(precision):
        pytest.skip(f"this processor has no {instructions}")
    random = np.random.default_rng(kernel + edge)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return random.standard_normal(shape).astype(np.float32)

    planes, weights, bias = drawn(batch, inputs, edge, edge), drawn(outputs, inputs, kernel, kernel), drawn(outputs)
    residual = drawn(batch, outputs, edge, edge) if whole else None
    before: dict[str, Any] = {}
    read = planes.astype(float)
    if whole:  # one bias for all images where there are more outputs, one for each elsewhere
        input_bias = drawn(1 if outputs > inputs else batch, inputs, 1, 1)
        mask = (drawn(batch, 1, edge, edge) > -1).astype(np.float32)
        before = {"input_bias": input_bias, "input_relu": True, "input_mask": mask}
        read = np.maximum(read + input_bias, 0) * mask
    border = kernel // 2
    windows = sliding_window_view(
        np.pad(read, [(0, 0), (0, 0), (border, border), (border, border)]), (kernel, kernel), (2, 3)
    )
    expected = np.einsum("bcyxij,kcij->bkyx", windows, weights) + bias[:, None, None]
    if residual is not None:
        expected = np.maximum(expected + residual, 0)
    convolution = _native.Winograd(weights, bias, precision, instructions)
    found = np.empty((batch, outputs, edge, edge), np.float32)
    convolution.run(planes, found, residual, whole, **before)
    if precision == "f32":
        assert np.abs(found - expected).max() < 2e-5 * np.abs(expected).max()
    else:
        assert np.std(found - expected) < 0.02 * np.std(expected)

    def last(images: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.ascontiguousarray(images.transpose(0, 2, 3, 1))

    channels_last = last(np.zeros_like(found))
    rest = None if residual is None else last(residual)
    convolution.run(last(planes), channels_last, rest, whole, channels_last=True, **before)
    assert np.array_equal(channels_last, last(found))


@pytest.mark.skipif(not _native.Winograd.available("bf16"), reason="this processor has no products of bf16")
@pytest.mark.parametrize(
    "kernel, batch, inputs, outputs, rows, columns",
    [(3, 3, 64, 64, 19, 19), (5, 2, 22, 64, 19, 19), (3, 2, 64, 16, 13, 9), (3, 2, 17, 23, 7, 5), (5, 1, 8, 5, 3, 9)],
)
def test_images_of_bf16_give_the_rounded_results_of_floats(
    kernel: int, batch: int, inputs: int, outputs: int, rows: int, columns: int
) -> None:
    random = np.random.default_rng(kernel + outputs)

    def drawn(channels: int) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
        """Images of numbers that bf16 has."""
        halves = rounded(random.standard_normal((batch, rows, columns, channels)).astype(np.float32))
        return halves, (halves.astype(np.uint32) << 16).view(np.float32)

    def rounded(numbers: NDArray[np.float32]) -> NDArray[np.uint16]:
        bits = numbers.view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)

    (halves, images), (out_halves, gradient) = drawn(inputs), drawn(outputs)
    weights = random.standard_normal((outputs, inputs, kernel, kernel)).astype(np.float32)
    layer = _native.Winograd(weights, random.standard_normal(outputs).astype(np.float32), "bf16")
    expected, found = np.empty_like(gradient), np.zeros_like(out_halves)
    layer.run(images, expected, None, False, channels_last=True)
    layer.run_bf16(halves, found)
    np.testing.assert_array_equal(found, rounded(expected))
    of_floats, of_halves = np.empty_like(weights), np.zeros_like(weights)
    _native.winograd_weight_gradient(images, gradient, of_floats, channels_last=True, precision="bf16")
    _native.winograd_weight_gradient_bf16(halves, out_halves, of_halves)
    np.testing.assert_array_equal(of_halves, of_floats)
    with pytest.raises(ValueError, match="outputs of one batch and size"):
        layer.run_bf16(halves, found[..., 1:].copy())
    with pytest.raises(ValueError, match="need products of bf16"):
        _native.Winograd(weights, np.zeros(outputs, np.float32), "f32").run_bf16(halves, found)


def test_the_instructions_that_fuse_sums_agree_to_the_last_bit() -> None:
    """Of the same lanes in the same order: a network plays the same games on every processor with AVX2."""
    fused = [name for name in _native.Winograd.available() if name != "plain"]
    if len(fused) < 2:
        pytest.skip("this processor has one such set at most")
    random = np.random.default_rng(1)
    planes, weights = (random.standard_normal(shape).astype(np.float32) for shape in ((2, 24, 19, 19), (40, 24, 3, 3)))
    found = [np.empty((2, 40, 19, 19), np.float32) for _ in fused]
    for name, out in zip(fused, found, strict=True):
        _native.Winograd(weights, np.zeros(40, np.float32), instructions=name).run(planes, out, None, True)
    assert np.array_equal(found[0], found[1])


def test_the_processor_chooses_the_instructions() -> None:
    flags, available = set(_native.processor_flags()), _native.Winograd.available()
    needs = {"avx512": {"avx512f", "fma"}, "avx2": {"avx2", "fma"}, "plain": set()}
    assert available == [name for name, needed in needs.items() if needed <= flags]
    bf16 = {"avx512f", "avx512bw", "fma", "avx512_bf16"} <= flags
    assert _native.Winograd.available("bf16") == ["avx512_bf16"] * bf16
    weights, bias = np.zeros((8, 8, 3, 3), np.float32), np.zeros(8, np.float32)
    with pytest.raises(ValueError, match="no instructions sse5"):
        _native.Winograd(weights, bias, instructions="sse5")
    with pytest.raises(ValueError, match="no instructions avx2 for products of bf16"):
        _native.Winograd(weights, bias, "bf16", "avx2")
    with pytest.raises(ValueError, match="precision int4 is unknown: choose f32 or bf16"):
        _native.Winograd(weights, bias, "int4")  # type: ignore[arg-type]


def test_arrays_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="3x3 or 5x5"):
        _native.Winograd(np.zeros((8, 8, 4, 4), np.float32), np.zeros(8, np.float32))
    kernel = _native.Winograd(np.zeros((8, 4, 3, 3), np.float32), np.zeros(8, np.float32))
    with pytest.raises(ValueError, match="4 inputs and 8 outputs"):
        kernel.run(np.zeros((2, 4, 9, 9), np.float32), np.zeros((1, 8, 9, 9), np.float32), None, False)
    planes, out = np.zeros((2, 4, 9, 9), np.float32), np.zeros((2, 8, 9, 9), np.float32)
    for wrong in (np.zeros((1, 8, 1, 1), np.float32), np.zeros((3, 4, 1, 1), np.float32)):
        with pytest.raises(ValueError, match=r"must be \[1, inputs, 1, 1\]"):
            kernel.run(planes, out, None, False, input_bias=wrong)
    with pytest.raises(ValueError, match=r"must be \[N, 1, rows, columns\]"):
        kernel.run(planes, out, None, False, input_mask=np.zeros((1, 1, 9, 9), np.float32))
    with pytest.raises(ValueError, match="may not overlap"):
        kernel.run(out.reshape(4, 4, 9, 9)[1:3], out, None, False)
    with pytest.raises(ValueError, match="may not overlap"):
        kernel.run(planes, out, None, False, input_mask=out.reshape(16, 1, 9, 9)[:2])
    for other in (out.astype(float), np.zeros((2, 16, 9, 9), np.float32)[:, ::2]):  # would be written as a copy
        with pytest.raises(TypeError):
            kernel.run(planes, other, None, False)  # type: ignore[arg-type]


def test_arrays_without_channels_points_or_images() -> None:
    kernel = _native.Winograd(np.zeros((8, 0, 3, 3), np.float32), np.arange(8, dtype=np.float32))
    out = np.ones((1, 8, 5, 5), np.float32)
    kernel.run(np.zeros((1, 0, 5, 5), np.float32), out, None, False)
    assert np.array_equal(out[0, :, 2, 2], np.arange(8))
    for shape in ((1, 0, 5, 5), (1, 0, 5, 0), (1, 0, 0, 5), (0, 0, 5, 5)):
        kernel.run(np.zeros(shape, np.float32), np.zeros((shape[0], 8, *shape[2:]), np.float32), None, False)
    gradient = np.ones((8, 0, 3, 3), np.float32)
    _native.winograd_weight_gradient(np.zeros((1, 0, 5, 5), np.float32), out, gradient)


@pytest.mark.parametrize("instructions", _native.Winograd.available())
@pytest.mark.parametrize("trunk", [16, 21])
def test_a_chain_computes_what_its_steps_do_one_by_one(instructions: str, trunk: int) -> None:
    """Two residual blocks; the second also reads a bias of each image, and gives what lies between its convolutions."""
    random = np.random.default_rng(3)

    def kernel(inputs: int, outputs: int) -> _native.Winograd:
        weights = random.standard_normal((outputs, inputs, 3, 3)).astype(np.float32)
        return _native.Winograd(weights, random.standard_normal(outputs).astype(np.float32), instructions=instructions)

    widen, narrow, again, back = kernel(trunk, 24), kernel(24, trunk), kernel(trunk, 40), kernel(40, trunk)
    step = _native.ConvolutionStep
    chain = _native.ConvolutionChain(
        3,  # planes, bias, mask; then what the steps make: 3 to 6
        [
            step(widen, 0, relu=True, input_mask=2),
            step(narrow, 3, residual=0),
            step(again, 4, input_relu=True),
            step(back, 5, residual=4, input_bias=1, input_relu=True, input_mask=2),
        ],
        [6, 5],
    )
    for batch, edge in ((3, 9), (1, 19), (2, 7), (0, 9)):
        planes = random.standard_normal((batch, trunk, edge, edge)).astype(np.float32)
        bias = random.standard_normal((batch, 40, 1, 1)).astype(np.float32)
        mask = (random.random((batch, 1, edge, edge)) > 0.1).astype(np.float32)

        def empty(channels: int, batch: int = batch, edge: int = edge) -> NDArray[np.float32]:
            return np.empty((batch, channels, edge, edge), np.float32)

        first, second, third, last = empty(24), empty(trunk), empty(40), empty(trunk)
        widen.run(planes, first, None, True, input_mask=mask)
        narrow.run(first, second, planes, False)
        again.run(second, third, None, False, input_relu=True)
        back.run(third, last, second, False, input_bias=bias, input_relu=True, input_mask=mask)
        found = empty(trunk), empty(40)
        chain.run([planes, bias, mask], list(found))
        assert np.array_equal(found[0], last) and np.array_equal(found[1], third)


def test_a_chain_that_cannot_be_is_refused() -> None:
    kernel = _native.Winograd(np.zeros((8, 8, 3, 3), np.float32), np.zeros(8, np.float32))
    step, planes = _native.ConvolutionStep, np.zeros((2, 8, 9, 9), np.float32)
    for given, steps, results, said in (
        (1, [step(kernel, 1)], [1], "value 1 is not known before its step"),
        (1, [step(kernel, 0, input_bias=1)], [1], "value 1 is not known before its step"),
        (1, [step(kernel, 0, input_mask=0)], [1], "value 0 is read in two ways"),
        (2, [step(kernel, 0)], [2], "no step reads value 1"),
        (1, [step(kernel, 0)], [0], "no step makes value 0"),
        (-1, [step(kernel, 0)], [1], "cannot read -1 values"),
        (1, [step(kernel, 0)], [1, 1], "value 1 is asked for twice"),
    ):
        with pytest.raises(ValueError, match=said):
            _native.ConvolutionChain(given, steps, results)
    chain = _native.ConvolutionChain(2, [step(kernel, 0, input_bias=1)], [2])
    bias = np.zeros((1, 8, 1, 1), np.float32)
    for arrays, made, said in (
        ([planes], [planes.copy()], "takes 2 arrays and gives 1"),
        ([planes, bias], [], "takes 2 arrays and gives 1"),
        ([planes[:1], bias], [planes.copy()], "array 0 of the chain has another shape"),
        ([planes, planes.copy()], [planes.copy()], "array 1 of the chain has another shape"),
        ([planes, bias], [planes[:, :4].copy()], "result 0 of the chain has another shape"),
        ([planes, bias], [planes], "may not overlap"),
    ):
        with pytest.raises(ValueError, match=said):
            chain.run(arrays, made)


def operations_of(evaluator: OpenVinoEvaluator) -> Operations:
    """The operations of the one model that the evaluator has compiled."""
    (free,) = evaluator._requests.values()
    requests = free.get()
    free.put(requests)
    assert requests[0].operations is not None
    return requests[0].operations


def test_convolutions_that_follow_each_other_are_one_operation() -> None:
    """Of the 21 of the default network: the first, and what lies between its four global biases."""
    evaluator = OpenVinoEvaluator(load_evaluator("default").on(19).path, native=True, precision="f32", remember=False)  # type: ignore[attr-defined]
    evaluator.infer(evaluator.encoded([Game(19)] * 8))
    operations = operations_of(evaluator)
    assert len({operation.get_friendly_name() for operation in operations}) == 6


def test_a_model_and_its_operations_are_freed() -> None:
    """OpenVINO kept a reference to each operation, and with it its model and weights, for ever."""
    path = load_evaluator("default").on(19).path  # type: ignore[attr-defined]
    freed: list[int] = []

    def use() -> int:
        evaluator = OpenVinoEvaluator(path, precision="f32", native=True, threads=1, remember=False)
        evaluator.infer(evaluator.encoded([Game(19)] * 2))
        operations = operations_of(evaluator)
        for operation in operations:
            weakref.finalize(operation, freed.append, 1)
        return len(operations)

    made = use()
    gc.collect()
    assert len(freed) == made >= 6


def test_a_process_may_end_while_a_thread_evaluates() -> None:
    """It aborted: an operation in Python began after the interpreter had ended."""
    script = """
import sys, threading
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import Game
evaluator = OpenVinoEvaluator(sys.argv[1], precision="f32", native=True, threads=2, remember=False)
batch = evaluator.encoded([Game(19)] * 8)
evaluator.infer(batch)
def work():
    while True:
        evaluator.infer(batch)
threading.Thread(target=work, daemon=True).start()
"""
    path = load_evaluator("default").on(19).path  # type: ignore[attr-defined]
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_may_end_with_an_evaluator_that_only_the_collector_frees() -> None:
    """It aborted: OpenVINO frees the operations of a request without the interpreter's lock once that is ending."""
    script = """
import sys
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import Game
def fail():
    evaluator = OpenVinoEvaluator(sys.argv[1], precision="f32", native=True, threads=2, remember=False)
    evaluator.evaluate([Game(19)] * 8)
    evaluator.infer = lambda batch, infer=evaluator.infer: infer(batch)  # a cycle, which the last traceback holds
    raise ValueError("wrong")
fail()
"""
    path = load_evaluator("default").on(19).path  # type: ignore[attr-defined]
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == "ValueError: wrong"


def test_an_interrupted_call_leaves_no_request_running(monkeypatch: pytest.MonkeyPatch) -> None:
    path = load_evaluator("default").on(19).path  # type: ignore[attr-defined]
    evaluator = OpenVinoEvaluator(path, precision="f32", native=True, threads=2, remember=False)
    batch = evaluator.encoded([Game(19)] * 8)
    expected = evaluator.infer(batch).policy.copy()
    with monkeypatch.context() as patched:
        patched.setattr("tengen.evaluators.openvino._Request.finish", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            evaluator.infer(batch)
    assert np.array_equal(evaluator.infer(batch).policy, expected)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, Terminated])
@pytest.mark.parametrize("call", ["clone_with_new_inputs", "evaluate"])
def test_an_interruption_within_an_operation_is_none_of_the_network(
    monkeypatch: pytest.MonkeyPatch, call: str, interruption: type[BaseException]
) -> None:
    """Signals reach Python code that OpenVINO calls while it compiles and computes, and it makes them RuntimeErrors."""
    path = load_evaluator("default").on(19).path  # type: ignore[attr-defined]
    evaluator = OpenVinoEvaluator(path, precision="f32", native=True, threads=2, remember=False)
    batch = evaluator.encoded([Game(19)] * 8)
    monkeypatch.setattr(_Convolutions, call, Mock(side_effect=interruption))
    with pytest.raises(KeyboardInterrupt) as raised:
        evaluator.infer(batch)
    assert type(raised.value) is interruption


def test_a_constant_for_each_point_is_no_bias() -> None:
    """A 16x16 board has as many points as the network channels."""
    random = np.random.default_rng(0)
    shape = openvino.PartialShape([2, 16, 16, 16])

    def model(constant: NDArray[np.float32]) -> Any:
        weights = (random.standard_normal((256, 16, 3, 3)) / 12).astype(np.float32)
        given = opset.parameter(shape, np.float32, name="x")
        sum_ = opset.add(opset.convolution(given, opset.constant(weights), [1, 1], [1, 1], [1, 1], [1, 1]), constant)
        return openvino.Model([opset.relu(sum_)], [given])

    planes = random.standard_normal((2, 16, 16, 16)).astype(np.float32)
    for constant in ((1, 256, 1, 1), (1, 1, 16, 16)):
        made = model(random.standard_normal(constant).astype(np.float32))
        core = openvino.Core()
        expected = core.compile_model(made.clone(), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(planes)[0]
        kept = use_winograd(made, {}, "f32")
        found = core.compile_model(made, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(planes)[0]
        assert kept and np.abs(found - expected).max() < 1e-4


@pytest.mark.parametrize("name", ["default", "distilled-b8c64"])
def test_a_network_gives_the_same_with_it(name: str) -> None:
    """Every convolution of a network, on a full board and on a smaller one in the same tensor.

    In bf16 a policy of the default, 0.79, is off by 0.0145 here, and by 0.004 without the algorithm: the other alone.
    """
    shipped = Path(load_evaluator(name).on(19).path)  # type: ignore[attr-defined]
    positions = [Game(size) for size in (19, 13, 19)]
    for game in positions:
        for point in (60, 61, 40, 62):
            game.play(point)

    def evaluated(precision: Precision, use: bool) -> Evaluation:
        evaluator = OpenVinoEvaluator(shipped, precision=precision, threads=2, native=use, remember=False)
        return evaluator.evaluate(positions)

    plain, winograd = evaluated("f32", False), evaluated("f32", True)
    assert 0 < np.abs(plain.policy - winograd.policy).max() < 1e-5
    assert np.abs(plain.value - winograd.value).max() < 1e-5
    assert plain.score is not None and winograd.score is not None
    assert np.abs(plain.score - winograd.score).max() < 1e-3
    if name == "default" or "convolutions" not in native_layers("bf16"):
        return
    half = evaluated("bf16", True)
    assert half.score is not None
    assert 1e-5 < np.abs(plain.policy - half.policy).max() < 0.01
    assert np.abs(plain.value - half.value).max() < 0.02
    assert np.abs(plain.score - half.score).max() < 0.5


@pytest.mark.parametrize("precision, rows", [("f32", (1, 32)), ("bf16", (8, 32))])
def test_boards_and_batches_that_gain_nothing_stay_plain(precision: Precision, rows: tuple[int, int]) -> None:
    if "convolutions" not in native_layers(precision):
        pytest.skip(f"this processor has no products of {precision}, or AMX")
    evaluator = OpenVinoEvaluator(
        load_evaluator("default").on(19).path,  # type: ignore[attr-defined]
        precision=precision, threads=8, native=True, remember=False,
    )  # fmt: skip
    few, many = rows
    for count, edge in ((few, 19), (many, 9), (many, 19)):
        evaluator.infer(evaluator.encoded([Game(edge)] * count))
    made = [(rows, edge, layout.native) for rows, edge, layout in evaluator._requests]
    assert sorted(made) == sorted([(few, 19, False), (many // 8, 19, True), (many, 9, False)])


def test_a_layout_of_convolutions_that_the_precision_lacks_is_not_taken() -> None:
    path = load_evaluator("default").on(19).path  # type: ignore[attr-defined]
    evaluator = OpenVinoEvaluator(path, precision="int8", layout=Layout(True, 2), native=True, remember=False)
    assert not evaluator.rule.native and evaluator.rule.chosen is None
    # Small boards keep to the rule, whatever the layout.
    plain = OpenVinoEvaluator(path, precision="f32", threads=2, layout=Layout(True, 2), remember=False)
    plain.infer(plain.encoded([Game(9)] * 8))
    assert [layout.native for _rows, _edge, layout in plain._requests] == [False]
