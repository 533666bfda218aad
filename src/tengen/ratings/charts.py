"""Charts of a tournament: each draws on axes of its own, for the page and for the picture alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from tengen.game import BLACK
from tengen.match.outcome import FAILURES, Outcome
from tengen.match.sprt import Sprt
from tengen.ratings.standings import Standings
from tengen.runs.plots import ACCENT, FAINT, INK, PALETTE, PAPER, SECOND

ENDINGS = {
    "counted": {"count", "limit", "settled"},
    "majority": {"majority"},
    "resigned": {"resign"},
    "time": {"time", "timeout"},
    "illegal move": {"illegal"},
    "program failed": FAILURES - {"timeout"},
}
"""Kinds of endings, as charts group the reasons of outcomes."""
FAILED = ("time", "illegal move", "program failed")

LEGEND = 0.3
"""Inches below the axes that the legends of `by_color` and `endings` take."""

NAME = 40
"""Letters of a name that charts show at most."""
LETTER, BESIDE = 0.085, 0.25
"""Inches that a letter of a name takes beside the axes, and the space around the name."""

_TIMES = (("Microseconds", "µs", 1e6), ("Milliseconds", "ms", 1e3), ("Seconds", "s", 1.0))
_SCORES = LinearSegmentedColormap.from_list("scores", ["#f0a08c", PAPER, "#86c5da"])
_MARGIN = 0.06  # left and right of the ratings, as a share of their span
_SPREAD = (10, 50, 90)  # percentiles of time and visits that are shown
_BINS = 24
_TICKS = 5  # intervals of an axis beside names, which take up to half of its width
_MARKED = 30  # pairs below which each is marked
_LOGARITHMIC = 30.0  # the largest over the smallest value, from which an axis is logarithmic,
_DECADES = 1000.0  # and from which it has marks at powers of ten alone


def ratings(axes: Axes, standings: Standings) -> None:
    """Elo with 95% intervals, best on top; an arrow where no game bounds an end."""
    rated = standings.ratings.players
    bounded = [
        x for r in rated for x, free in ((r.low, r.open_low), (r.high, r.open_high)) if not free and abs(x) < math.inf
    ]
    bounded += [r.elo for r in rated if not r.open_low and not r.open_high]
    low, high = min(bounded, default=0.0), max(bounded, default=0.0)
    margin = _MARGIN * (high - low or 100.0)
    low, high = low - margin, high + margin
    for y, rating in enumerate(rated):
        left, right = low if rating.open_low else rating.low, high if rating.open_high else rating.high
        left, right = max(left, low), min(right, high)
        axes.plot([left, right], [y, y], color=ACCENT, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        for x, free, mark in ((left, rating.open_low, "<"), (right, rating.open_high, ">")):
            inside = x + margin / 4 * (1 if mark == "<" else -1)
            axes.plot(inside if free else x, y, mark if free else "|", color=ACCENT, markersize=8)
        if not rating.open_low and not rating.open_high:
            axes.plot(rating.elo, y, "o", color=ACCENT, markersize=7)
    axes.axvline(standings.ratings.anchor_elo, color=FAINT, linewidth=1.5, zorder=0)
    axes.set_xlim(low, high)
    _players(axes, [rating.player for rating in rated])


def by_color(axes: Axes, standings: Standings) -> None:
    """Each player's score with Black and with White, with 95% intervals."""
    names = standings.players
    for side, (label, color, shift) in enumerate((("as Black", ACCENT, -0.19), ("as White", SECOND, 0.19))):
        tallies = [standings.by_color[name][side] for name in names]
        shown = [(y, tally) for y, tally in enumerate(tallies) if tally.games]
        shares = [100 * tally.score for _, tally in shown]
        ends = [tally.interval() for _, tally in shown]
        errors = [
            [share - 100 * low for share, (low, _) in zip(shares, ends, strict=True)],
            [100 * high - share for share, (_, high) in zip(shares, ends, strict=True)],
        ]
        places = [y + shift for y, _ in shown]
        style = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2}
        axes.barh(places, shares, 0.36, xerr=errors, color=color, alpha=0.85, label=label, error_kw=style)
    axes.axvline(50, color=INK, linewidth=0.8, linestyle=":")
    axes.set_xlim(0, 104)
    axes.set_xticks(range(0, 101, 20), [f"{x}%" for x in range(0, 101, 20)])
    _players(axes, names)
    _legend_below(axes)


