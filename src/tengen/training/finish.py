"""The end of a run: network file with its card, check against the module, report."""

import math
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from tengen.data.sampler import Sampler
from tengen.errors import NetworkError
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.network_file import Card
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.evaluators.torch import TorchEvaluator
from tengen.networks import parse_config
from tengen.networks.export import export
from tengen.networks.one_size import forget_width
from tengen.runs.events import Journal
from tengen.training.accuracy import Judgement, measure
from tengen.training.module import TrainingModule
from tengen.training.report import write_report

_CHECK_EDGES = (9, 13, 19)
_CHECK_TOLERANCE = 2e-3


def finish(module: TrainingModule, validation: Sampler, games: int, step: int, out: Path, journal: Journal) -> Path:
    """Export the averaged network, judge the file itself, write its card and the report; return the file."""
    path = out / "nets" / f"{module.run.name}.onnx"
    planes, scalars = len(validation.plane_set.planes), len(validation.plane_set.scalars)
    network = _playing(module)
    card = card_of(module, games, step, {})
    export(network, planes, scalars, path, card.metadata())
    check_agreement(network, path, planes, scalars)
    judgement = measure(OpenVinoEvaluator(path, remember=False), validation)
    card = card_of(module, games, step, _metrics(judgement))
    export(network, planes, scalars, path, card.metadata())
    journal.write("final", step, card.metrics)
    write_report(out, card, judgement)
    return path


def _playing(module: TrainingModule) -> nn.Module:
    """A copy of the averaged network as it will play, on boards of other sizes too."""
    network = module.playing()
    if len(sizes := module.run.card.board_sizes) == 1:
        forget_width(network, sizes[0])
    return network


def check_agreement(network: nn.Module, path: Path, planes: int, scalars: int) -> None:
    """Raise NetworkError unless the file computes what the module does, on boards of several sizes in one tensor."""
    torch_side = TorchEvaluator(network, name="module", device="cpu")
    file_side = OpenVinoEvaluator(path, precision="f32", remember=False)
    random = np.random.default_rng(0)
    fixed: int | None = getattr(network, "edge", None)
    for edge in (fixed,) if fixed else _CHECK_EDGES:
        mask = np.ones((2, edge, edge), np.float32)
        if not fixed:
            mask[1, -2:], mask[1, :, -2:] = 0, 0
        shown = (random.random((2, planes, edge, edge), np.float32) < 0.2) * mask[:, None]
        inputs = InputBatch(file_side.plane_set, shown, random.random((2, scalars), np.float32), mask)
        expected, found = torch_side.infer(inputs), file_side.infer(inputs)
        for name in ("policy", "value", "ownership"):
            gap = float(np.abs(getattr(expected, name) - getattr(found, name)).max())
            if not gap < _CHECK_TOLERANCE:
                raise NetworkError(f"{path} differs from the trained network by {gap:.2g} in {name} at {edge}x{edge}")


def card_of(module: TrainingModule, games: int, step: int, metrics: dict[str, Any]) -> Card:
    """The card of the network of a run after `step` steps on `games` games."""
    run = module.run
    config = parse_config(run.network)
    return Card(
        name=run.name,
        family=config.family,
        config=config.model_dump(mode="json"),
        plane_set=config.plane_set,
        board_sizes=run.card.board_sizes,
        rules=run.card.rules,
        data=run.card.data,
        games=games,
        positions=step * run.training.batch_size,
        hours=round(module.seconds / 3600, 2),
        hardware=_hardware(module.device),
        search=run.card.search,
        metrics=metrics,
        licence=run.card.licence,
        reproduce=f"tengen train {run.recipe or run.name}",
        created=datetime.now(UTC).date().isoformat(),
        version=_version(),
    )


def _metrics(judgement: Judgement) -> dict[str, Any]:
    """Each figure with its interval; what could not be measured is left out."""
    figures = {name: figure for name, figure in judgement.estimates().items() if not math.isnan(figure.mean)}
    metrics: dict[str, Any] = {}
    for name, figure in figures.items():
        metrics[name] = round(figure.mean, 4)
        metrics[f"{name}_interval"] = figure.interval(4)
    metrics["judged_positions"] = len(judgement)
    return metrics


def _hardware(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    threads = torch.get_num_threads()
    return f"{threads} CPU {'thread' if threads == 1 else 'threads'}, {platform.machine()}"


def _version() -> str:
    try:
        return version("tengen")
    except PackageNotFoundError:
        return ""
