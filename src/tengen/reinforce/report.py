"""report.html of a policy-gradient run: how the policy fares against its parent, and what its updates did."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from tengen.reinforce.config import RlConfig
from tengen.runs.log import read_log
from tengen.runs.report import ACCENT, FAINT, SECOND, figures, page, plot, smooth, tile, tiles, write_page

Entries = Sequence[dict[str, Any]]


def write_rl_report(folder: Path, config: RlConfig, parent: str) -> Path:
    """Write FOLDER/report.html from the run's log; return its path."""
    log = read_log(folder / "log.jsonl")
    train = [entry for entry in log if entry["event"] == "train"]
    judged = [entry for entry in log if entry["event"] in ("evaluation", "final")]
    drawn = [{"step": entry["step"], **entry["drawn"]} for entry in judged if "drawn" in entry]  # older ones have none
    plots = [
        plot("Score against the parent, moves drawn", "updates", lambda axes: _scores(axes, drawn)),
        plot("Score against the parent, best moves", "updates", lambda axes: _scores(axes, judged)),
        plot("Score against the pool", "updates", lambda axes: _line(axes, train, "score")),
        plot("Entropy of the policy, nats", "updates", lambda axes: _line(axes, train, "entropy")),
        plot("Divergence of an update, nats", "updates", lambda axes: _line(axes, train, "kl")),
        plot("Variance of results that the value explains", "updates", lambda axes: _line(axes, train, "explained")),
        plot("Length of games", "updates", lambda axes: _line(axes, train, "length")),
    ]
    shown = [tile("updates", f"{train[-1]['step'] if train else 0:,}", f"of {config.iterations:,}")]
    for how, entries in (("moves drawn", drawn), ("best moves", judged)):
        if entries:
            last = entries[-1]
            games = last["wins"] + last["draws"] + last["losses"]
            below = f"{last['low']:.1%} to {last['high']:.1%} of {games} games"
            shown.append(tile(f"against {parent}, {how}", f"{last['score']:.1%}", below))
    if train:
        shown.append(tile("games", f"{train[-1]['step'] * config.games:,}", f"{train[-1]['hours']:.2f} hours"))
    recipe = html.escape((folder / "recipe.yaml").read_text(encoding="utf-8"))
    body = (
        f"<h1>{html.escape(config.name)}</h1><p>{html.escape(config.description)}</p>{tiles(shown)}{figures(plots)}"
        f"<h2>Recipe</h2><pre>{recipe}</pre>"
    )
    return write_page(folder / "report.html", page(f"{config.name}: policy gradient", body))


def _scores(axes: Axes, judged: Entries) -> None:
    updates = [entry["step"] for entry in judged]
    axes.axhline(0.5, color=FAINT)
    low = [entry["score"] - entry["low"] for entry in judged]
    high = [entry["high"] - entry["score"] for entry in judged]
    axes.errorbar(updates, [entry["score"] for entry in judged], yerr=[low, high], color=ACCENT, capsize=2)
    axes.set_ylim(0, 1)


def _line(axes: Axes, train: Entries, name: str) -> None:
    updates, values = [entry["step"] for entry in train], [entry[name] for entry in train]
    axes.plot(updates, values, color=ACCENT, alpha=0.3, linewidth=0.8)
    axes.plot(updates, smooth(values), color=SECOND)
