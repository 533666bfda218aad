"""report.html of a training run: its card, figures and curves. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes

from tengen.evaluators.network_file import Card
from tengen.runs.events import read_events
from tengen.runs.plots import ACCENT, FAINT, INK, SECOND, plot, smooth
from tengen.runs.report import Tile, read_recipe, write_page
from tengen.training.metrics import Estimate, PredictionResults

_MIN_POSITIONS = 10  # below which a phase of the game has no bar
_HIGHEST_LOSS = 5.0  # of a plot, unless all are higher: the first steps would hide the rest
_TILES = {
    "top1": ("top-1 accuracy", "{:.1%}"),
    "top5": ("top-5 accuracy", "{:.1%}"),
    "cross_entropy": ("cross-entropy", "{:.3f}"),
    "value_mse": ("value error", "{:.3f}"),
    "value_mse_01": ("value error, 0 to 1", "{:.3f}"),
    "value_accuracy": ("winner", "{:.1%}"),
    "same_move": ("teacher: same move", "{:.1%}"),
    "divergence": ("teacher: divergence", "{:.3f}"),
    "teacher_value_mse": ("teacher: value error", "{:.3f}"),
}
_OF_POLICY = ("top1", "top5", "cross_entropy", "same_move", "divergence")


def write_report(folder: Path, card: Card, results: PredictionResults) -> Path:
    """Write FOLDER/report.html from the run's log, its card and the last evaluation; return its path."""
    train, validation = (read_events(folder, name) for name in ("train", "validation"))
    maps = [name for name in card.metrics if name.startswith("move") and name.endswith("_top1")]

    knows_policy, knows_value = card.has_policy, bool(results.value_known.any())
    phases = _phases(results) if knows_policy else {}

    def shares(title: str, *names: str) -> Markup:
        return plot(title, "training step", lambda axes: _shares(axes, validation, *names))

    return write_page(
        folder / "report.html",
        "training.html",
        title=card.name,
        what="training report",
        card=card,
        tiles=_tiles(card, knows_policy),
        plots=[
            *(_policy_plots(train, validation) if knows_policy else []),
            *([_value_plot(train, validation)] if knows_value else []),
            *([shares("Top-1 of later moves", *maps)] if maps else []),
            *([shares("The teacher's best move", "same_move")] if "same_move" in card.metrics else []),
            *([shares("Winner predicted", "value_accuracy")] if knows_value else []),
            plot("Learning rate", "training step", lambda axes: _line(axes, train, "lr")),
            *(
                [plot("Top-1 by phase of the game", "moves played", lambda axes: _bars(axes, phases), bottom=0.28)]
                if phases
                else []
            ),
            *(
                [plot("Calibration of the value", "predicted winrate", lambda axes: _calibration(axes, results))]
                if knows_value
                else []
            ),
        ],
        fields=[(name.replace("_", " "), text) for name, text in card.texts().items() if text],
        recipe=read_recipe(folder),
    )


def _policy_plots(train: Sequence[dict[str, Any]], validation: Sequence[dict[str, Any]]) -> list[Markup]:
    return [
        plot("Policy loss", "training step", lambda axes: _losses(axes, train, validation, "policy", "cross_entropy")),
        plot("Top-1 and top-5 accuracy", "training step", lambda axes: _accuracy(axes, train, validation)),
    ]


def _value_plot(train: Sequence[dict[str, Any]], validation: Sequence[dict[str, Any]]) -> Markup:
    label = "Value error (mean squared, -1..1)"
    return plot(label, "training step", lambda axes: _losses(axes, train, validation, "value_mse", "value_mse"))


def _tiles(card: Card, knows_policy: bool) -> list[Tile]:
    shown = []
    for name, (label, form) in _TILES.items():
        if name in card.metrics and (knows_policy or name not in _OF_POLICY):
            low, high = card.metrics[f"{name}_interval"]
            interval = "" if low is None else f"{form.format(low)} to {form.format(high)}"
            shown.append(Tile(label, form.format(card.metrics[name]), interval))
    return [*shown, Tile("samples", f"{card.positions / 1e6:.2f} M", f"{card.hours:g} hours")]


def _losses(
    axes: Axes, train: Sequence[dict[str, Any]], validation: Sequence[dict[str, Any]], trained: str, validated: str
) -> None:
    known = [e for e in train if trained in e]
    steps, losses = [e["step"] for e in known], [e[trained] for e in known]
    axes.plot(steps, losses, color=ACCENT, alpha=0.3, linewidth=0.8)
    axes.plot(steps, smooth(losses), color=ACCENT, label="training")
    known = [e for e in validation if validated in e]
    points = [e["step"] for e in known], [e[validated] for e in known]
    axes.plot(*points, ".-", color=SECOND, label="validation")
    if max([*losses, *points[1]], default=0.0) > _HIGHEST_LOSS > min([*losses, *points[1]]):
        axes.set_ylim(top=_HIGHEST_LOSS)


def _accuracy(axes: Axes, train: Sequence[dict[str, Any]], validation: Sequence[dict[str, Any]]) -> None:
    known = [e for e in train if "top1" in e]
    axes.plot([e["step"] for e in known], [100 * e["top1"] for e in known], color=ACCENT, alpha=0.3, linewidth=0.8)
    _shares(axes, validation, "top1", "top5")


def _shares(axes: Axes, validation: Sequence[dict[str, Any]], *names: str) -> None:
    for name, color in zip(names, cycle((ACCENT, SECOND, INK)), strict=False):
        known = [e for e in validation if name in e]
        steps = [e["step"] for e in known]
        label = name.replace("_", " ").replace("top", "top-")
        axes.plot(steps, [100 * e[name] for e in known], ".-", color=color, label=label)
        low, high = ([100 * e["intervals"][name][side] for e in known] for side in (0, 1))
        axes.fill_between(steps, low, high, color=color, alpha=0.15)
    axes.set_ylabel("percent")


def _line(axes: Axes, entries: Sequence[dict[str, Any]], name: str) -> None:
    axes.plot([e["step"] for e in entries], [e[name] for e in entries], color=ACCENT)


def _phases(results: PredictionResults) -> dict[str, Estimate]:
    """Top-1 by phase of the game."""
    parts = results.by_phase().items()
    return {name: part.estimates()["top1"] for name, part in parts if len(part) >= _MIN_POSITIONS}


def _bars(axes: Axes, phases: Mapping[str, Estimate]) -> None:
    means = [100 * figure.mean for figure in phases.values()]
    errors = [
        [100 * (figure.mean - figure.low) for figure in phases.values()],
        [100 * (figure.high - figure.mean) for figure in phases.values()],
    ]
    axes.bar(list(phases), means, color=ACCENT, yerr=errors, ecolor=INK, capsize=3)
    axes.tick_params(axis="x", labelrotation=30)
    axes.set_ylabel("percent")


def _calibration(axes: Axes, results: PredictionResults) -> None:
    bands = results.calibration()
    axes.plot([0, 1], [0, 1], color=FAINT)
    predicted, won = [chance for chance, _ in bands], [figure for _, figure in bands]
    errors = [[figure.mean - figure.low for figure in won], [figure.high - figure.mean for figure in won]]
    axes.errorbar(predicted, [figure.mean for figure in won], yerr=errors, fmt="o-", color=ACCENT, capsize=3)
    axes.set_ylabel("share of games won")
