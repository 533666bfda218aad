"""Plots of reports: inline SVG in the colors of the page's theme, and PNG pictures. Needs no PyTorch."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from tengen.disk import write_text, write_whole

INK, ACCENT, SECOND, FAINT, PAPER = "#2b2b2b", "#1f6f8b", "#c8553d", "#d9d4c7", "#fbf9f4"
PALETTE = (ACCENT, SECOND, "#7d8f2e", "#8a5f9e", "#b98a1f", "#5b6770")
"""Colors of plots. In the page they follow the reader's light or dark theme."""

Draw = Callable[[Axes], None]
Plot = tuple[str, str, Draw]

_LEFT = 0.13  # share of a plot's width beside its axes
_FILE_SIZE = 6.4, 4.0  # of a plot in a file of its own, in inches
_SMOOTHING = 0.9  # share of the mean so far in an exponential moving average

_THEMED = {INK: "var(--ink)", FAINT: "var(--faint)"} | {color: f"var(--plot{i})" for i, color in enumerate(PALETTE)}
_COLORED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "legend.labelcolor")
_SETTINGS: dict[Any, Any] = {
    **dict.fromkeys(_COLORED, INK),
    "grid.color": FAINT,
    "text.parse_math": False,  # names of players may contain dollars
    "svg.fonttype": "none",
    "svg.hashsalt": "tengen",
}


def plot(
    title: str,
    below: str,
    draw: Draw,
    *,
    bottom: float = 0.15,
    size: tuple[float, float] = (5.4, 3.4),
    left: float = _LEFT,
) -> Markup:
    """An SVG of one pair of axes, the same bytes for the same data.

    `size` is in inches; `bottom` and `left` are the shares of it below and beside the axes. Fixed margins and a single
    pass of drawing take a third of the time of a fitted layout.
    """
    with _drawing():
        figure = Figure(figsize=size)
        figure.subplots_adjust(left=left, right=0.98, bottom=bottom, top=1 - 0.34 / size[1])
        axes = figure.subplots()
        for patch in (figure.patch, axes.patch):
            patch.set_visible(False)
        _draw(axes, title, below, draw)
        if left != _LEFT:  # the title of a chart with names at its side begins above the names
            axes.set_title(title, loc="left", fontweight="bold", x=(0.02 - left) / (0.98 - left))
        buffer = io.StringIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})  # type: ignore[no-untyped-call]
    text = buffer.getvalue()
    for color, variable in _THEMED.items():
        text = text.replace(color, variable)
    return Markup(text[text.index("<svg") :])


def save_plot(path: Path, title: str, below: str, draw: Draw) -> Path:
    """Write an SVG of `plot` that stands alone, on paper of its own and in fixed colors; return `path`."""
    text = str(plot(title, below, draw, size=_FILE_SIZE))
    for color, variable in _THEMED.items():
        text = text.replace(variable, color)
    start = text.index(">") + 1
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return write_text(path, text[:start] + paper + text[start:] + "\n", durable=False)


def save_picture(path: Path, title: str, plots: Sequence[Plot], height: float) -> Path:
    """Write a PNG of plots, two in a row, each `height` inches high; return `path`.

    A plot is its title, the label below it, and the function that draws it.
    """
    with _drawing():
        rows = (len(plots) + 1) // 2
        figure = Figure(figsize=(13, height * rows + 0.6), layout="constrained", facecolor=PAPER)
        figure.suptitle(title, fontweight="bold", fontsize=15, x=0.01, ha="left")
        grid = figure.subplots(rows, 2, squeeze=False)
        for axes, (name, below, draw) in zip(grid.flat, plots, strict=False):
            axes.patch.set_visible(False)
            _draw(axes, name, below, draw)
        for axes in grid.flat[len(plots) :]:
            axes.set_visible(False)
        with write_whole(path, durable=False, shared=True) as temporary:
            FigureCanvasAgg(figure).print_png(temporary, metadata={"Software": None})  # type: ignore[no-untyped-call]
    return path


@contextmanager
def _drawing() -> Iterator[None]:
    """The settings of all plots; letters that the font lacks raise no warning.

    In an SVG a name is text, and the fonts of the browser show it.
    """
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        yield


def _draw(axes: Axes, title: str, below: str, draw: Draw) -> None:
    axes.set_title(title, loc="left", fontweight="bold")
    axes.set_xlabel(below)
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    draw(axes)
    if axes.get_legend() is None and axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False)


def percent_axis(axes: Axes) -> None:
    """A vertical axis of 0% to 100%, with room for the marks of points at its ends."""
    axes.set_ylim(-3, 103)
    axes.set_yticks(range(0, 101, 20))
    axes.yaxis.set_major_formatter("{x:g}%")


def time_unit(hours: float) -> tuple[str, float]:
    """The unit in which a time of `hours` is plotted, and its number in an hour."""
    return ("hours", 1.0) if hours >= 1 else ("minutes", 60.0) if hours >= 1 / 60 else ("seconds", 3600.0)


def smooth(values: Sequence[float]) -> list[float]:
    """An exponential moving average, corrected for the bias of its start."""
    result, total, weight = [], 0.0, 0.0
    for value in values:
        total = _SMOOTHING * total + (1 - _SMOOTHING) * value
        weight = _SMOOTHING * weight + (1 - _SMOOTHING)
        result.append(total / weight)
    return result
