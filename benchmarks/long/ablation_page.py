"""What the ablations found, as a table and as a page: games and network evaluations to the gate, by variant."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import t as student

from tengen.runs.plots import ACCENT, INK, PALETTE, Plot, plot, save_picture
from tengen.runs.report import template, write_page

BASE = "base"
SEARCHES = ("base", "puct-16", "gumbel-16", "puct-64", "gumbel-64")
"""The variants whose curves are drawn: the others are too close to the base to distinguish."""


@dataclass(frozen=True)
class Variant:
    """The runs of one variant, by seed: games to the gate, network evaluations and minutes of a core for them.

    `games` has None where a run ended before the gate, after `played` games. `scores` are the ratings of each run, as
    (games, score).
    """

    name: str
    seeds: Sequence[int]
    games: Sequence[float | None]
    played: Sequence[int]
    evaluations: Sequence[float]
    minutes: Sequence[float]
    scores: Sequence[Sequence[tuple[int, float]]]

    @classmethod
    def of(cls, name: str, rows: Iterable[dict[str, Any]]) -> Variant:
        rows = sorted(rows, key=lambda row: row["seed"])
        return cls(
            name,
            [row["seed"] for row in rows],
            [row["games"] for row in rows],
            [row["played"] for row in rows],
            [row["evaluations_per_game"] * (row["games"] or row["played"]) for row in rows],
            [row["seconds"] / 60 * (row["games"] or row["played"]) / row["played"] for row in rows],
            [row["scores"] for row in rows],
        )

    @property
    def reached(self) -> list[float]:
        """Games to the gate of the runs that reached it."""
        return [games for games in self.games if games is not None]

    @property
    def ends(self) -> list[float]:
        """Games to the gate, or to the end of a run that did not reach it."""
        return [played if games is None else games for games, played in zip(self.games, self.played, strict=True)]

    @property
    def whole(self) -> bool:
        """Whether every run reached the gate."""
        return len(self.reached) == len(self.games)


def factors(variants: Sequence[Variant]) -> dict[str, tuple[float, float, float]]:
    """By variant: games to the gate against those of the base, and the ends of the 95% interval of that ratio.

    The logarithm of games is taken for an effect of the variant, one of the seed (runs of one seed begin alike, and
    some seeds are slow whatever the variant), and noise that has one spread: least squares, and Student's t.
    """
    whole = [variant for variant in variants if variant.whole]
    runs = [(one.name, seed, games) for one in whole for seed, games in zip(one.seeds, one.reached, strict=True)]
    names = [one.name for one in whole]
    effects = [*names, *sorted({seed for _, seed, _ in runs})[1:]]
    design = np.array([[effect in (name, seed) for effect in effects] for name, seed, _ in runs], float)
    logs = np.log([games for _, _, games in runs])
    freedom = len(runs) - len(effects)
    if BASE not in names or freedom < 1:
        return {}
    found = np.linalg.lstsq(design, logs)[0]
    variance = float(np.sum((logs - design @ found) ** 2)) / freedom
    result = {}
    for name in names:
        contrast = np.array([(effect == name) - (effect == BASE) for effect in effects], float)
        spread = math.sqrt(variance * contrast @ np.linalg.pinv(design.T @ design) @ contrast)
        ends = float(student.ppf(0.975, freedom)) * spread * np.array([0, -1, 1])
        result[name] = tuple(np.exp(contrast @ found + ends).tolist())
    return result


def rows(variants: Sequence[Variant], gate: float) -> list[list[str]]:
    """The cells of the table, its headings first."""
    found = factors(variants)
    base = next((variant for variant in variants if variant.name == BASE), None)
    lines = [
        [
            "variant",
            f"games to {gate:.0%}, by seed",
            "million evaluations",
            "minutes of a core",
            "factor in games [95%]",
        ]
    ]
    for variant in variants:
        games = ", ".join(
            f"more than {played:,}" if reached is None else f"{reached:,.0f}"
            for reached, played in zip(variant.games, variant.played, strict=True)
        )
        evaluations, minutes = statistics.fmean(variant.evaluations) / 1e6, statistics.fmean(variant.minutes)
        factor = ""
        if variant.name in found and variant is not base:
            factor = "{:.2f} [{:.2f} to {:.2f}]".format(*found[variant.name])
        elif base is not None and base.whole and base.seeds == variant.seeds and not variant.whole:
            least = statistics.geometric_mean(variant.ends) / statistics.geometric_mean(base.ends)
            factor = f"above {least:.2f}"
        lines.append([variant.name, games, f"{evaluations:.1f}", f"{minutes:.1f}", factor])
    return lines


def table(variants: Sequence[Variant], gate: float) -> str:
    """In Markdown, a row for each variant."""
    head, *lines = (f"| {' | '.join(cells)} |" for cells in rows(variants, gate))
    return "\n".join([head, "|---|---|---|---|---|", *lines])


_PAGE = """{% extends "base.html" %}
{% import "parts.html" as parts %}
{% block body %}
{{ parts.plots(plots) }}
{% call parts.section("Table") %}{{ parts.figures(heads, rows, names=heads[:1]) }}{% endcall %}
{% endblock %}
"""


def write_report(variants: Sequence[Variant], gate: float, out: Path) -> Path:
    """Write `report.html` and `report.png` into `out`; return the page."""
    plots = draw(variants, gate)
    title = "What each part of self-play is worth"
    save_picture(out / "report.png", title, plots, 4.6)
    heads, *lines = rows(variants, gate)
    return write_page(
        out / "report.html",
        template(_PAGE),
        title=title,
        what="ablations",
        heads=heads,
        rows=lines,
        plots=[
            plot(name, below, one, size=(6.4, 4.2), left=0.27 if i == 0 else 0.13)
            for i, (name, below, one) in enumerate(plots)
        ],
    )


def draw(variants: Sequence[Variant], gate: float) -> list[Plot]:
    return [
        ("Games to the gate", "games, each seed and their geometric mean", lambda axes: _games(axes, variants)),
        (
            "Score of the raw policy by games",
            "games, mean over the seeds",
            lambda axes: _curves(axes, variants, gate),
        ),
    ]


def _games(axes: Axes, variants: Sequence[Variant]) -> None:
    shown = sorted(variants, key=lambda variant: -statistics.geometric_mean(variant.ends))
    for row, variant in enumerate(shown):
        color = PALETTE[1] if variant.name == BASE else ACCENT
        for games, end in zip(variant.games, variant.ends, strict=True):
            axes.plot(end, row, ">" if games is None else "o", color=color, alpha=0.6, markersize=5)
        if variant.whole:
            axes.plot(statistics.geometric_mean(variant.reached), row, "|", color=INK, markersize=16)
    axes.set_yticks(range(len(shown)), [variant.name for variant in shown])
    axes.set_xscale("log")
    ticks = [1000, 2000, 4000, 8000]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()


def _curves(axes: Axes, variants: Sequence[Variant], gate: float) -> None:
    named = {variant.name: variant for variant in variants}
    for color, name in zip(PALETTE, SEARCHES, strict=False):
        if name in named:
            runs = [dict(scores) for scores in named[name].scores]
            common = sorted(set.intersection(*(set(run) for run in runs)))
            means = [100 * statistics.fmean(run[games] for run in runs) for games in common]
            axes.plot(common, means, "o-", color=color, markersize=3, label=name)
    axes.axhline(100 * gate, color=INK, linewidth=0.8, linestyle=":")
    axes.set_ylabel("%")
    axes.xaxis.set_major_formatter("{x:,.0f}")