def endings(axes: Axes, outcomes: Sequence[Outcome], names: Sequence[str]) -> None:
    """Games won to the right and games lost to the left, by how they ended; draws grey at both sides of the middle."""
    won: Counter[tuple[str, str]] = Counter()
    lost: Counter[tuple[str, str]] = Counter()
    drawn: Counter[str] = Counter()
    for outcome in outcomes:
        if outcome.winner is None or outcome.loser is None:
            drawn.update((outcome.black, outcome.white))
        else:
            won[outcome.winner, ending(outcome)] += 1
            lost[outcome.loser, ending(outcome)] += 1
    for y, name in enumerate(names):
        half = drawn[name] / 2
        if half:
            axes.barh(y, 2 * half, 0.62, left=-half, color=FAINT)
        right, left = half, -half
        for kind, color in zip(ENDINGS, PALETTE, strict=True):
            axes.barh(y, won[name, kind], 0.62, left=right, color=color)
            axes.barh(y, -lost[name, kind], 0.62, left=left, color=color, alpha=0.6)
            right, left = right + won[name, kind], left - lost[name, kind]
    present = {kind for _, kind in (*won, *lost)}
    for kind, color in zip(ENDINGS, PALETTE, strict=True):
        if kind in present:
            axes.barh([0], [0], color=color, label=kind)
    if drawn:
        axes.barh([0], [0], color=FAINT, label="no winner")
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(lambda x, _: _tick(abs(x)))
    _players(axes, names)
    _legend_below(axes)


def ending(outcome: Outcome) -> str:
    """The kind of ending, as charts and tables name it."""
    return next((kind for kind, reasons in ENDINGS.items() if outcome.reason in reasons), "no winner")


def is_failure(outcome: Outcome) -> bool:
    """Whether the game was lost by a crash, on time or by an illegal move, not on the board."""
    return ending(outcome) in FAILED


def lengths(axes: Axes, outcomes: Sequence[Outcome]) -> None:
    """Histogram of the numbers of moves, stacked by the winner."""
    parts = {
        "Black won": [o.moves for o in outcomes if o.winner == o.black],
        "White won": [o.moves for o in outcomes if o.winner == o.white],
        "no winner": [o.moves for o in outcomes if o.winner is None],
    }
    shown = {label: moves for label, moves in parts.items() if moves}
    colors = dict(zip(parts, (ACCENT, SECOND, FAINT), strict=True))
    longest = max((o.moves for o in outcomes), default=0)
    step = max(1, math.ceil((longest + 1) / _BINS / 5) * 5)
    edges = [float(edge) for edge in range(0, longest + step + 1, step)]
    axes.hist(list(shown.values()), edges, stacked=True, color=[colors[label] for label in shown], label=list(shown))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("games")


def spread(
    axes: Axes, figures: Mapping[str, Sequence[float]], names: Sequence[str], *, are_counts: bool = False
) -> None:
    """For each player the middle of its games' figures (above 0) and the range from a tenth to nine tenths of them."""
    known = [name for name in names if figures.get(name)]
    everything = [x for name in known for x in figures[name]]
    for y, name in enumerate(known):
        low, middle, high = np.percentile(figures[name], _SPREAD)
        axes.plot([low, high], [y, y], color=ACCENT, linewidth=5, alpha=0.35, solid_capstyle="round")
        axes.plot(middle, y, "o", color=ACCENT, markersize=7)
    if everything and max(everything) > _LOGARITHMIC * min(everything) > 0:
        axes.set_xscale("log")
        marks = (1.0,) if max(everything) > _DECADES * min(everything) else (1.0, 2.0, 5.0)
        axes.xaxis.set_major_locator(LogLocator(subs=marks))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, 1.06 * max(everything, default=1.0))
        axes.xaxis.set_major_locator(MaxNLocator(_TICKS, integer=are_counts, min_n_ticks=1))
    axes.xaxis.set_major_formatter(lambda x, _: _tick(x))
    _players(axes, known)


