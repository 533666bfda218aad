"""What every report page is made of: style, tiles, tables and plots as inline SVG. Light and dark. Needs no PyTorch."""

import html
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from tengen.disk import write_text, write_whole

INK, ACCENT, SECOND, FAINT, PAPER = "#2b2b2b", "#1f6f8b", "#c8553d", "#d9d4c7", "#fbf9f4"
PALETTE = (ACCENT, SECOND, "#7d8f2e", "#8a5f9e", "#b98a1f", "#5b6770")
"""Colours of plots. In the page they follow the reader's light or dark theme."""

Draw = Callable[[Axes], None]
Plot = tuple[str, str, Draw]

_LEFT = 0.13  # share of a plot's width for what stands beside its axes

_THEMED = {INK: "var(--ink)", FAINT: "var(--faint)"} | {color: f"var(--plot{i})" for i, color in enumerate(PALETTE)}
_COLORED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "legend.labelcolor")
_SETTINGS: dict[Any, Any] = {
    **dict.fromkeys(_COLORED, INK),
    "grid.color": FAINT,
    "svg.fonttype": "none",
    "svg.hashsalt": "tengen",
}

_STYLE = """
:root{color-scheme:light dark;--ink:#2b2b2b;--paper:#fbf9f4;--card:#fff;--line:#e5dfd1;--faint:#e4dfd3;
--plot0:#1f6f8b;--plot1:#c8553d;--plot2:#7d8f2e;--plot3:#8a5f9e;--plot4:#b98a1f;--plot5:#5b6770}
@media(prefers-color-scheme:dark){:root{--ink:#e8e4da;--paper:#1a1917;--card:#252421;--line:#3a3732;--faint:#3b3833;
--plot0:#5fb3d1;--plot1:#ee8a70;--plot2:#b5c860;--plot3:#c39ad6;--plot4:#e3b94f;--plot5:#a3afb8}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;margin:auto;
padding:2rem 1rem}
h1{font-weight:600;margin:0}h2{font-weight:600;margin:2.5rem 0 1rem;font-size:1.2rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;margin:1.5rem 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem 1rem}
.tile b{display:block;font-size:1.45rem;font-weight:600;line-height:1.35}.tile small{opacity:.7}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:1rem}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.5rem}
figure svg{width:100%;height:auto;display:block}figure svg text{font-family:system-ui,sans-serif!important}
table{border-collapse:collapse;width:100%}td{border-top:1px solid var(--line);padding:.35rem .6rem;vertical-align:top}
td:first-child{width:12rem;opacity:.75}pre{white-space:pre-wrap;background:var(--card);border:1px solid var(--line);
border-radius:.6rem;padding:1rem}
.state{opacity:.75;margin:.3rem 0 .8rem}.warning{background:#fdf3e3;border:1px solid #e3b567;border-radius:.6rem;
padding:.7rem 1rem;margin:.6rem 0}.warning b{display:inline-block}.warning b::first-letter{text-transform:uppercase}
.warning p{margin:.2rem 0 0}
.well{color:#3f7d4e}@media(prefers-color-scheme:dark){.warning{background:#33291a;border-color:#8a6a2c}.well{color:#8fce9d}}
details summary{cursor:pointer;font-weight:600;font-size:1.2rem;margin:2.5rem 0 1rem}
"""


def page(title: str, body: str, *, style: str = "", refresh: int | None = None) -> str:
    """A whole HTML page that needs nothing else; with `refresh` it loads itself again after so many seconds."""
    again = f'<meta http-equiv="refresh" content="{refresh}">' if refresh else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>{again}'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}{style}</style></head>'
        f"<body>{body}</body></html>"
    )


def write_page(path: Path, text: str) -> Path:
    """Write a page under a temporary name and rename it, so that a reader never sees half of one; return `path`."""
    return write_text(path, text, durable=False)


def tile(label: str, figure: str, below: str = "") -> str:
    """A figure in large print with what it is above and what belongs to it below; plain text all three."""
    parts = (html.escape(part) for part in (label, figure, below))
    return '<div class="tile">{}<b>{}</b><small>{}</small></div>'.format(*parts)


def tiles(shown: Iterable[str]) -> str:
    return f'<div class="tiles">{"".join(shown)}</div>'


def figures(shown: Iterable[str]) -> str:
    """Plots and pictures side by side."""
    return f'<div class="plots">{"".join(f"<figure>{one}</figure>" for one in shown)}</div>'


def warning(kind: str, text: str, remedy: str = "") -> str:
    """A card that stands out: what kind of trouble, what is known of it, what helps; plain text all three."""
    kind, text, remedy = (html.escape(part) for part in (kind, text, remedy))
    return f'<div class="warning"><b>{kind}</b><p>{text}{f" <i>{remedy}</i>" if remedy else ""}</p></div>'


def section(title: str, inside: str) -> str:
    """A part of the page under a heading (plain text); nothing where there is nothing inside."""
    empty = not inside or inside == figures([])
    return "" if empty else f"<h2>{html.escape(title)}</h2>{inside}"


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Rows of a name and a text."""
    cells = (f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>" for name, text in rows)
    return f"<table>{''.join(cells)}</table>"


def plot(
    title: str,
    below: str,
    draw: Draw,
    *,
    bottom: float = 0.15,
    size: tuple[float, float] = (5.4, 3.4),
    left: float = _LEFT,
) -> str:
    """An SVG of one pair of axes, the same bytes for the same data.

    `size` is in inches; `bottom` and `left` are the shares of it left for what stands below and beside the axes. Fixed
    margins and a single pass of drawing take a third of the time that a fitted layout takes.
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
    return text[text.index("<svg") :]


def save_picture(path: Path, title: str, plots: Sequence[Plot], height: float) -> Path:
    """Write a PNG of plots, two in a row, each `height` inches high; return `path`.

    A plot is its title, what stands below it, and what draws it.
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
        with write_whole(path, durable=False) as temporary:
            FigureCanvasAgg(figure).print_png(temporary, metadata={"Software": None})  # type: ignore[no-untyped-call]
    return path


@contextmanager
def _drawing() -> Iterator[None]:
    """The settings of all plots, without a warning for each letter of a name that the font lacks.

    In an SVG such a name is text, and the reader's fonts show it.
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


def smooth(values: Sequence[float], keep: float = 0.9) -> list[float]:
    """An exponential average without the start's bias."""
    result, total, weight = [], 0.0, 0.0
    for value in values:
        total, weight = keep * total + (1 - keep) * value, keep * weight + (1 - keep)
        result.append(total / weight)
    return result
