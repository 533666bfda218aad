"""A network file in int8, by post-training quantization with NNCF (extra `quantize`)."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx

from tengen.checksums import file_digest
from tengen.disk import write_whole
from tengen.errors import MissingExtra, NetworkError
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.evaluator import BatchEvaluator
from tengen.evaluators.file_evaluator import INPUTS
from tengen.evaluators.network_file import INT8_OF, Card, int8_path, load_onnx, read_card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import Game

MAX_TOP1_LOSS, MAX_WINRATE_ERROR = 0.005, 0.01
"""What the quantization may cost: top-1 accuracy, and the mean error of the winrate, both 0 to 1."""
_SIZE_PLIES = {19: 200, 13: 100, 9: 40}


@dataclass(frozen=True)
class Cost:
    """What int8 changes against f32 on positions that it was not calibrated on; of several board sizes the worst.

    `top1_loss` is how much less probable int8's best move is than that of f32, by the policy in f32: of a calibrated
    policy, the top-1 accuracy that int8 costs. `same_move` is the share of positions with the same best move,
    `policy_kl` the mean divergence of the policy in nats, `winrate_error` the mean absolute difference of the winrate
    (0 to 1), `speed` the ratio of evaluations a second of processor time on this machine, both by OpenVINO's own
    operations.
    """

    positions: int
    top1_loss: float
    same_move: float
    policy_kl: float
    winrate_error: float
    speed: float

    @property
    def fine(self) -> bool:
        return self.top1_loss <= MAX_TOP1_LOSS and self.winrate_error <= MAX_WINRATE_ERROR


def drawn_positions(evaluator: BatchEvaluator, size: int, count: int) -> list[Game]:
    """Positions of games of this size that the network plays against itself, with moves drawn from its policy."""
    plies = _SIZE_PLIES.get(size, size * size // 2)
    random = np.random.default_rng(0)
    games = [Game(size) for _ in range(max(1, -(-count // 16)))]
    found: list[Game] = []
    chosen = set(np.linspace(1, plies, 16).astype(int).tolist())
    for ply in range(1, plies + 1):
        policy = evaluator.evaluate(games).policy[:, :-1].astype(float) ** 1.5
        for game, row in zip(games, policy, strict=True):
            if row.sum() > 0:
                game.play(int(random.choice(size * size, p=row / row.sum())))
            if ply in chosen:
                found.append(game.copy())
    return [found[i] for i in random.permutation(len(found))[:count]]


def quantize(path: Path, count: int = 256) -> tuple[Path, Cost]:
    """Write the int8 file of a network beside it, with the cost on its card; returns both.

    Convolutions of the trunk become int8; all else stays as it is. Quantized sums of a residual trunk and quantized
    heads cost most of the accuracy and gain no speed (docs/log.md, 2026-11-24). `count` positions are drawn from the
    network's own games: half of them calibrate, the other half judge. Where the cost is above the limits, the first
    convolution stays in f32 too, which of all layers costs most; where it still is, the card says so and `auto` does
    not take the file. The games are on those of 9x9, 13x13 and 19x19 that the card has, else on its largest board.
    Raises MissingExtra without NNCF and ONNX Runtime, NetworkError for a network without convolutions in its trunk and
    for a folder that cannot be written.
    """
    nncf = _import_nncf()
    target, card = int8_path(path), read_card(path)
    if not os.access(target.parent, os.W_OK):
        raise NetworkError(f"{target.parent} cannot be written: copy {path.name} to another folder and give the copy")
    card = card.model_copy(update={"provenance": card.provenance | {INT8_OF: file_digest(path)}})
    model = _prepared(path)
    convolutions = _convolutions(model)
    if len(convolutions) < 2:
        raise NetworkError(f"{path} has no convolutions in its trunk, and only those become int8")
    plain = OpenVinoEvaluator(path, precision="f32", native=False, remember=False)
    sizes = [size for size in _SIZE_PLIES if size in card.board_sizes] or [min(19, max(card.board_sizes))]
    by_size = [drawn_positions(plain, size, count // len(sizes)) for size in sorted(sizes)]
    calibrating = [plain.encoded([game]) for of_size in by_size for game in of_size[::2]]
    judging = [plain.encoded(of_size[1::2]) for of_size in by_size if len(of_size) > 1]
    for kept in ([], convolutions[:1]):
        made = _quantized(nncf, model, calibrating, set(convolutions).difference(kept))
        # Elsewhere: an interruption must leave the file that is there.
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            trial = Path(folder) / target.name
            _write(made, card, trial)
            cost = _cost(plain, trial, judging)
        if cost.fine:
            break
    _write(made, card, target, cost)
    return target, cost


def _import_nncf() -> Any:
    # With this module NNCF and OpenVINO's converter, which it imports, send statistics of use to their makers.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    try:
        import nncf
    except ModuleNotFoundError as error:
        raise MissingExtra("tengen nets quantize", "quantize") from error
    nncf.set_log_level(logging.WARNING)  # else a line for each operation that stays as it is
    return nncf


def _quantized(
    nncf: Any, model: onnx.ModelProto, calibrating: Sequence[InputBatch], convolutions: Collection[str]
) -> onnx.ModelProto:
    """The network with these convolutions in int8."""
    from nncf.quantization.range_estimator import RangeEstimatorParametersSet

    made: onnx.ModelProto = nncf.quantize(
        model,
        nncf.Dataset([_feeds(row) for row in calibrating]),
        subset_size=len(calibrating),
        ignored_scope=nncf.IgnoredScope(
            names=[node.name for node in model.graph.node if node.name not in convolutions], validate=False
        ),
        advanced_parameters=nncf.AdvancedQuantizationParameters(
            # Only processors without VNNI add pairs of products in 16 bits, which 8-bit weights can overflow; they
            # do not take the file.
            overflow_fix=nncf.OverflowFix.DISABLE,
            # Ranges of means clip the rare large activations of a residual trunk (12 times the divergence).
            activations_range_estimator_params=RangeEstimatorParametersSet.MINMAX,
            # With the first convolution in f32 it shifts the value by more than it mends: 1.3 to 2.1 times the
            # error of the winrate. With all in int8 it mends a little of one network and spoils another.
            disable_bias_correction=True,
        ),
    )
    return made


def _prepared(path: Path) -> onnx.ModelProto:
    """The network without casts to float32 at its outputs, which do nothing and on which NNCF 3.4 fails."""
    model: onnx.ModelProto = load_onnx(path)
    outputs = {port.name for port in model.graph.output}
    for node in model.graph.node:
        if node.op_type == "Cast" and node.output[0] in outputs:
            node.op_type = "Identity"
            del node.attribute[:]
    return model


def _feeds(rows: InputBatch) -> dict[str, Any]:
    return dict(zip(INPUTS, rows.arrays, strict=True))


def _convolutions(model: onnx.ModelProto) -> list[str]:
    """The names of the convolutions of the trunk, on which every output depends."""
    makers = {name: node for node in model.graph.node for name in node.output}

    def above(output: str) -> set[str]:
        seen: set[str] = set()
        waiting = [output]
        while waiting:
            node = makers.get(waiting.pop())
            if node is not None and node.name not in seen:
                seen.add(node.name)
                waiting += node.input
        return seen

    common = set.intersection(*(above(port.name) for port in model.graph.output))
    return [node.name for node in model.graph.node if node.op_type == "Conv" and node.name in common]


def _write(model: onnx.ModelProto, card: Card, target: Path, cost: Cost | None = None) -> None:
    metrics = card.metrics | ({"int8": asdict(cost) | {"fine": cost.fine}} if cost else {})
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, card.model_copy(update={"metrics": metrics}).metadata())
    with write_whole(target, durable=False, checksum=True) as temporary:
        onnx.save(model, temporary)


def _cost(plain: OpenVinoEvaluator, target: Path, judging: Sequence[InputBatch]) -> Cost:
    """The cost on positions of each board size, the smallest first: the worst one, and the speed on the largest."""
    int8 = OpenVinoEvaluator(target, precision="f32", native=False, remember=False)
    costs = [_cost_on(plain, int8, rows) for rows in judging]
    return Cost(
        positions=sum(cost.positions for cost in costs),
        top1_loss=max(cost.top1_loss for cost in costs),
        same_move=min(cost.same_move for cost in costs),
        policy_kl=max(cost.policy_kl for cost in costs),
        winrate_error=max(cost.winrate_error for cost in costs),
        speed=costs[-1].speed,
    )


def _cost_on(plain: OpenVinoEvaluator, int8: OpenVinoEvaluator, judging: InputBatch) -> Cost:
    one, other = plain.infer(judging), int8.infer(judging)
    p, q = (np.maximum(found.policy.astype(float), 1e-12) for found in (one, other))
    rows = np.arange(len(judging))
    return Cost(
        positions=len(judging),
        top1_loss=round(float((p.max(1) - p[rows, q.argmax(1)]).mean()), 5),
        same_move=float((p.argmax(1) == q.argmax(1)).mean()),
        policy_kl=round(float((p * np.log(p / q)).sum(1).mean()), 5),
        winrate_error=round(float(np.abs(one.value - other.value).mean() / 2), 5),
        speed=round(_rate(int8, judging[:8]) / _rate(plain, judging[:8]), 2),
    )


def _rate(evaluator: OpenVinoEvaluator, rows: InputBatch, seconds: float = 1.0) -> float:
    """Positions a second of processor time."""
    evaluator.infer(rows)
    done, start, begun = 0, time.process_time(), time.monotonic()
    while time.monotonic() - begun < seconds or not done:
        done += len(evaluator.infer(rows))
    return done / (time.process_time() - start)
