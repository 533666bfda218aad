"""report.html of a run: one self-contained page with its figures and curves. Needs no PyTorch."""

import html
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tengen.evaluators.network_file import Card
from tengen.training.accuracy import Judgement
from tengen.training.log import read_log

_INK, _ACCENT, _SECOND, _FAINT = "#2b2b2b", "#1f6f8b", "#c8553d", "#d9d4c7"
_FEWEST = 10  # positions below which a phase shows nothing
_STYLE = """
:root{color-scheme:light dark;--ink:#2b2b2b;--paper:#fbf9f4;--card:#fff;--line:#e5dfd1}
@media(prefers-color-scheme:dark){:root{--ink:#e8e4da;--paper:#1d1c1a;--card:#282724;--line:#3d3a34}
figure svg{filter:invert(.9) hue-rotate(180deg)}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70rem;margin:auto;
padding:2rem 1rem}
h1{font-weight:600;margin:0}h2{font-weight:600;margin:2.5rem 0 1rem;font-size:1.2rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.8rem;margin:1.5rem 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem 1rem}
.tile b{display:block;font-size:1.7rem;font-weight:600}.tile small{opacity:.7}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(24rem,1fr));gap:1rem}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.5rem}
figure svg{width:100%;height:auto;display:block}
table{border-collapse:collapse;width:100%}td{border-top:1px solid var(--line);padding:.35rem .6rem;vertical-align:top}
td:first-child{width:12rem;opacity:.75}pre{white-space:pre-wrap;background:var(--card);border:1px solid var(--line);
border-radius:.6rem;padding:1rem}
"""

Draw = Callable[[Axes], None]


def write_report(folder: Path, card: Card, judgement: Judgement) -> Path:
    """Write FOLDER/report.html from the run's log, its card and the last judgement; return its path."""
    log = read_log(folder / "log.jsonl")
    train = [entry for entry in log if entry["event"] == "train"]
    validation = [entry for entry in log if entry["event"] == "validation"]
    plots = [
        _plot("Policy loss", "training step", lambda axes: _losses(axes, train, validation)),
        _plot("Moves predicted", "training step", lambda axes: _shares(axes, validation, ("top1", "top5"))),
        _plot("Winner predicted", "training step", lambda axes: _shares(axes, validation, ("value_accuracy",))),
        _plot("Learning rate", "training step", lambda axes: _line(axes, train, "lr")),
        _plot("Top-1 by phase of the game", "moves played", lambda axes: _phases(axes, judgement)),
        _plot("Calibration of the value", "predicted chance to win", lambda axes: _calibration(axes, judgement)),
    ]
    recipe = (folder / "recipe.yaml").read_text(encoding="utf-8") if (folder / "recipe.yaml").exists() else ""
    page = _page(card, plots, recipe)
    path = folder / "report.html"
    temporary = path.with_suffix(".partial")
    temporary.write_text(page, encoding="utf-8")
    return temporary.replace(path)


def _page(card: Card, plots: Sequence[str], recipe: str) -> str:
    title = html.escape(card.name)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: training report</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{title}</h1><p>{html.escape(card.data)}</p>"
        f'<div class="tiles">{_tiles(card)}</div>'
        f'<div class="plots">{"".join(f"<figure>{plot}</figure>" for plot in plots)}</div>'
        f"<h2>Card</h2><table>{_rows(card)}</table>"
        f"<h2>Recipe</h2><pre>{html.escape(recipe)}</pre></body></html>"
    )


def _tiles(card: Card) -> str:
    shown = {
        "top1": ("top-1", "{:.1%}"),
        "top5": ("top-5", "{:.1%}"),
        "cross_entropy": ("cross-entropy", "{:.3f}"),
        "value_mse": ("value error", "{:.3f}"),
        "value_accuracy": ("winner", "{:.1%}"),
    }
    tiles = []
    for name, (label, form) in shown.items():
        if name in card.metrics:
            low, high = card.metrics[f"{name}_interval"]
            interval = f"{form.format(low)} to {form.format(high)}"
            tiles.append(_tile(label, form.format(card.metrics[name]), interval))
    tiles.append(_tile("samples", f"{card.positions / 1e6:.2f} M", f"{card.hours:g} hours"))
    return "".join(tiles)


def _tile(label: str, figure: str, below: str) -> str:
    return f'<div class="tile">{label}<b>{figure}</b><small>{below}</small></div>'


def _rows(card: Card) -> str:
    fields = ((name.replace("_", " "), text) for name, text in card.texts().items() if text)
    return "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>" for name, text in fields)


def _plot(title: str, below: str, draw: Draw) -> str:
    """An SVG of one pair of axes."""
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", color=_INK, fontweight="bold")
    axes.set_xlabel(below, color=_INK)
    axes.grid(color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    draw(axes)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _losses(axes: Axes, train: Sequence[dict[str, Any]], validation: Sequence[dict[str, Any]]) -> None:
    steps, losses = [e["step"] for e in train], [e["policy"] for e in train]
    axes.plot(steps, losses, color=_ACCENT, alpha=0.3, linewidth=0.8)
    axes.plot(steps, _smooth(losses), color=_ACCENT, label="training")
    judged = [e["step"] for e in validation], [e["cross_entropy"] for e in validation]
    axes.plot(*judged, ".-", color=_SECOND, label="validation")
    if losses:
        axes.set_ylim(top=min(max(losses), 5.0))


def _shares(axes: Axes, validation: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    steps = [e["step"] for e in validation]
    for name, color in zip(names, (_ACCENT, _SECOND), strict=False):
        axes.plot(steps, [100 * e[name] for e in validation], ".-", color=color, label=name.replace("_", " "))
        low, high = ([100 * e["intervals"][name][side] for e in validation] for side in (0, 1))
        axes.fill_between(steps, low, high, color=color, alpha=0.15)
    axes.set_ylabel("percent", color=_INK)


def _line(axes: Axes, entries: Sequence[dict[str, Any]], name: str) -> None:
    axes.plot([e["step"] for e in entries], [e[name] for e in entries], color=_ACCENT)


def _phases(axes: Axes, judgement: Judgement) -> None:
    parts = judgement.by_phase().items()
    phases = {name: part.estimates()["top1"] for name, part in parts if len(part) >= _FEWEST}
    means = [100 * figure.mean for figure in phases.values()]
    errors = [
        [100 * (figure.mean - figure.low) for figure in phases.values()],
        [100 * (figure.high - figure.mean) for figure in phases.values()],
    ]
    axes.bar(list(phases), means, color=_ACCENT, yerr=errors, ecolor=_INK, capsize=3)
    axes.tick_params(axis="x", labelrotation=30)
    axes.set_ylabel("percent", color=_INK)


def _calibration(axes: Axes, judgement: Judgement) -> None:
    bands = judgement.calibration()
    axes.plot([0, 1], [0, 1], color=_FAINT)
    predicted, won = [chance for chance, _ in bands], [figure for _, figure in bands]
    errors = [[figure.mean - figure.low for figure in won], [figure.high - figure.mean for figure in won]]
    axes.errorbar(predicted, [figure.mean for figure in won], yerr=errors, fmt="o-", color=_ACCENT, capsize=3)
    axes.set_ylabel("share of games won", color=_INK)


def _smooth(values: Sequence[float], keep: float = 0.9) -> list[float]:
    """An exponential average without the start's bias."""
    result, total, weight = [], 0.0, 0.0
    for value in values:
        total, weight = keep * total + (1 - keep) * value, keep * weight + (1 - keep)
        result.append(total / weight)
    return result