def seconds_a_move(outcomes: Sequence[Outcome], first: int = BLACK) -> dict[str, list[float]]:
    """Seconds a move by player, a figure a game: of the moves that it chose, not of the opening; none without such.

    `first` is the color of the first move.
    """
    return _by_player(
        (name, outcome.seconds.get(name, 0.0) / own)
        for outcome in outcomes
        for color, name in enumerate((outcome.black, outcome.white))
        if (own := (outcome.moves + (color == first)) // 2 - (outcome.opening + (color == first)) // 2) > 0
    )


def time_unit(seconds: float) -> tuple[str, str, float]:
    """The unit in which times of up to `seconds` are shown, its symbol, and its number in a second."""
    return next((unit for unit in _TIMES if round(seconds * unit[-1]) < 1000), _TIMES[-1])


def time_text(seconds: float) -> str:
    """`12 s`, `1.5 s`, `250 ms`, `4 ms` or `71 µs`."""
    if not seconds:
        return "0 ms"
    _, symbol, number = time_unit(seconds)
    value = seconds * number
    # Outcomes have whole milliseconds, which a decimal would make look more exact; times a move are divided.
    has_tenths = round(value, 1) < 10 and not (symbol == "ms" and value.is_integer())
    return f"{value:,.{int(has_tenths)}f} {symbol}"


def visits_a_move(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Visits a move by player, the mean of each game."""
    return _by_player((name, visits) for outcome in outcomes for name, visits in outcome.visits.items())


def matrix(axes: Axes, standings: Standings) -> None:
    """Score of each row's player against each column's, in percent; columns in the order of the rows."""
    names = standings.players
    shares = np.full((len(names), len(names)), np.nan)
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "fontsize": min(10.0, 150 / len(names))}
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            if (tally := standings.pair(one, other)) is not None:
                shares[i, j] = tally.score
                axes.text(j, i, f"{100 * tally.score:.0f}", **style)
    axes.imshow(shares, cmap=_SCORES, vmin=0, vmax=1, aspect="auto")
    axes.grid(False)
    axes.set_xticks(range(len(names)), [str(i + 1) for i in range(len(names))])
    axes.set_yticks(range(len(names)), [f"{shortened(name)}  {i + 1}" for i, name in enumerate(names)])
    axes.tick_params(length=0)


def sequential_test(axes: Axes, test: Sprt, scores: Sequence[float]) -> None:
    """The log likelihood ratio of a sequential test after each pair of games, with the bounds that end it."""
    results = np.eye(5)[[round(4 * score) for score in scores]].cumsum(axis=0)
    axes.plot(range(1, len(scores) + 1), test.ratio(results), ".-" if len(scores) < _MARKED else "-", color=ACCENT)
    for bound, elo, color in zip(test.bounds, (test.elo0, test.elo1), (SECOND, PALETTE[2]), strict=True):
        axes.axhline(bound, color=color, linewidth=1.5, linestyle="--", label=f"accepts Elo {elo:g}")
    axes.axhline(0, color=FAINT)
    axes.set_xlim(left=0)
    axes.legend(frameon=False, loc="center right")


def shortened(name: str, limit: int = NAME) -> str:
    """A name that fits next to a chart."""
    name = drawable(name)
    return name if len(name) <= limit else f"{name[: limit - 1].rstrip()}…"


def drawable(text: str) -> str:
    """Text without bytes of file names that are no UTF-8, which matplotlib refuses: `\\udcff` stands for them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _by_player(pairs: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for name, value in pairs:
        if value > 0:
            found.setdefault(name, []).append(value)
    return found


def _tick(x: float) -> str:
    """A number beside an axis without an exponent: `0.25`, `2,000,000`."""
    return f"{x:,.6f}".rstrip("0").rstrip(".")  # the smallest time is a millisecond in a thousand moves


def _players(axes: Axes, names: Sequence[str]) -> None:
    """Names at the left, the first on top; as short as the space that fixed margins leave them."""
    axes.set_yticks(range(len(names)), [shortened(name, _room(axes)) for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")


def _room(axes: Axes) -> int:
    """Letters of a name that fit beside the axes."""
    figure = axes.figure
    if figure.get_layout_engine() is not None:  # it makes room
        return NAME
    return min(NAME, int((axes.bbox.x0 / figure.dpi - BESIDE) / LETTER + 0.01))


def _legend_below(axes: Axes) -> None:
    """Where no bar is, in a space of LEGEND inches below the numbers of the axes."""
    figure = axes.figure
    below = axes.transAxes + ScaledTranslation(0, -0.27, figure.dpi_scale_trans)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.35, 0), bbox_transform=below, ncols=4, frameon=False, columnspacing=1.2,
        fontsize=9,
    )  # fmt: skip
